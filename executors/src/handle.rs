//! The result of a closure that was submitted to a pool.
//!
//! A task keeps its closure until somebody takes it to run it: a worker, when the task's job comes up, or the worker that
//! waits for the result before that. The second is what makes waiting inside a pool safe: a wait either runs the job
//! itself or waits for a job that has begun, so pools do not run out of workers by waiting.

#[cfg(all(test, executors_loom))]
mod model;

use crate::{
    containment::{contain, discard, guard},
    error::{Panic, TaskError},
    local::{self, PoolId},
    sync::{
        Mutex, MutexGuard,
        thread::{self, Thread, ThreadId},
    },
};
use std::{
    fmt,
    future::Future,
    mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    time::{Duration, Instant},
};

/// The result of a closure given to [`Pool::submit`](crate::Pool::submit).
///
/// Wait for it by blocking ([`wait`](Self::wait), [`wait_timeout`](Self::wait_timeout)) or by `.await`: the handle is a
/// future of the same result. Dropping the handle lets the job run on, unobserved.
///
/// # Waiting inside a pool
///
/// A job may wait for another job of the same pool. If that has not begun, the waiting worker runs it itself; if it has, the
/// worker blocks until its end. So jobs that wait for jobs never deadlock for lack of workers, and a wait runs no job
/// but the one it is for. (Jobs that wait for each other in a circle wait for ever, as threads would.)
///
/// That holds for `wait` and `wait_timeout`. Polling the handle as a future never runs the job, so `block_on(handle)` in a
/// job blocks a worker until another has run it.
///
/// # Examples
///
/// ```
/// use executors::*;
/// use executors::crossbeam_workstealing_pool::small_pool;
/// use std::time::Duration;
///
/// let pool = small_pool(2);
/// assert_eq!(pool.submit(|| 6 * 7).wait().unwrap(), 42);
///
/// let failed = pool.submit(|| -> u32 { panic!("no such luck") }).wait();
/// assert_eq!(failed.unwrap_err().to_string(), "the job panicked: no such luck");
///
/// let quick = pool.submit(|| "quick").wait_timeout(Duration::from_secs(10));
/// assert_eq!(quick.expect("in time").unwrap(), "quick");
/// pool.shutdown().unwrap();
/// ```
#[must_use = "dropping the handle lets the job run unobserved; call `detach` to say so"]
pub struct TaskHandle<T> {
    task: Arc<dyn Outcome<T>>,
    pool: PoolId,
}

/// Makes a task of `closure`: the job to give to `pool`, and the handle to its result.
pub(crate) fn task<F, T>(pool: PoolId, closure: F) -> (impl FnOnce() + Send + 'static, TaskHandle<T>)
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let task = Arc::new(Task(Mutex::new(Status { stage: Stage::Queued(closure), waiter: None })));
    let ticket = Ticket(Some(Arc::clone(&task)));
    (move || ticket.redeem(), TaskHandle { task, pool })
}

impl<T> TaskHandle<T> {
    /// Blocks until the job has ended and returns what it returned.
    ///
    /// # Errors
    ///
    /// [`TaskError::Panicked`] with the payload, [`TaskError::Cancelled`], [`TaskError::Dropped`] if the pool was closed
    /// before the job could begin, or [`TaskError::WouldDeadlock`] if the caller is the job itself.
    pub fn wait(self) -> Result<T, TaskError> {
        match self.wait_until(None) {
            Some(result) => result,
            None => unreachable!("without a deadline a wait ends with a result"),
        }
    }

    /// [`wait`](Self::wait) for at most `timeout`.
    ///
    /// A worker that waits for a job of its own pool which has not begun runs it, and is then not bound by the timeout.
    ///
    /// # Errors
    ///
    /// The handle, if the job has not ended in time; wait again, or drop it.
    pub fn wait_timeout(self, timeout: Duration) -> Result<Result<T, TaskError>, Self> {
        // A timeout beyond what the clock can tell is none.
        self.wait_until(Instant::now().checked_add(timeout)).ok_or(self)
    }

    /// Whether the job has ended, or will never begin.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// Keeps the job from running if it has not begun; what its closure owns is dropped at once.
    ///
    /// Returns whether that succeeded; then a wait reports [`TaskError::Cancelled`]. A job that has begun runs on.
    pub fn cancel(&self) -> bool {
        self.task.cancel()
    }

    /// Lets the job run unobserved.
    pub fn detach(self) {}

    fn wait_until(&self, deadline: Option<Instant>) -> Option<Result<T, TaskError>> {
        local::stand_in(self.pool, || self.task.run_if_queued());
        // For a result that is there, no waker is made.
        if let Poll::Ready(result) = self.task.poll(Waker::noop()) {
            return Some(result);
        }
        let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
        loop {
            if let Poll::Ready(result) = self.task.poll(&waker) {
                return Some(result);
            }
            if self.task.runs_on(thread::current().id()) {
                return Some(Err(TaskError::WouldDeadlock));
            }
            match deadline {
                None => thread::park(),
                Some(deadline) => match deadline.checked_duration_since(Instant::now()) {
                    Some(left) if !left.is_zero() => thread::park_timeout(left),
                    _ => return None,
                },
            }
        }
    }
}

