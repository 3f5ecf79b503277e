//! Running futures on a pool.
//!
//! The executors of this crate poll futures, and no more: they have no reactor. Futures of any origin run on them, but
//! those that need a runtime of their own, as tokio's sockets, files and timers do, need it here, too: a thread's way
//! to tokio's is `Handle::enter`. To wait for a time there is a [`Timer`](crate::timer::Timer).
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
    backing::HUGE,
    common::Executor,
    errand::By,
    local::Home,
    task::{TaskHandle, continuation},
};
use async_task::{Runnable, ScheduleInfo, WithInfo};
use reporting::Reporting;
use std::{future::Future, pin::Pin};

/// The result of a spawned future, itself a future.
///
/// Dropping it cancels the future; call `detach` to let it run on. Awaiting it passes on the panic of a future that
/// panicked, and panics if the future was cancelled because its pool had ended; `fallible` turns the latter into
/// `None`.
///
/// A panic in what the crate `async-task` drops or wakes ends the process: in the drop of a result, or of the payload
/// of a panic, if the handle was detached or dropped before the future's end; and in a waker with which the handle was
/// polled, when it is cloned, woken or dropped. (A panic in the drop of what the future owns is caught.)
/// [`submit_future`](FuturesExecutor::submit_future) survives all of these.
pub type JoinHandle<R> = async_task::Task<R>;

/// An executor that polls futures.
#[diagnostic::on_unimplemented(
    message = "`{Self}` runs no futures",
    note = "all executors of this crate do, except `RunNowExecutor`, which has no thread to poll them later"
)]
pub trait FuturesExecutor: Executor + Sync + 'static {
    /// Polls `future` on the pool until it is done. Dropping the handle cancels the future; `detach` lets it run.
    ///
    /// A suspended future occupies no thread. When it is woken, from whatever thread, its next step becomes a job of
    /// the pool: for the worker that wakes it, or otherwise for the first that is free. Steps of futures that the pool
    /// has accepted still run while the pool drains; a future that is woken after the pool's end, or spawned when the
    /// pool is closed to the caller, is dropped (in the first case by a thread for that, because the one that wakes it
    /// may hold a lock).
    ///
    /// A future that is never woken does not keep the pool from ending. One that nobody can wake any more, because it
    /// has left no waker, or the last one has been dropped, is dropped by a worker, if its handle was detached.
    ///
    /// If nobody waits for the result, [`spawn_detached`](Self::spawn_detached) is faster.
    ///
    /// # Panics
    ///
    /// Not here, but awaiting the handle does: with the payload of the future, if that has panicked, and also if the
    /// future was dropped, because the pool had ended, or was closed when this was called. `handle.fallible()` returns
    /// `None` for the latter; [`submit_future`](Self::submit_future) reports an error for each.
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

    /// Polls `future` on the pool until it is done: what [`execute`](Executor::execute) is for closures.
    ///
    /// Nobody hears of its end, or cancels it; there is no handle. So on the pools of this crate this is the cheapest
    /// way to run a future. It takes one allocation; and a step that ends at once, or wakes itself, changes nothing
    /// that other threads see of the future (in [`ThreadPoolExecutor`](crate::threadpool_executor) twice), where one of
    /// [`spawn`](Self::spawn) makes up to eight atomic changes.
    ///
    /// All else is as with `spawn` and `detach`. A panic is reported as that of any job, and ends the future. If the
    /// executor is closed to the caller, the future is dropped, with one `warn!`. A full pool queues the future.
    ///
    /// An executor of another crate does this by `spawn` and `detach`, unless it knows better.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::*;
    /// use executors::crossbeam_workstealing_pool::small_pool;
    /// use futures::channel::oneshot::channel;
    ///
    /// let pool = small_pool(2);
    /// let (ask, asked) = channel::<u32>();
    /// let (answer, answered) = std::sync::mpsc::channel();
    /// pool.spawn_detached(async move {
    ///     // No thread waits here.
    ///     let number = asked.await.expect("somebody asks");
    ///     answer.send(number + 1).expect("somebody listens");
    /// });
    /// ask.send(41).unwrap();
    /// assert_eq!(answered.recv(), Ok(42));
    /// pool.shutdown().unwrap();
    /// ```
    fn spawn_detached(&self, future: impl Future<Output = ()> + 'static + Send) {
        self.spawn(future).detach();
    }

    /// Polls `future` on the pool until it is done, and returns a handle like that of a closure.
    ///
    /// This is a job that can be suspended: what comes before the first `await` is the job, and what the future then
    /// waits for (a [`TaskHandle`], a timer, another crate's future) holds no thread of the pool. In contrast to
    /// [`spawn`](Self::spawn), the handle reports every failure as a [`TaskError`](crate::TaskError), panics and drops
    /// included; it can be waited for by blocking; and dropping it lets the future run on.
    ///
    /// [`TaskHandle::cancel`] succeeds until the first step begins. [`TaskHandle::wait`] in a job of the same pool runs
    /// a future that has not begun to its end. Waiting for one that has begun blocks the worker, although the future
    /// may need a worker to go on: if all workers wait like that, they wait for ever. `await` the handle instead. A
    /// future that blocks on its own handle gets [`WouldDeadlock`](crate::TaskError::WouldDeadlock) in its first step;
    /// after an `await` it waits for ever, unless a waiter runs it. One that awaits its own handle is never woken.
    ///
    /// Chains may be of any length: each link is woken by the one before and then runs as a job of its own.
    ///
    /// On the pools of this crate it costs two allocations, or three if the future is larger than 16 KiB; in a
    /// `ThreadPoolExecutor` one more for each step.
    ///
    /// If the executor is closed to the caller, the handle reports [`Dropped`](crate::TaskError::Dropped), and there is
    /// one `warn!`. A full pool queues the future.
    ///
    /// While the future waits to be woken, it is no job of the executor: `join` and `shutdown` do not wait for it, and
    /// if the executor has ended when it is woken, it is dropped, which the handle reports as
    /// [`Dropped`](crate::TaskError::Dropped).
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
        // This is not known to be a pool whose jobs could run the future while they wait for it.
        submit(self, Home::NOWHERE, future)
    }
}

