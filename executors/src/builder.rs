//! Building a pool with custom options.

use crate::{
    error::BuildError,
    options::{Fairness, Idle, Options, Placement, callback},
};
use std::{any::Any, time::Duration};

/// A pool that a [`Builder`] can build. Implemented by the pools of this crate.
pub trait Build: Sized + sealed::Recipe {}

pub(crate) mod sealed {
    use crate::{error::BuildError, options::Options};

    /// What a kind of pool adds to the common options, and how it is built.
    pub trait Recipe: Sized {
        /// Choices that only this kind of pool has.
        type Extra: Clone + std::fmt::Debug;

        #[allow(private_interfaces, reason = "the trait cannot be named, let alone called, outside this crate")]
        fn build(options: Options, extra: Self::Extra) -> Result<Self, BuildError>;
    }
}

/// Chooses threads, names, hooks and policies of a pool, then builds it.
///
/// Each pool's `builder()` starts one. Nothing happens before [`build`](Self::build). All pools have these options,
/// except that [`build`](Self::build) returns an error for
///
/// | option | in |
/// |---|---|
/// | [`threads`](Self::threads) | `BurstPool` |
/// | [`preheat`](Self::preheat) | the elastic pool, the burst pools and `ThreadPoolExecutor` |
/// | [`fairness`](Self::fairness) | `ThreadPoolExecutor`; the dispatcher, if it is [`Fairness::Timed`] |
/// | hooks, [`idle`](Self::idle), [`time_slice`](Self::time_slice), [`placement`](Self::placement) | `ThreadPoolExecutor` |
///
/// A clone builds another pool with the same options. Hooks and handlers are shared, and called by the workers of both
/// pools; as to a parker of your own, see [`Parker::for_pool`](crate::parker::Parker::for_pool).
///
/// # Examples
///
/// ```
/// use executors::*;
/// use executors::crossbeam_channel_pool::ThreadPool;
///
/// let pool = ThreadPool::builder()
///     .threads(2)
///     .name("io")
///     .panic_handler(|payload| drop(payload.downcast_ref::<&str>()))
///     .build()?;
/// assert_eq!(pool.submit(|| std::thread::current().name().unwrap().starts_with("io-")).wait()?, true);
/// pool.shutdown()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "a builder does nothing before `build`"]
pub struct Builder<P: Build> {
    pub(crate) options: Options,
    pub(crate) extra: P::Extra,
}

impl<P: Build> Clone for Builder<P> {
    fn clone(&self) -> Self {
        Builder { options: self.options.clone(), extra: self.extra.clone() }
    }
}

impl<P: Build> Builder<P> {
    pub(crate) fn new(extra: P::Extra) -> Self {
        Builder { options: Options::new(), extra }
    }

