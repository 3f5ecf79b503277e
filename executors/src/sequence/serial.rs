//! One element after the other.

use crate::{
    containment::{Contained, Each},
    futures_executor::FuturesExecutor,
    task::TaskHandle,
};
use std::{error::Error, fmt, future::poll_fn, task::Poll};

/// Calls `f` with one element after the other, each call in a job of its own, until all elements are done or one fails.
///
/// Between two elements the worker is free for other jobs, so a long sequence does not hold up other jobs (unless a job
/// of the same pool waits for it before it has begun: then the worker of that job runs the sequence to its end). A call
/// that panics ends the sequence, with [`TaskError::Panicked`](crate::TaskError::Panicked). [`TaskHandle::cancel`]
/// succeeds until the first call begins. Each element is taken only when its turn has come, so the elements may be
/// endless.
///
/// For a function that returns a future, use `futures::stream::iter(elements).map(Ok).try_fold(..)`, or a loop in an
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
pub fn serial<P, I, F, T, E>(pool: &P, elements: I, f: F) -> TaskHandle<Result<Vec<T>, Stopped<T, E>>>
where
    P: FuturesExecutor,
    I: IntoIterator<IntoIter: Send + 'static>,
    F: FnMut(I::Item) -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: Send + 'static,
{
    let (mut elements, mut f) = (Contained::new(elements.into_iter()), Contained::new(f));
    // No room is reserved ahead: a sequence may be endless, or far longer than what is done before the first failure.
    let mut done = Each::of(Vec::new());
    pool.submit_future(poll_fn(move |context| {
        let Some(element) = elements.next() else { return Poll::Ready(Ok(done.take())) };
        match f(element) {
            Ok(value) => done.push(value),
            Err(error) => return Poll::Ready(Err(Stopped { done: done.take(), error })),
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }))
}

/// What a [`serial`] sequence had done when it was stopped by an error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stopped<T, E> {
    /// The results of the elements before; so its length is the place of the element that failed.
    pub done: Vec<T>,
    /// The error of that element.
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