/// Lets `executor` poll `future`. A job of this `home` that waits for the future before it has begun runs it.
pub(crate) fn submit<E, F>(executor: &E, home: Home, future: F) -> TaskHandle<F::Output>
where
    E: FuturesExecutor,
    F: Future<Output: Send + 'static> + Send + 'static,
{
    if size_of::<F>() > HUGE {
        let boxed: Pin<Box<dyn Future<Output = F::Output> + Send>> = Box::pin(future);
        return submit(executor, home, boxed);
    }
    let (driver, handle) = continuation(home, future);
    executor.spawn_detached(driver);
    handle
}

/// Makes a task of `future`, not scheduled yet, and `put` is called for each further step. A panic of the future is
/// reported to the pool that polls it and then reaches the code that awaits the handle.
pub(crate) fn spawn_task<R: Send + 'static>(
    future: impl Future<Output = R> + Send + 'static,
    put: impl Fn(Runnable, By) + Send + Sync + 'static,
) -> (Runnable, JoinHandle<R>) {
    let schedule = move |runnable, info: ScheduleInfo| {
        put(runnable, if info.woken_while_running { By::Step } else { By::Waker });
    };
    async_task::Builder::new().propagate_panic(true).spawn(move |()| Reporting::new(future), WithInfo(schedule))
}

/// One poll of a task, as a job.
pub(crate) fn step(runnable: Runnable) -> impl FnOnce() + Send + 'static {
    move || {
        // A future that can no longer be woken is dropped with its last waker, or its handle. But if it had no waker by
        // the end of its poll, and the handle was dropped before, `async-task` would free it without dropping it, which
        // a pinned future can rely on not to happen. This waker is the last one then.
        let _waker = runnable.waker();
        runnable.run();
    }
}