    /// The number of workers. Without it, the environment variable `EXECUTORS_NUM_THREADS` decides. Without that, there
    /// is one worker for each core that the thread which builds the pool may use (within its affinity and the control
    /// group's quota). So a thread that is pinned to one core builds a pool of a single worker.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = Some(threads);
        self
    }

    /// How many threads [`build`](Self::build) starts in the channel pool, the work-stealing pool and the dispatcher.
    /// The others start when there is a job that may run and no worker is free for it. The default is one, except in a
    /// dispatcher and in a pool that [spins](Idle::Spin), where it is all.
    ///
    /// At least one is started; in a dispatcher, at least one of the threads that share subpools, and all those to
    /// which subpools are bound. A number larger than that of the threads, such as `usize::MAX`, starts all. For any
    /// other pool, `build` returns an error if this is set: an elastic pool starts no threads (but see its
    /// `start_core_threads`), a `BurstPool` one with each `spawn`, the others all.
    ///
    /// The submitter whose job needs a thread starts it, which takes some ten microseconds (a worker may start two), or
    /// waits for another thread that is starting one. The new thread inherits from its starter what the system passes
    /// on, except the cores on which it may run: on Linux the scheduling policy and nice value, the signal mask, and
    /// the filter of system calls.
    ///
    /// If the operating system refuses such a thread, that is logged (`error!`), and the others do its work. The next
    /// job that needs a thread tries again (after several refusals, one that comes a little later), and nothing else
    /// does: if all existing threads block (for example in `wait`, for a job that has not begun), what is queued waits
    /// until one of them goes on, or until the next job brings a thread. With all threads preheated, it is `build` that
    /// fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Pool, crossbeam_channel_pool::ThreadPool};
    ///
    /// let pool = ThreadPool::builder().threads(16).preheat(2).build()?;
    /// assert_eq!(pool.stats().workers, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn preheat(mut self, threads: usize) -> Self {
        self.options.preheat = Some(threads);
        self
    }

    /// Names the threads `name-0`, `name-1` and so on (those of `ThreadPoolExecutor` are all called `name`). The name
    /// also appears in log messages about the pool.
    ///
    /// Without it they are called `cb-ws-pool-worker-0`, `elastic-pool-worker-0`, `burst-pool-worker-0` or
    /// `dispatcher-worker-0` and so on; in the channel pool all are called `cb-channel-pool-worker`, as in 0.10; those
    /// of `ThreadPoolExecutor` have no name.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Pool, crossbeam_workstealing_pool::ThreadPool};
    ///
    /// let pool = ThreadPool::builder().threads(1).name("io").build()?;
    /// let name = pool.submit(|| std::thread::current().name().map(str::to_owned)).wait()?;
    /// assert_eq!(name.as_deref(), Some("io-0"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.options.name = Some(name.into());
        self
    }

    /// The stack size of each worker, in bytes. The default is the standard library's (2 MiB, or `RUST_MIN_STACK`).
    /// Deep recursion needs more, such as long chains of jobs that [`wait`](crate::TaskHandle::wait) for each other.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.options.stack_size = Some(bytes);
        self
    }

    /// Called on each worker before its first job, with the worker's index.
    ///
    /// The index distinguishes workers that exist at the same time. In a pool with a fixed number of threads it is less
    /// than that number (the dispatcher's `reserve` says which one the thread of a bound subpool has), and in
    /// `BurstPool` less than the number of workers spawned. In the elastic pool it is the lowest that is free when the
    /// worker starts: it can be `max` or more if former workers have not quite left by then, or if other threads run
    /// jobs in place of workers, each of which takes an index (`Saturation::RunOnCaller`).
    ///
    /// A panic in the hook is caught and reported like a job's, but not counted; the worker starts all the same.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Pool, crossbeam_channel_pool::ThreadPool};
    /// use std::cell::Cell;
    ///
    /// thread_local!(static WORKER: Cell<Option<usize>> = const { Cell::new(None) });
    /// let pool = ThreadPool::builder().threads(1).on_start(|worker| WORKER.set(Some(worker))).build()?;
    /// assert_eq!(pool.submit(|| WORKER.get()).wait()?, Some(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Waiting in a hook
    ///
    /// A hook that waits for a job of its own pool that has not begun runs the job itself, as a job would. In a
    /// dispatcher it blocks instead until another worker has run the job, because a hook belongs to no subpool. If the
    /// hooks of all workers wait like that, they wait for ever.
    ///
    /// In an elastic pool a worker counts as idle while it is in its hook: a job may wait for that worker, even though
    /// more threads could be started.
    ///
    /// In a burst pool a job may be dealt to a worker that is in its hook.
    ///
    /// Where threads start when jobs need them, a hook may run long after `build`. Hooks that wait for each other need
    /// that many [preheated](Self::preheat) threads. If the system refuses one of these, they wait for ever, and
    /// [`build`](Self::build) waits for them.
    pub fn on_start(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.options.on_start = Some(callback(Box::new(hook)));
        self
    }

    /// Called on each worker after its last job, with the same index as [`on_start`](Self::on_start).
    ///
    /// What the hook submits is run by other workers, as if it came from outside (but
    /// [`try_execute_locally`](crate::try_execute_locally) drops its job there, with a `warn!`). A job that the hook
    /// waits for does not run within the hook either, so a hook of an elastic pool may have to wait for other workers.
    /// At the end of a pool there is nothing to wait for, because the pool accepts no more jobs.
    ///
    /// A panic in the hook is caught and reported like a job's, but not counted.
    pub fn on_stop(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.options.on_stop = Some(callback(Box::new(hook)));
        self
    }

    /// Called once for each job, and each start or stop hook, that panics: on its thread, with the payload. For a
    /// [cluster](crate::sequence::clusters), which is one job, it is called once for each element whose call panics.
    ///
    /// Independently of the handler, the panic hook has printed the panic, and an `error!` names the pool and the
    /// worker, if one runs the job. A panic in the handler itself is caught and logged.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, crossbeam_channel_pool::ThreadPool};
    /// use std::sync::{Arc, atomic::{AtomicUsize, Ordering}};
    ///
    /// let panics = Arc::new(AtomicUsize::new(0));
    /// let count = Arc::clone(&panics);
    /// let pool = ThreadPool::builder().threads(1).panic_handler(move |_| _ = count.fetch_add(1, Ordering::Relaxed));
    /// let pool = pool.build()?;
    /// pool.execute(|| panic!("expected"));
    /// pool.join()?;
    /// assert_eq!(panics.load(Ordering::Relaxed), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn panic_handler(mut self, handler: impl Fn(&(dyn Any + Send)) + Send + Sync + 'static) -> Self {
        self.options.panic_handler = Some(callback(Box::new(handler)));
        self
    }

    /// What a worker does when there is nothing to do. The default is [`Idle::PARK`], except in the burst pools, whose
    /// workers sleep at once (`Idle::Park` with a `spin` of 0); and in the work-stealing pool the feature `ws-no-park`
    /// makes it [`Idle::Spin`].
    pub fn idle(mut self, idle: Idle) -> Self {
        self.options.idle = Some(idle);
        self
    }

    /// When a worker goes on from the jobs that are nearest to it to others. Which jobs these are depends on the pool:
    ///
    /// * work-stealing: from jobs of its own to jobs from outside. The default is [`Fairness::TIMED`] with the feature
    ///   `ws-timed-fairness`, else [`Fairness::COUNTED`].
    /// * elastic, whose workers have no jobs of their own: from one lane of the queue to the next. As a rule each
    ///   submitting thread has a lane. The default is `Counted(64)`. A job that is the first of its thread may wait
    ///   behind that many jobs of each other thread, for each worker, even if those came later. (With `DiscardOldest`
    ///   the jobs that may be discarded are one queue, and this does not concern them.)
    /// * dispatcher: from the highest priority to all subpools and priorities in turn. The default is
    ///   [`Fairness::COUNTED`], and only `Counted` is possible.
    /// * burst, if its workers steal: from jobs that were dealt to the worker to one that was dealt to another worker.
    ///   The default is `Counted(1024)`.
    ///
    /// In the channel pool all jobs are alike to a worker; there this only decides how often it publishes its counters
    /// as metrics.
    pub fn fairness(mut self, fairness: Fairness) -> Self {
        self.options.fairness = Some(fairness);
        self
    }

    /// Asks the system's scheduler to let workers run for this long at a time where other threads want their cores: for
    /// *slices* of this length, but at least 100 us, and never for longer ones than the thread has anyway. Linux
    /// supports this since 6.12; its usual slices are 0.7 to 2.8 ms long.
    ///
    /// A woken worker then preempts a thread with longer slices rather than waiting for it, even the thread that has
    /// just submitted the job. Where there are few jobs, they begin sooner; where there are many more jobs than
    /// workers, most begin later. The threads' shares of a core do not change ([measurements][bursts]).
    ///
    /// [bursts]: https://github.com/Bathtor/rust-executors/blob/master/docs/results/burst.md
    ///
    /// By default the burst pools ask for slices that are 1/16 shorter than usual, unless the process has a seccomp
    /// filter, as in most containers: there the call may be fatal, and is made only if a slice is chosen here. The
    /// other pools ask for nothing by default, and no pool does with `Duration::MAX`.
    ///
    /// This has no effect on other systems, where the system refuses it, and on threads with a scheduling policy other
    /// than `SCHED_OTHER` or a negative nice value. Threads that jobs start have the usual slices: to that end, a
    /// worker that asks also sets the flag that resets its policy on a fork, and Linux lets only privileged threads
    /// clear that flag. So if a hook or job changes the scheduling policy of its thread, choose `Duration::MAX` here.
    /// `ThreadPoolExecutor` cannot ask for slices: `build` returns a [`BuildError`].
    pub fn time_slice(mut self, slice: Duration) -> Self {
        self.options.time_slice = Some(slice);
        self
    }

    /// Which cores the workers run on. The default is [`Placement::Auto`], which pins workers if the feature
    /// `thread-pinning` is on, except those of the elastic pool, of `BurstPool` and of `ThreadPoolExecutor`. Workers
    /// that are not pinned may run where the thread that builds the pool may run; see [`Placement::Floating`].
    pub fn placement(mut self, placement: Placement) -> Self {
        self.options.placement = placement;
        self
    }

    /// Builds the pool and starts its workers, or those that are to start [at once](Self::preheat).
    ///
    /// # Errors
    ///
    /// If an option cannot be honoured, or the operating system refuses a thread. No thread is left behind then (but
    /// see [`ThreadPoolExecutor`](crate::threadpool_executor::ThreadPoolExecutor)): this waits for start hooks that
    /// have begun. Jobs that these have submitted, and that have not begun, are dropped.
    pub fn build(self) -> Result<P, BuildError> {
        P::build(self.options, self.extra)
    }
}
