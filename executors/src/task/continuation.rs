//! A task whose work is a future: it holds no thread while it is pending.
//!
//! As with a closure, the work stays in the task until it is taken: by the first step of the [`Driver`], which is what
//! the pool polls, or by a worker that waits for the result before that, and then polls the future to its end itself.
//! Once the driver has taken the future, no waiter can.

#[cfg(feature = "elastic-exec")]
use super::task_of;
use super::{Task, TaskHandle, Waiter, Work, block_on, panicked};
use crate::{
    containment::{contain, guard},
    error::TaskError,
    local::Home,
};
use pin_project_lite::pin_project;
use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

/// Makes a task of `future`: the future to poll at its `home`, and the handle to the result.
pub(crate) fn continuation<F>(
    home: Home,
    future: F,
) -> (impl Future<Output = ()> + Send + 'static, TaskHandle<F::Output>)
where
    F: Future<Output: Send> + Send + 'static,
{
    let task = Task::new(Await(future));
    let claim = Claim { task: Some(Arc::clone(&task)), has_begun: false };
    (Driver { future: None, claim }, TaskHandle { task, home })
}

/// Makes a task that polls `future` to its end in one go: the job to give to its `home`, and the handle to the result.
#[cfg(feature = "elastic-exec")]
pub(crate) fn completion<F>(home: Home, future: F) -> (impl FnOnce() + Send + 'static, TaskHandle<F::Output>)
where
    F: Future<Output: Send> + Send + 'static,
{
    task_of(home, Await(future))
}

/// The work of a future, for a thread that runs it in one go.
struct Await<F>(F);

impl<F: Future> Work for Await<F> {
    const AWAITS: bool = true;

    type Output = F::Output;

    fn run(self) -> F::Output {
        block_on(self.0)
    }
}

pin_project! {
    /// Polls the task's future.
    struct Driver<F>
    where
        F: Future,
    {
        // From the first step to the last.
        #[pin]
        future: Option<F>,
        claim: Claim<F>,
    }

    impl<F> PinnedDrop for Driver<F>
    where
        F: Future,
    {
        fn drop(this: Pin<&mut Self>) {
            // Before the task is told that it has ended. A panic that left this would end the process.
            guard(|| this.project().future.set(None));
        }
    }
}

impl<F: Future> Future for Driver<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        let is_first = !this.claim.has_begun;
        if is_first {
            // If it was cancelled, or is run by its waiter, there is nothing left to do here.
            let Some(future) = this.claim.begin() else { return Poll::Ready(()) };
            this.future.set(Some(future));
        }
        let Some(future) = this.future.as_mut().as_pin_mut() else { return Poll::Ready(()) };
        let result = match contain(|| future.poll(context)) {
            Ok(Poll::Pending) => {
                if is_first {
                    this.claim.suspend();
                }
                return Poll::Pending;
            }
            Ok(Poll::Ready(value)) => Ok(value),
            Err(payload) => Err(panicked(payload)),
        };
        guard(|| this.future.set(None));
        this.claim.end(result);
        Poll::Ready(())
    }
}

/// The right to poll the future of a task. If dropped before the end, it ends the task.
struct Claim<F: Future> {
    /// `Some` until the end.
    task: Option<Arc<Task<Await<F>>>>,
    has_begun: bool,
}

impl<F: Future> Claim<F> {
    /// Takes the future out, unless another thread has done so.
    fn begin(&mut self) -> Option<F> {
        let Await(future) = self.task.as_ref()?.begin()?;
        self.has_begun = true;
        Some(future)
    }

    /// No thread polls the future any more. (One may do so again later; that is not recorded, because it would cost a
    /// lock for each step.)
    fn suspend(&self) {
        if let Some(task) = &self.task {
            task.suspend();
        }
    }

    fn end(&mut self, result: Result<F::Output, TaskError>) {
        if let Some(task) = self.task.take() {
            task.end(result).into_iter().for_each(Waiter::wake);
        }
    }
}

impl<F: Future> Drop for Claim<F> {
    fn drop(&mut self) {
        let Some(task) = self.task.take() else { return };
        if self.has_begun {
            task.end(Err(TaskError::Dropped)).into_iter().for_each(Waiter::wake_after_drop);
        } else {
            task.end_unrun(TaskError::Dropped, Waiter::wake_after_drop);
        }
    }
}
