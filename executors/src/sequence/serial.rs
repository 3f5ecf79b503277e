//! One element after the other.

use crate::{futures_executor::FuturesExecutor, handle::TaskHandle};
use std::{error::Error, fmt, future::poll_fn, mem, task::Poll};

/// Calls `f` with one element after the other, each call being a job of its own, until all have been or one fails.
///
/// Between two elements the worker is free for other jobs, so that a long sequence holds up nobody (unless a job of the
/// same pool waits for it before it has begun: then that one's worker runs it to its end). A call that panics
/// ends the sequence, with [`TaskError::Panicked`](crate::TaskError::Panicked). [`TaskHandle::cancel`] succeeds until
/// the first call begins. The elements are taken one by one, each when its turn has come, so that there may be no end
/// of them.
///
/// For a function that gives a future, use `futures::stream::iter(elements).map(Ok).try_fold(..)`, or a loop in an
/// `async` block, with [`submit_future`](FuturesExecutor::submit_future).
///
/// # Examples
///
/// ```
/// use executors::{*, sequence, crossbeam_workstealing_pool::small_pool};
///
/// let pool = small_pool(2);
/// let parse = |text: &str| text.parse::<u32>();
/// assert_eq!(sequence::serial(&pool, ["1", "2"], parse).wait()?, Ok(vec![1, 2]));
/// let stopped = sequence::serial(&pool, ["1", "two", "3"], parse).wait()?.unwrap_err();
/// assert_eq!(stopped.done, [1]);
/// pool.shutdown()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn serial<P, I, F, T, E>(pool: &P, elements: I, mut f: F) -> TaskHandle<Result<Vec<T>, Stopped<T, E>>>
where
    P: FuturesExecutor,
    I: IntoIterator<IntoIter: Send + 'static>,
    F: FnMut(I::Item) -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: Send + 'static,
{
    let mut elements = elements.into_iter();
    // No room is made ahead: a sequence may be endless, or far longer than what is done before the first failure.
    let mut done = Vec::new();
    pool.submit_future(poll_fn(move |context| {
        let Some(element) = elements.next() else { return Poll::Ready(Ok(mem::take(&mut done))) };
        match f(element) {
            Ok(value) => done.push(value),
            Err(error) => return Poll::Ready(Err(Stopped { done: mem::take(&mut done), error })),
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }))
}

/// What a [`serial`] sequence had done when it was stopped by an error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stopped<T, E> {
    /// What the elements before gave; so its length is the place of the element that failed.
    pub done: Vec<T>,
    /// What that element gave.
    pub error: E,
}

impl<T, E: fmt::Display> fmt::Display for Stopped<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "element {} of the sequence failed: {}", self.done.len(), self.error)
    }
}

impl<T: fmt::Debug, E: Error + 'static> Error for Stopped<T, E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
