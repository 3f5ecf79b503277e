//! A thread pool that grows when its workers are busy and shrinks when they are not.
//!
//! For jobs that block: on sockets, files, locks, other processes. Before the first job there are no threads. Until the
//! *core* is full, each job brings a worker of its own; beyond it, a worker is hired when a job arrives and no worker
//! is idle, up to the *maximum*. Workers beyond the core leave when they have been idle for `keep_alive`.
//!
//! No two jobs count on the same idle worker: each waiting job has an idle worker to itself, or the maximum is reached.
//! So no job waits behind one that blocks while the pool could grow. (A pool that grows [`Growth::WhenBlocked`] has to
//! be told by [`blocking`] that a job blocks; its jobs do wait behind one that does not say so.) How this works, and
//! why it holds, is in [a README][readme] of the sources.
//!
//! [readme]: https://github.com/Bathtor/rust-executors/blob/master/executors/src/elastic_pool/README.md
//!
//! The pool's [`Saturation`] decides what happens when the maximum is reached and all workers are busy: by default
//! further jobs wait.
//!
//! The idea is from rusty_pool. What is called `evaluate` there is [`submit`](crate::Pool::submit) here, its `complete`
//! is [`complete`](ThreadPool::complete), its `spawn` is [`spawn_detached`](crate::FuturesExecutor::spawn_detached),
//! and its `spawn_await` is [`submit_future`](crate::FuturesExecutor::submit_future). `compat::rusty_pool` has the
//! original names, with the feature `compat-rusty-pool`.
//!
//! Jobs submitted by one thread start in the order in which they came, as long as threads do not meet at the same lane
//! of the queue; between threads there is no order. A worker takes up to 64 jobs from one lane before it goes on to the
//! next, or as many as [`fairness`](crate::Builder::fairness) says. So a job that is the first of its thread may wait
//! behind that many jobs of each other thread, for each worker, even if those came later. (With
//! [`Saturation::DiscardOldest`] submitted jobs are one queue, first in, first out.)
//!
//! Where jobs do next to nothing, workers take turns of some tens of microseconds at the queue. A job that takes long,
//! or blocks, ends its worker's turn. [Why workers take turns][turns].
//!
//! [turns]: https://github.com/Bathtor/rust-executors/blob/master/docs/architecture.md#decisions
//!
//! # Examples
//!
//! ```
//! use executors::{Executor, Pool, elastic_pool::ThreadPool};
//! use std::{sync::{Arc, Barrier}, time::Duration};
//!
//! let pool = ThreadPool::new(1, 4, Duration::from_secs(60));
//! assert_eq!(pool.worker_count(), 0);
//!
//! // Four jobs that wait for each other need four threads.
//! let meeting = Arc::new(Barrier::new(4));
//! for _ in 0..4 {
//!     let meeting = Arc::clone(&meeting);
//!     pool.execute(move || drop(meeting.wait()));
//! }
//! pool.join().expect("this is no worker");
//! assert_eq!(pool.worker_count(), 4);
//! pool.shutdown().expect("nothing blocks any more");
//! ```

mod growth;
mod handle;
mod recipe;
mod saturation;
mod semaphore;

pub use growth::Growth;
pub use saturation::Saturation;

use crate::{
    backing::{Backing, impl_futures_executor, impl_pool},
    builder::Builder,
    crew::Charter,
    local,
    options::{Fairness, Idle},
    task::{TaskHandle, completion},
    time_slice::TimeSlice,
};
use handle::Handle;
use recipe::Extra;
use std::{future::Future, time::Duration};

const CHARTER: Charter = Charter {
    label: "elastic_pool",
    thread_name: |worker| format!("elastic-pool-worker-{worker}"),
    idle: Idle::PARK,
    // How many jobs a worker takes from a lane before it goes on to the next: that many jobs of another thread may
    // overtake a job. Few enough that this stays short, and enough that the way to the next lane, a look at each at
    // most, costs next to nothing per job.
    fairness: Fairness::Counted(64),
    time_slice: TimeSlice::Usual,
};

/// How long workers beyond the core stay idle before they leave, unless the builder chooses otherwise: 60 s.
pub const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// Calls `f`, which is going to block, and lets the pool whose job calls this hire another worker meanwhile.
///
/// This is what makes an elastic pool that grows [`Growth::WhenBlocked`] grow beyond its core. In one that grows
/// [`Growth::WhenBusy`], jobs have workers of their own in any case, up to the maximum, and this changes nothing. If
/// another executor runs the calling job within a job of the pool, as
/// [`RunNowExecutor`](crate::run_now::RunNowExecutor) does, the outer job counts as blocked, too. A worker of a
/// work-stealing pool or a dispatcher gives back [the part of the queues that it has to itself][privileges]. Elsewhere
/// this only calls `f`.
///
/// [privileges]: https://github.com/Bathtor/rust-executors/blob/master/docs/architecture.md
///
/// # Examples
///
/// ```
/// use executors::{Pool, elastic_pool::{self, Growth, ThreadPool}};
/// use std::sync::mpsc;
///
/// let pool = ThreadPool::builder().core(1).max(2).growth(Growth::WhenBlocked).build()?;
/// let (tell, told) = mpsc::channel();
/// let waits = pool.submit(move || elastic_pool::blocking(|| told.recv()));
/// // There is one worker, and it blocks; but it has said so.
/// pool.submit(move || tell.send("released")).detach();
/// assert_eq!(waits.wait()?, Ok("released"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn blocking<R>(f: impl FnOnce() -> R) -> R {
    local::blocking(f)
}

