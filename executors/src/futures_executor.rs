//! Running futures on a pool.
//!
//! # Examples
//!
//! A future that waits for two others, on a pool with one thread:
//!
//! ```
//! use executors::{*, crossbeam_workstealing_pool::small_pool};
//! use futures::executor::block_on;
//!
//! let pool = small_pool(1);
//! let (six, seven) = (pool.spawn(async { 6 }), pool.spawn(async { 7 }));
//! let product = pool.spawn(async { six.await * seven.await });
//! assert_eq!(block_on(product), 42);
//! pool.shutdown()?;
//! # Ok::<(), String>(())
//! ```

mod reporting;

use crate::{
    aftermath::{Aftermath, one_after_the_other},
    backing::HUGE,
    common::Executor,
    containment::ignore,
    handle::{TaskHandle, continuation},
    job::Job,
    local::Home,
    sync::thread_local,
};
use async_task::{Runnable, Schedule};
use reporting::Reporting;
use std::{cell::RefCell, future::Future, pin::Pin};

/// The result of a spawned future, itself a future.
///
/// Dropping it cancels the future; call `detach` to let it run on. Awaiting it passes on the panic of a future that
/// panicked, and panics if the future was cancelled because its pool had ended; `fallible` turns the latter into
/// `None`.
///
/// What is in the hands of the crate `async-task` ends the process if it panics: a result, or the payload of a panic,
/// that panics when it is dropped because the handle was detached or dropped before the future's end; and a waker that
/// the handle was polled with, when it is woken or dropped. (What the future owns may well panic when it is dropped.)
/// [`submit_future`](FuturesExecutor::submit_future) survives all of these.
pub type JoinHandle<R> = async_task::Task<R>;

/// An executor that polls futures.
#[diagnostic::on_unimplemented(
    message = "`{Self}` runs no futures",
    note = "all executors of this crate do, except `RunNowExecutor`, which has no thread to poll them later"
)]
pub trait FuturesExecutor: Executor + Sync + 'static {
    /// Polls `future` on the pool until it is done. Dropping the handle cancels it; `detach` lets it run.
    ///
    /// A suspended future costs no thread. When it is woken, from whatever thread, its next step becomes a job of the
    /// pool: of the worker that wakes it, or else of the first that is free. Steps of futures that the pool has
    /// accepted are also taken while the pool drains; a future that is woken after the pool's end, or spawned on a
    /// closed pool, is dropped.
    ///
    /// A future that is never woken does not keep the pool from ending.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::*;
    /// use executors::crossbeam_channel_pool::ThreadPool;
    /// use futures::executor::block_on;
    ///
    /// let pool = ThreadPool::new(2);
    /// let answer = pool.spawn(async { 6 * 7 });
    /// assert_eq!(block_on(answer), 42);
    /// pool.shutdown().unwrap();
    /// ```
    fn spawn<R: Send + 'static>(&self, future: impl Future<Output = R> + 'static + Send) -> JoinHandle<R>;

    /// Polls `future` on the pool until it is done, and returns a handle like that of a closure.
    ///
    /// A job that continues: what stands before the first `await` is the job, and what it then waits for (a
    /// [`TaskHandle`], a timer, another crate's future) holds no thread of the pool. Beside [`spawn`](Self::spawn), the
    /// handle tells of every end by a [`TaskError`](crate::TaskError), of panics and drops, too; it can be waited for
    /// by blocking; and dropping it lets the future run on.
    ///
    /// [`TaskHandle::cancel`] succeeds until the first step begins. [`TaskHandle::wait`] in a job of the same pool runs
    /// a future that has not begun, to its end; the wait for one that has begun blocks its worker, although the future
    /// may need one to go on: where all workers wait like that, they wait for ever. `await` the handle instead. A
    /// future that waits for its own handle is told so in its first step only
    /// ([`WouldDeadlock`](crate::TaskError::WouldDeadlock)): behind an `await` it waits for ever.
    ///
    /// Chains may be of any length: each link is woken by the one before and then runs as a job of its own.
    ///
    /// While it waits to be woken it is no job of the executor: `join` and `shutdown` do not wait for it, and if the
    /// executor has come to its end when it is woken, it is dropped, which is [`Dropped`](crate::TaskError::Dropped) at
    /// the handle.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::*;
    /// use executors::crossbeam_workstealing_pool::small_pool;
    ///
    /// let pool = small_pool(2);
    /// let read = pool.submit(|| "6 7");
    /// let product = pool.submit_future(async {
    ///     // No thread waits here.
    ///     let text = read.await.map_err(|lost| lost.to_string())?;
    ///     text.split(' ').map(|factor| factor.parse::<u32>().map_err(|error| error.to_string())).product()
    /// });
    /// let product: Result<u32, Failure<String>> = Failure::flatten(product.wait());
    /// assert_eq!(product.unwrap(), 42);
    /// pool.shutdown().unwrap();
    /// ```
    fn submit_future<R: Send + 'static>(&self, future: impl Future<Output = R> + Send + 'static) -> TaskHandle<R> {
        // Not known to be a pool whose jobs could run the future while they wait for it.
        submit(self, Home::NOWHERE, future)
    }
}

/// Has `executor` poll `future`. A job that is at this `home`, and waits for the future before that has begun, runs it.
pub(crate) fn submit<E, F>(executor: &E, home: Home, future: F) -> TaskHandle<F::Output>
where
    E: FuturesExecutor,
    F: Future<Output: Send + 'static> + Send + 'static,
{
    if size_of::<F>() > HUGE {
        let boxed: Pin<Box<dyn Future<Output = F::Output> + Send>> = Box::pin(future);
        return submit_as_it_is(executor, home, boxed);
    }
    submit_as_it_is(executor, home, future)
}

fn submit_as_it_is<E, F>(executor: &E, home: Home, future: F) -> TaskHandle<F::Output>
where
    E: FuturesExecutor,
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let (driver, handle) = continuation(home, future);
    executor.spawn(driver).detach();
    handle
}

/// Makes a task of `future`, not scheduled yet. What the future throws is reported to the pool that polls it and then
/// reaches whoever awaits the handle.
pub(crate) fn spawn_task<R: Send + 'static>(
    future: impl Future<Output = R> + Send + 'static,
    schedule: impl Schedule + Send + Sync + 'static,
) -> (Runnable, JoinHandle<R>) {
    async_task::Builder::new().propagate_panic(true).spawn(move |()| Reporting::new(future), schedule)
}

/// One poll of a task, as a job.
///
/// `async-task` drops a future that nobody can wake any more when its last waker goes, or its handle, but forgets one
/// that has left no waker by the end of its poll, if the handle has gone before. A waker that is held here meanwhile
/// would mend that, and make each future up to a fifth dearer (`docs/results/queues.md`).
pub(crate) fn step(runnable: Runnable) -> impl FnOnce() + Send + 'static {
    move || {
        runnable.run();
    }
}

/// Drops a step that its pool does not take any more, which cancels the future.
///
/// That wakes who waits for the future, and drops the handles that it waits for; and these may be, or belong to, other
/// futures of the same kind, and so on along a chain of any length.
#[cold]
pub(crate) fn cancel(refused: impl FnOnce() + Send + 'static) {
    one_after_the_other(&REFUSED, Job::new(refused), |step| ignore(step, "its executor"));
}

thread_local! {
    /// See [`cancel`].
    static REFUSED: Aftermath<Job> = const { RefCell::new(None) };
}
