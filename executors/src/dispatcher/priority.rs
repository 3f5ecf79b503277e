//! How urgent jobs are.

use super::PriorityError;
use crate::source::dispatch::LEVELS;
use std::fmt;

/// How urgent a job is, as a number from 0 to 4. Of the jobs that may run, those with the highest number go first.
///
/// # Examples
///
/// ```
/// use executors::dispatcher::Priority;
///
/// assert!(Priority::HIGH > Priority::NORMAL);
/// assert_eq!(Priority::new(3)?, Priority::HIGH);
/// assert_eq!(Priority::HIGH.to_string(), "HIGH");
/// let error = Priority::new(5).unwrap_err();
/// assert_eq!(error.to_string(), "there is no priority 5: choose one from 0 (lowest) to 4 (highest)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(u8);

impl Priority {
    /// For jobs that nothing waits for: 0.
    pub const LOWEST: Priority = Priority(0);
    /// 1.
    pub const LOW: Priority = Priority(1);
    /// The default: 2.
    pub const NORMAL: Priority = Priority(2);
    /// 3.
    pub const HIGH: Priority = Priority(3);
    /// For jobs that everything waits for: 4.
    pub const HIGHEST: Priority = Priority(4);

    /// All, the lowest first.
    pub const ALL: [Priority; LEVELS] =
        [Priority::LOWEST, Priority::LOW, Priority::NORMAL, Priority::HIGH, Priority::HIGHEST];

    /// The priority with that number.
    ///
    /// # Errors
    ///
    /// [`PriorityError`] if `number` is above that of [`HIGHEST`](Self::HIGHEST).
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::dispatcher::Priority;
    ///
    /// assert_eq!(Priority::new(0)?, Priority::LOWEST);
    /// assert!(Priority::new(5).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(number: u8) -> Result<Priority, PriorityError> {
        if number <= Priority::HIGHEST.0 { Ok(Priority(number)) } else { Err(PriorityError::new(number)) }
    }

    /// Its number.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::dispatcher::Priority;
    ///
    /// assert_eq!(Priority::ALL.map(Priority::number), [0, 1, 2, 3, 4]);
    /// ```
    #[must_use]
    pub fn number(self) -> u8 {
        self.0
    }

    pub(super) fn level(self) -> usize {
        usize::from(self.0)
    }
}

/// The name of the constant.
impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(["LOWEST", "LOW", "NORMAL", "HIGH", "HIGHEST"][self.level()])
    }
}

impl fmt::Debug for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Default for Priority {
    fn default() -> Self {
        Priority::NORMAL
    }
}

impl TryFrom<u8> for Priority {
    type Error = PriorityError;

    fn try_from(number: u8) -> Result<Self, PriorityError> {
        Priority::new(number)
    }
}

impl From<Priority> for u8 {
    fn from(priority: Priority) -> u8 {
        priority.number()
    }
}