/// A handle to an elastic pool. See the [module](self).
///
/// Handles are cheap to clone. When the last one is dropped, the pool closes, runs what it has accepted, and its
/// threads end; the drop does not wait for that.
#[derive(Clone, Debug)]
#[must_use = "a pool that is dropped at once runs nothing more"]
pub struct ThreadPool {
    handle: Handle,
}

impl ThreadPool {
    /// A pool of `core` workers that stay, and up to `max` in all. The others leave after `keep_alive` without work.
    ///
    /// # Panics
    ///
    /// If `max` is 0 or more than 1 048 575, `core` exceeds `max` or `keep_alive` is 0; [`builder`](Self::builder)
    /// returns an error instead.
    pub fn new(core: usize, max: usize, keep_alive: Duration) -> ThreadPool {
        let builder = Self::builder().core(core).max(max).keep_alive(keep_alive);
        builder.build().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Chooses sizes, times, hooks and policies.
    ///
    /// `threads` sets both core and maximum: the pool's threads start with its first jobs and stay. Without any number,
    /// the core is as large as other pools are by default, and the maximum is twice that.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, Pool, Rejected, elastic_pool::{Saturation, ThreadPool}};
    /// use std::time::Duration;
    ///
    /// let pool = ThreadPool::builder()
    ///     .core(0)
    ///     .max(1)
    ///     .keep_alive(Duration::from_secs(5))
    ///     .when_saturated(Saturation::Refuse { queue: 0 })
    ///     .build()?;
    /// let (tell, told) = std::sync::mpsc::channel::<()>();
    /// pool.execute(move || assert!(told.recv().is_err()));
    /// assert!(matches!(pool.try_execute(|| ()), Err(Rejected::Full(_job))));
    /// drop(tell);
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> Builder<ThreadPool> {
        Builder::new(Extra::default())
    }

    /// Runs `future` to its end on one worker, which is blocked while the future waits, as in [`blocking`].
    ///
    /// For futures that hardly wait; [`submit_future`](crate::FuturesExecutor::submit_future) frees the worker while
    /// the future waits. Costs two allocations.
    ///
    /// Where [`execute`](crate::Executor::execute) would run a job before it returns (in a full pool that was built
    /// with `RunOnCaller`, or if the system refuses all threads), this call runs the future to its end: so that must
    /// not wait for what the caller does afterwards. If the pool is closed, or refuses the future because it is full,
    /// the handle reports [`TaskError::Dropped`](crate::TaskError::Dropped).
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, elastic_pool::ThreadPool};
    ///
    /// let pool = ThreadPool::builder().max(2).build()?;
    /// assert_eq!(pool.complete(async { 6 * 7 }).wait()?, 42);
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn complete<R: Send + 'static>(&self, future: impl Future<Output = R> + Send + 'static) -> TaskHandle<R> {
        // However large the future is, the worker has it in a box.
        let (job, handle) = completion(self.handle.home(), Box::pin(future));
        // As for other tasks: if it is not admitted, its handle is told so when it is dropped.
        let _ = self.handle.admit(job);
        handle
    }

    /// Starts workers until the core is full, so that the first jobs find them there. Does nothing once the pool has
    /// ended.
    ///
    /// Starts fewer if the operating system refuses threads: an `error!` says so. It asks even if some were refused
    /// just before.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, elastic_pool::ThreadPool};
    ///
    /// let pool = ThreadPool::builder().core(2).max(4).build()?;
    /// assert_eq!(pool.worker_count(), 0);
    /// pool.start_core_threads();
    /// assert_eq!((pool.worker_count(), pool.idle_count()), (2, 2));
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start_core_threads(&self) {
        self.handle.crew.fill_core();
    }

    /// How many workers there are. A worker counts from before its thread starts until it has decided to leave. Once
    /// the pool has ended, there are none.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, Pool, elastic_pool::ThreadPool};
    ///
    /// let pool = ThreadPool::builder().core(1).max(4).build()?;
    /// pool.submit(|| ()).wait()?;
    /// assert_eq!(pool.worker_count(), 1);
    /// pool.shutdown_borrowed()?;
    /// assert_eq!(pool.worker_count(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn worker_count(&self) -> usize {
        self.handle.crew.workers().0
    }

    /// How many workers have no job, either because there is none or because they are on their way to one: a worker
    /// counts as idle from when it is hired until it takes its first job. One that looks for a last moment before it
    /// sleeps may still count as busy.
    ///
    /// `idle` of [`stats`](crate::Pool::stats) is a different count: there a worker is busy already when it begins to
    /// search for a job, and may be so while it looks around for more, see [`busy`](crate::Stats::busy). So the two may
    /// differ at any moment, except when all workers sleep.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, Pool, elastic_pool::ThreadPool};
    ///
    /// let pool = ThreadPool::builder().threads(1).build()?;
    /// let local = pool.clone();
    /// let seen = pool.submit(move || (local.worker_count(), local.idle_count()));
    /// assert_eq!(seen.wait()?, (1, 0), "the worker that asks is busy");
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn idle_count(&self) -> usize {
        self.handle.crew.workers().1
    }
}

/// A pool whose core has one worker for each CPU core that the caller may use, or as many as `EXECUTORS_NUM_THREADS`
/// says, and whose maximum is twice that.
///
/// # Panics
///
/// If the variable is not a number from 1 to 1 048 575.
#[cfg(feature = "defaults")]
impl Default for ThreadPool {
    fn default() -> Self {
        Self::builder().build().unwrap_or_else(|error| panic!("{error}"))
    }
}

impl_pool!(ThreadPool);
impl_futures_executor!(ThreadPool);
