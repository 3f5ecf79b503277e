//! Why a burst pool does not take a value.

use std::{error::Error, fmt};

/// Why a value was not accepted, with the value inside.
///
/// # Examples
///
/// ```
/// use executors::burst_pool::{BurstError, BurstPool};
///
/// let mut pool = BurstPool::new();
/// pool.spawn(|text: String| println!("{text}"));
/// pool.close();
/// match pool.send("late".to_owned()) {
///     Ok(()) => unreachable!("the pool is closed"),
///     Err(BurstError::Busy(text)) => println!("not now: {text}"),
///     Err(error) => assert_eq!(error.into_value(), "late"),
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BurstError<T> {
    /// The pool is closed.
    Closed(T),
    /// No worker is idle; with a timeout, none became idle until it was up.
    Busy(T),
    /// The pool has no workers yet.
    NoWorkers(T),
}

impl<T> BurstError<T> {
    /// What was not accepted.
    #[must_use = "dropping it loses it; ignore the error instead if that is what you want"]
    pub fn into_value(self) -> T {
        match self {
            BurstError::Closed(value) | BurstError::Busy(value) | BurstError::NoWorkers(value) => value,
        }
    }

    /// The same reason, with `f` applied to what was not accepted.
    pub(super) fn map<U>(self, f: impl FnOnce(T) -> U) -> BurstError<U> {
        match self {
            BurstError::Closed(value) => BurstError::Closed(f(value)),
            BurstError::Busy(value) => BurstError::Busy(f(value)),
            BurstError::NoWorkers(value) => BurstError::NoWorkers(f(value)),
        }
    }
}

impl<T> fmt::Debug for BurstError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BurstError::Closed(_) => "Closed(..)",
            BurstError::Busy(_) => "Busy(..)",
            BurstError::NoWorkers(_) => "NoWorkers(..)",
        })
    }
}

impl<T> fmt::Display for BurstError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BurstError::Closed(_) => "the pool is closed and takes nothing more",
            BurstError::Busy(_) => {
                "all workers of the pool are busy: give it more workers, choose `WhenBusy::Queue`, or try again later"
            }
            BurstError::NoWorkers(_) => "the pool has no workers: call `spawn` before `send`",
        })
    }
}

impl<T> Error for BurstError<T> {}
