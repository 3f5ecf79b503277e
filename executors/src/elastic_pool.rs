//! A thread pool that grows when its workers are busy and shrinks when they are not.
//!
//! For jobs that block: on sockets, files, locks, other processes. No thread is there before the first job. Until the
//! *core* is full, each job brings a worker of its own; beyond it, a worker is hired when a job comes in and nobody is
//! idle, up to the *maximum*. Workers beyond the core leave when they have been idle for `keep_alive`.
//!
//! An idle worker is never counted on for two jobs: each job that waits has an idle worker to itself, or the maximum is
//! reached. So no job waits behind one that blocks while the pool could grow. How that is done, and why it holds, is in
//! `elastic_pool/README.md` of the sources.
//!
//! What happens when the maximum is reached and all block is the pool's [`Saturation`]: by default further jobs wait in
//! a first-in-first-out queue.
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

mod gate;
mod handle;

use crate::{
    backing::Backing,
    builder::{Build, Builder, sealed::Recipe},
    crew::{Charter, Terms},
    error::{BuildError, BuildErrorKind},
    handle::{TaskHandle, block_on},
    local,
    options::{Fairness, Idle, MAX_THREADS, Options, Placement},
    pool::{impl_futures_executor, impl_pool},
};
use handle::Handle;
use std::{fmt, future::Future, time::Duration};

const CHARTER: Charter = Charter {
    label: "elastic_pool",
    thread_name: |worker| format!("elastic-pool-worker-{worker}"),
    idle: Idle::PARK,
    // As in the channel pool.
    fairness: Fairness::Counted(1024),
};

/// How long workers beyond the core stay idle before they leave, unless the builder is told: 60 s.
pub const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// When an elastic pool hires beyond its core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Growth {
    /// When a job comes in and no worker is idle.
    #[default]
    WhenBusy,
    /// Only in place of workers that block inside [`blocking`], so that as many as the core has can go on, however many
    /// block. Workers that were hired so stay at work when the others go on, too, until they are idle for the
    /// keep-alive: for a time there may be more at work than the core has.
    WhenBlocked,
}

/// What becomes of a new job when the maximum of workers is reached and all are busy.
///
/// `queue` jobs may wait in each case; the choice is about the one after. Steps of futures, and jobs given by
/// [`try_execute_locally`](crate::try_execute_locally), are not refused: they go on what was accepted before. They wait
/// in the queue whatever its bound.
///
/// With [`Growth::WhenBlocked`] a job that has no worker waits even if the maximum is not reached, and places of
/// workers that are not there are places to wait: up to `max - core + queue` jobs may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Saturation {
    /// It waits, with as many others as there are.
    #[default]
    Queue,
    /// It is refused: [`ThreadPool::offer`] and `try_execute` give it back, `execute` drops it with a `warn!`, and the
    /// handle that `submit` gives reports [`TaskError::Dropped`](crate::TaskError::Dropped).
    Refuse {
        /// How many jobs may wait.
        queue: usize,
    },
    /// Its submitter waits for room, and then it is refused.
    ///
    /// A job that submits another one waits, too: if all workers do so, they all wait for the timeout.
    Block {
        /// How many jobs may wait.
        queue: usize,
        /// How long the submitter waits; `None` is for as long as it takes.
        timeout: Option<Duration>,
    },
    /// Its submitter runs it, before the call returns.
    RunOnCaller {
        /// How many jobs may wait.
        queue: usize,
    },
    /// The job that has waited longest is dropped in its favour, and counted as discarded.
    ///
    /// The handle of such a job reports [`TaskError::Dropped`](crate::TaskError::Dropped). Steps of futures, and jobs
    /// given by `try_execute_locally`, are not dropped, however long they have waited: no bound is set to them, so that
    /// would make no room. They and the other jobs are run in turn.
    DiscardOldest {
        /// How many jobs may wait; at least 1.
        queue: usize,
    },
}

impl Saturation {
    /// How many jobs may wait, if there is a bound.
    fn queue(self) -> Option<usize> {
        match self {
            Saturation::Queue => None,
            Saturation::Refuse { queue }
            | Saturation::Block { queue, .. }
            | Saturation::RunOnCaller { queue }
            | Saturation::DiscardOldest { queue } => Some(queue),
        }
    }
}

