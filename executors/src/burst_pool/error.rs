//! Why a burst pool does not take a job or a value.

use crate::error::impl_refusal;

/// Why a value or a job was not accepted, with the value or job inside.
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

impl_refusal! {
    BurstError,
    /// What was not accepted.
    into_value {
        Closed: "the pool is closed and takes nothing more",
        Busy: "all workers of the pool are busy: give it more workers, choose `WhenBusy::Queue`, or try again later",
        NoWorkers: "the pool has no workers: call `spawn` before `send`",
    }
}

impl<T> BurstError<T> {
    /// The same reason, with `f` applied to what was not accepted.
    pub(super) fn map<U>(self, f: impl FnOnce(T) -> U) -> BurstError<U> {
        match self {
            BurstError::Closed(value) => BurstError::Closed(f(value)),
            BurstError::Busy(value) => BurstError::Busy(f(value)),
            BurstError::NoWorkers(value) => BurstError::NoWorkers(f(value)),
        }
    }
}
