//! Why there is no result.

use super::Panic;
use std::{error::Error, fmt};

/// Why a job's result will never come.
#[derive(Debug)]
#[non_exhaustive]
pub enum TaskError {
    /// The job panicked; the payload is inside.
    Panicked(Panic),
    /// The job was cancelled before it began.
    Cancelled,
    /// The pool dropped the job without running it: it was closed, or full and built to refuse jobs then; or it had
    /// accepted the job and discarded it, in a [`shutdown_now`](crate::Pool::shutdown_now) or in favour of others. For
    /// a future also: the pool ended before the future did.
    Dropped,
    /// The caller *is* the job it waits for, directly or further down on the same stack. (A part of the job that
    /// `fork_join` has given to another worker waits for it for ever, and so does a future in any step but its first.)
    WouldDeadlock,
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskError::Panicked(panic) => write!(f, "the job panicked: {}", panic.message()),
            TaskError::Cancelled => f.write_str("the job was cancelled before it began"),
            TaskError::Dropped => f.write_str("the pool dropped the job without running it to its end"),
            TaskError::WouldDeadlock => f.write_str("a job cannot wait for its own result"),
        }
    }
}

impl Error for TaskError {}

/// Why a fallible job has no value: it returned an error, or it did not return.
///
/// The result of a job that returns a `Result` is a `Result` in a `Result`. [`flatten`](Self::flatten) merges the two
/// into one that works with `?` and with the combinators of the crate `futures`. There is no case beside these two.
///
/// # Examples
///
/// ```
/// use executors::*;
/// use executors::crossbeam_workstealing_pool::small_pool;
/// use futures::{FutureExt, TryFutureExt, executor::block_on};
///
/// let pool = small_pool(2);
/// let parse = |text: &'static str| pool.submit(move || text.parse::<u8>());
/// assert_eq!(Failure::flatten(parse("7").wait()).unwrap(), 7);
///
/// let failed = Failure::flatten(parse("7000").wait()).unwrap_err();
/// assert!(matches!(failed, Failure::Returned(_)));
///
/// let lost = Failure::flatten(pool.submit(|| -> Result<u8, ()> { panic!("no luck") }).wait()).unwrap_err();
/// assert!(matches!(lost, Failure::Lost(TaskError::Panicked(_))));
///
/// let chain = parse("7").map(Failure::flatten).and_then(|seven| async move { Ok(seven + 1) });
/// assert_eq!(block_on(chain).unwrap(), 8);
///
/// // `?` converts what `wait` returns, too.
/// let twice = || -> Result<u8, Failure<std::num::ParseIntError>> { Ok(2 * pool.submit(|| 21).wait()?) };
/// assert_eq!(twice().unwrap(), 42);
/// pool.shutdown().unwrap();
/// ```
#[derive(Debug)]
pub enum Failure<E> {
    /// The job ran, and returned this error.
    Returned(E),
    /// The job returned nothing: it panicked, was cancelled, was dropped, or could not be waited for.
    Lost(TaskError),
}

impl<E> Failure<E> {
    /// Merges the two results that a fallible job has into one.
    ///
    /// # Errors
    ///
    /// Whichever error there is.
    pub fn flatten<T>(result: Result<Result<T, E>, TaskError>) -> Result<T, Failure<E>> {
        result.map_err(Failure::Lost)?.map_err(Failure::Returned)
    }
}

/// Lets `?` pass on a [`TaskError`] in a function that can also fail in other ways.
impl<E> From<TaskError> for Failure<E> {
    fn from(error: TaskError) -> Self {
        Failure::Lost(error)
    }
}

impl<E: fmt::Display> fmt::Display for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Returned(error) => error.fmt(f),
            Failure::Lost(error) => error.fmt(f),
        }
    }
}

impl<E: Error + 'static> Error for Failure<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Failure::Returned(error) => error.source(),
            Failure::Lost(error) => error.source(),
        }
    }
}