/// Why a job was not accepted; it is inside.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal<F> {
    /// The pool is closed.
    Closed(F),
    /// All workers are busy, the queue is full, and the time to wait for that to change was up, if there was some.
    Full(F),
}

impl<F> Refusal<F> {
    /// The job, which did not run.
    #[must_use = "dropping the job loses it; ignore the error instead if that is what you want"]
    pub fn into_job(self) -> F {
        match self {
            Refusal::Closed(job) | Refusal::Full(job) => job,
        }
    }
}

impl<F> fmt::Debug for Refusal<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Closed(_) => "Closed(..)",
            Refusal::Full(_) => "Full(..)",
        })
    }
}

impl<F> fmt::Display for Refusal<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Closed(_) => "the pool is closed and takes no more jobs",
            Refusal::Full(_) => {
                "all workers of the pool are busy and its queue is full: raise `max` or the queue, or try again later"
            }
        })
    }
}

impl<F> std::error::Error for Refusal<F> {}

/// Calls `f`, which is going to block, and lets the pool whose job this is hire another worker meanwhile.
///
/// In an elastic pool that grows [`Growth::WhenBlocked`], that is what makes it grow beyond its core. In one that grows
/// [`Growth::WhenBusy`] jobs have workers of their own in any case, up to the maximum, and this changes nothing.
/// Elsewhere, and in jobs of other pools, it just calls `f`.
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
/// threads end; nobody waits for that.
#[derive(Clone, Debug)]
#[must_use = "a pool that is dropped at once runs nothing more"]
pub struct ThreadPool {
    handle: Handle,
}

/// What only an elastic pool lets its users choose.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extra {
    core: Option<usize>,
    max: Option<usize>,
    keep_alive: Option<Duration>,
    growth: Growth,
    saturation: Saturation,
}

impl ThreadPool {
    /// A pool of `core` workers that stay, and up to `max` in all. The others leave after `keep_alive` without work.
    ///
    /// # Panics
    ///
    /// If `max` is 0, `core` exceeds `max` or `keep_alive` is 0; [`builder`](Self::builder) returns an error instead.
    pub fn new(core: usize, max: usize, keep_alive: Duration) -> ThreadPool {
        let builder = Self::builder().core(core).max(max).keep_alive(keep_alive);
        builder.build().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Chooses sizes, times, hooks and policies.
    ///
    /// `threads` sets core and maximum at once: a pool whose threads come with its first jobs and stay. Without any
    /// number, the core is as large as other pools are by default, and the maximum twice that.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, elastic_pool::{Refusal, Saturation, ThreadPool}};
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
    /// assert!(matches!(pool.offer(|| ()), Err(Refusal::Full(_job))));
    /// drop(tell);
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> Builder<ThreadPool> {
        Builder::new(Extra::default())
    }

    /// Gives a job to the pool, and tells why if it is not accepted.
    ///
    /// Blocks only with [`Saturation::Block`], and with [`Saturation::RunOnCaller`] for as long as the job takes.
    ///
    /// # Errors
    ///
    /// [`Refusal`] with the job inside.
    #[inline]
    pub fn offer<F: FnOnce() + Send + 'static>(&self, job: F) -> Result<(), Refusal<F>> {
        self.handle.offer(job)
    }

