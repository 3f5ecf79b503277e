//! What can go wrong with subpools once there is a dispatcher.

use super::Priority;
use std::{error::Error, fmt};

/// The dispatcher has no subpool of that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownSubpoolError {
    name: String,
    known: Vec<String>,
}

impl UnknownSubpoolError {
    pub(super) fn new(name: &str, known: &[String]) -> Self {
        UnknownSubpoolError { name: name.to_owned(), known: known.to_vec() }
    }

    /// The name that was asked for.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::dispatcher::Dispatcher;
    ///
    /// assert_eq!(Dispatcher::new(1).subpool("dsik").unwrap_err().name(), "dsik");
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for UnknownSubpoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownSubpoolError { name, known } = self;
        write!(f, "the dispatcher has no subpool {name:?}: it was built with {known:?}; ")?;
        f.write_str("add it with `Builder::subpool` or `bound_subpool`")
    }
}

impl Error for UnknownSubpoolError {}

/// A subpool cannot have that limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitError(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Zero { subpool: String },
    Bound { subpool: String, limit: usize },
}

impl LimitError {
    pub(super) fn zero(subpool: &str) -> Self {
        LimitError(Kind::Zero { subpool: subpool.to_owned() })
    }

    pub(super) fn bound(subpool: &str, limit: usize) -> Self {
        LimitError(Kind::Bound { subpool: subpool.to_owned(), limit })
    }

    /// The name of the subpool.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::dispatcher::Dispatcher;
    ///
    /// assert_eq!(Dispatcher::new(1).cpu().set_limit(0).unwrap_err().subpool(), "cpu");
    /// ```
    #[must_use]
    pub fn subpool(&self) -> &str {
        let (Kind::Zero { subpool } | Kind::Bound { subpool, .. }) = &self.0;
        subpool
    }

    /// Whether the subpool is bound to one thread, so that its limit can only be 1. Otherwise the limit was 0.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::dispatcher::Dispatcher;
    ///
    /// let dispatcher = Dispatcher::builder().threads(2).bound_subpool("ui").build()?;
    /// assert!(dispatcher.subpool("ui")?.set_limit(2).is_err_and(|error| error.is_bound()));
    /// assert!(dispatcher.subpool("cpu")?.set_limit(0).is_err_and(|error| !error.is_bound()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_bound(&self) -> bool {
        matches!(self.0, Kind::Bound { .. })
    }
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Zero { subpool } => {
                write!(
                    f,
                    "with a limit of 0 the subpool {subpool:?} could run nothing: ask for at least 1, or pause it"
                )
            }
            Kind::Bound { subpool, limit } => write!(
                f,
                "the subpool {subpool:?} is bound to one thread, so its limit cannot be {limit}: \
                 build one with `Builder::subpool` for jobs that may run at the same time"
            ),
        }
    }
}

impl Error for LimitError {}

/// There is no priority with that number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriorityError {
    number: u8,
}

impl PriorityError {
    pub(super) fn new(number: u8) -> Self {
        PriorityError { number }
    }

    /// The number that was asked for.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::dispatcher::Priority;
    ///
    /// assert_eq!(Priority::new(9).unwrap_err().number(), 9);
    /// ```
    #[must_use]
    pub fn number(&self) -> u8 {
        self.number
    }
}

impl fmt::Display for PriorityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, highest) = (self.number, Priority::HIGHEST.number());
        write!(f, "there is no priority {number}: choose one from 0 (lowest) to {highest} (highest)")
    }
}

impl Error for PriorityError {}