impl<T> Future for TaskHandle<T> {
    type Output = Result<T, TaskError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.task.poll(context.waker())
    }
}

impl<T> fmt::Debug for TaskHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskHandle").field("finished", &self.is_finished()).finish_non_exhaustive()
    }
}

/// Polls `future` on this thread until it is done.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// A closure and then its result, shared by the job in the queue and the handle.
struct Task<F, T>(Mutex<Status<F, T>>);

struct Status<F, T> {
    stage: Stage<F, T>,
    waiter: Option<Waker>,
}

enum Stage<F, T> {
    /// The closure is here; who takes it runs it.
    Queued(F),
    /// The thread runs the closure.
    Running(ThreadId),
    /// The result is here, for the handle to take.
    Done(Result<T, TaskError>),
    /// The handle has taken the result.
    Taken,
}

impl<F, T> Task<F, T>
where
    F: FnOnce() -> T,
{
    fn status(&self) -> MutexGuard<'_, Status<F, T>> {
        // No foreign code runs under this lock (wakers are cloned before and dropped after), so a panic cannot leave it
        // half-changed, and nobody can come back here while it is held.
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Takes the closure out, leaving `next`. Gives `None`, and changes nothing, if it is not here any more.
    fn take_closure(&self, next: Stage<F, T>) -> Option<(F, Option<Waker>)> {
        let mut status = self.status();
        match mem::replace(&mut status.stage, Stage::Taken) {
            Stage::Queued(closure) => {
                let ends = matches!(next, Stage::Done(_));
                status.stage = next;
                Some((closure, if ends { status.waiter.take() } else { None }))
            }
            other => {
                status.stage = other;
                None
            }
        }
    }

    /// Runs the closure here, unless it has been taken before.
    fn run(&self) {
        let Some((closure, _)) = self.take_closure(Stage::Running(thread::current().id())) else { return };
        let result = contain(closure).map_err(|payload| {
            local::report(&*payload);
            TaskError::Panicked(Panic::new(payload))
        });
        let waiter = {
            let mut status = self.status();
            status.stage = Stage::Done(result);
            status.waiter.take()
        };
        wake(waiter);
    }

    /// Ends the task without running it. Returns whether it had not begun.
    fn end_unrun(&self, why: TaskError) -> bool {
        match self.take_closure(Stage::Done(Err(why))) {
            Some((closure, waiter)) => {
                wake(waiter);
                discard(closure);
                true
            }
            None => false,
        }
    }
}

fn wake(waiter: Option<Waker>) {
    if let Some(waiter) = waiter {
        guard(|| waiter.wake());
    }
}

/// What a handle can do with a task whose closure's type it does not know.
trait Outcome<T>: Send + Sync {
    fn poll(&self, waker: &Waker) -> Poll<Result<T, TaskError>>;
    fn run_if_queued(&self);
    fn cancel(&self) -> bool;
    fn is_finished(&self) -> bool;
    fn runs_on(&self, thread: ThreadId) -> bool;
}

impl<F, T> Outcome<T> for Task<F, T>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    fn poll(&self, waker: &Waker) -> Poll<Result<T, TaskError>> {
        let waker = waker.clone();
        let _former = {
            let mut status = self.status();
            match mem::replace(&mut status.stage, Stage::Taken) {
                Stage::Done(result) => return Poll::Ready(result),
                Stage::Taken => panic!("a TaskHandle was polled again after it had given its result"),
                other => status.stage = other,
            }
            status.waiter.replace(waker)
        };
        Poll::Pending
    }

    fn run_if_queued(&self) {
        self.run();
    }

    fn cancel(&self) -> bool {
        self.end_unrun(TaskError::Cancelled)
    }

    fn is_finished(&self) -> bool {
        matches!(self.status().stage, Stage::Done(_) | Stage::Taken)
    }

    fn runs_on(&self, thread: ThreadId) -> bool {
        matches!(self.status().stage, Stage::Running(runner) if runner == thread)
    }
}

/// The right to run a task, held by the job in the queue. Dropped unredeemed it ends the task.
struct Ticket<F: FnOnce() -> T, T>(Option<Arc<Task<F, T>>>);

impl<F: FnOnce() -> T, T> Ticket<F, T> {
    fn redeem(mut self) {
        if let Some(task) = self.0.take() {
            task.run();
            // If the handle is gone, the result is dropped here, and must not pass for a second panic of the job.
            discard(task);
        }
    }
}

impl<F: FnOnce() -> T, T> Drop for Ticket<F, T> {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.end_unrun(TaskError::Dropped);
        }
    }
}