    /// Runs `future` to its end on one worker, which is blocked while the future waits.
    ///
    /// For futures that hardly wait; [`spawn`](crate::FuturesExecutor::spawn) gives the worker back meanwhile.
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
        Backing::submit(&self.handle, move || block_on(future))
    }

    /// Starts workers until the core is full, so that the first jobs find them there.
    ///
    /// Fewer, if the operating system refuses threads: an `error!` says so.
    pub fn start_core_threads(&self) {
        self.handle.crew().fill_core();
    }

    /// How many workers there are, from before their thread starts until they have decided to leave. None when the pool
    /// has ended.
    #[must_use]
    pub fn worker_count(&self) -> usize {
        self.handle.crew().workers().0
    }

    /// How many workers have no job, be it that there is none or that they are on their way to one: a worker counts as
    /// idle from when it is hired to when it takes its first job.
    #[must_use]
    pub fn idle_count(&self) -> usize {
        self.handle.crew().workers().1
    }

    fn start(options: Options, extra: Extra) -> Result<ThreadPool, BuildError> {
        let terms = extra.terms(&options)?;
        if extra.saturation == (Saturation::DiscardOldest { queue: 0 }) {
            return Err(BuildErrorKind::NothingToDiscard.into());
        }
        // A thread that cannot have its name would be noticed by its first job otherwise.
        options.thread_name(0, CHARTER.thread_name)?;
        Ok(ThreadPool { handle: Handle::new(terms, extra.saturation, options) })
    }
}

impl Extra {
    fn terms(&self, options: &Options) -> Result<Terms, BuildError> {
        let (core, max) = match (self.core, self.max, options.threads) {
            (Some(core), Some(max), _) => (core, max),
            (Some(core), None, Some(threads)) => (core, threads),
            (None, Some(max), Some(threads)) => (threads, max),
            (None, None, Some(threads)) => (threads, threads),
            (Some(core), None, None) => (core, core.saturating_mul(2).clamp(1, MAX_THREADS)),
            (None, Some(max), None) => (options.thread_count()?.min(max), max),
            (None, None, None) => {
                let core = options.thread_count()?;
                (core, core.saturating_mul(2).min(MAX_THREADS))
            }
        };
        Options { threads: Some(max), ..options.clone() }.thread_count()?;
        if core > max {
            return Err(BuildErrorKind::CoreAboveMax { core, max }.into());
        }
        let keep_alive = self.keep_alive.unwrap_or(KEEP_ALIVE);
        if keep_alive.is_zero() {
            return Err(BuildErrorKind::NoKeepAlive.into());
        }
        Ok(Terms { core, max, only_replaces: self.growth == Growth::WhenBlocked, keep_alive })
    }
}

/// What only an elastic pool has.
impl Builder<ThreadPool> {
    /// How many workers stay, once jobs have brought them. The default is `threads`, or as many as there are cores.
    pub fn core(mut self, workers: usize) -> Self {
        self.extra.core = Some(workers);
        self
    }

    /// How many workers there are at most. The default is `threads`, or twice the core.
    pub fn max(mut self, workers: usize) -> Self {
        self.extra.max = Some(workers);
        self
    }

    /// How long a worker beyond the core stays idle before it leaves. The default is [`KEEP_ALIVE`].
    pub fn keep_alive(mut self, keep_alive: Duration) -> Self {
        self.extra.keep_alive = Some(keep_alive);
        self
    }

    /// When the pool grows beyond its core. The default is [`Growth::WhenBusy`].
    pub fn growth(mut self, growth: Growth) -> Self {
        self.extra.growth = growth;
        self
    }

    /// What becomes of a job when the maximum is reached and all are busy. The default is [`Saturation::Queue`].
    pub fn when_saturated(mut self, saturation: Saturation) -> Self {
        self.extra.saturation = saturation;
        self
    }
}

impl Build for ThreadPool {}

impl Recipe for ThreadPool {
    type Extra = Extra;

    #[allow(private_interfaces, reason = "see the trait")]
    fn build(mut options: Options, extra: Extra) -> Result<Self, BuildError> {
        options.placement.check(CHARTER.label)?;
        if options.placement == Placement::Auto {
            // Its jobs block, and its workers come and go: a core to each would be a core to none.
            options.placement = Placement::Floating;
        }
        Self::start(options, extra)
    }
}

/// A pool whose core has one worker for each core that the process may use, or as many as `EXECUTORS_NUM_THREADS` says,
/// and that grows to twice that.
///
/// # Panics
///
/// If the variable is not a number of at least 1.
#[cfg(feature = "defaults")]
impl Default for ThreadPool {
    fn default() -> Self {
        Self::builder().build().unwrap_or_else(|error| panic!("{error}"))
    }
}

impl_pool!(ThreadPool);
impl_futures_executor!(ThreadPool);
