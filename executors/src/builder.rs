//! Building a pool with options of one's own.

use crate::{
    containment::Tame,
    error::BuildError,
    options::{Fairness, Idle, Options, Placement, WorkerHook},
};
use std::{any::Any, panic::AssertUnwindSafe, sync::Arc, time::Duration};

/// A pool that a [`Builder`] can build. Implemented by the pools of this crate.
pub trait Build: Sized + sealed::Recipe {}

pub(crate) mod sealed {
    use crate::{error::BuildError, options::Options};

    /// What a kind of pool adds to the common options, and how it comes to be.
    pub trait Recipe: Sized {
        /// Choices that only this kind of pool has.
        type Extra: std::fmt::Debug;

        #[allow(private_interfaces, reason = "the trait cannot be named, let alone called, outside this crate")]
        fn build(options: Options, extra: Self::Extra) -> Result<Self, BuildError>;
    }
}

/// Chooses threads, names, hooks and policies of a pool, then builds it.
///
/// Each pool's `builder()` starts one. Nothing happens before [`build`](Self::build).
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

impl<P: Build> Builder<P> {
    pub(crate) fn new(extra: P::Extra) -> Self {
        Builder { options: Options::new(), extra }
    }

    /// How many workers. Without it the environment variable `EXECUTORS_NUM_THREADS` decides, and without that there is
    /// one worker for each core that the process may use (affinity and cgroup quota are respected).
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = Some(threads);
        self
    }

    /// Names the threads `name-0`, `name-1` and so on. The name also appears in log messages about the pool.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.options.name = Some(name.into());
        self
    }

    /// The stack of each worker, in bytes. The default is the standard library's (2 MiB, or `RUST_MIN_STACK`).
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.options.stack_size = Some(bytes);
        self
    }

    /// Called on each worker before its first job, with the worker's index.
    ///
    /// The index tells workers apart that are there at the same time. In a pool whose number of threads is fixed it is
    /// below that number, and in `BurstPool` below that of the workers spawned. In the elastic pool it is the lowest
    /// that is free when the worker comes: it can be `max` or more, if by then former workers have not quite left, or
    /// if other threads run jobs in place of workers, which takes an index each (`Saturation::RunOnCaller`).
    ///
    /// A panic in it is caught and reported like a job's, but not counted; the worker starts all the same.
    ///
    /// A hook that waits for a job of its own pool which has not begun runs it, as a job would. Not so in a dispatcher:
    /// there it blocks until another worker has run the job, as a hook belongs to no subpool. If the hooks of all
    /// workers wait, that is for ever.
    pub fn on_start(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.options.on_start = Some(tame(hook));
        self
    }

    /// Called on each worker after its last job, with the worker's index: that of [`on_start`](Self::on_start).
    ///
    /// A panic in it is caught and reported like a job's, but not counted.
    pub fn on_stop(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.options.on_stop = Some(tame(hook));
        self
    }

    /// Called once for each job that panics, on its worker, with the payload.
    ///
    /// Independent of it the panic hook has printed the panic, and an `error!` names the pool and the worker. A panic
    /// in the handler itself is caught and logged.
    pub fn panic_handler(mut self, handler: impl Fn(&(dyn Any + Send)) + Send + Sync + 'static) -> Self {
        let handler = Tame::new(handler);
        self.options.panic_handler = Some(Arc::new(AssertUnwindSafe(Box::new(move |payload| handler.get()(payload)))));
        self
    }

    /// What a worker does when there is nothing to do. The default is [`Idle::PARK`]; for the work-stealing pool the
    /// feature `ws-no-park` makes it [`Idle::Spin`].
    pub fn idle(mut self, idle: Idle) -> Self {
        self.options.idle = Some(idle);
        self
    }

    /// When a worker goes on from the jobs that are nearest to it to others. What these are depends on the pool:
    ///
    /// * work-stealing: from jobs of its own to those from outside. The default is [`Fairness::TIMED`] with the feature
    ///   `ws-timed-fairness`, else [`Fairness::COUNTED`].
    /// * elastic, whose workers have no jobs of their own: from one lane of the queue, which is that of one submitting
    ///   thread as a rule, to the next. The default is `Counted(64)`. A job that is the first of its thread may wait
    ///   behind as many of each other thread, for each worker, also if they came later.
    /// * dispatcher: from the highest priority to all subpools and priorities in turn. The default is
    ///   [`Fairness::COUNTED`], and only a number is possible.
    ///
    /// In the channel pool and the burst pool all jobs are alike to a worker; there this decides no more than how often
    /// it publishes its counters as metrics.
    pub fn fairness(mut self, fairness: Fairness) -> Self {
        self.options.fairness = Some(fairness);
        self
    }

    /// How long a worker is to run at a time, where other threads want its core as well. A wish to the system's
    /// scheduler, which Linux knows since 6.12, where the usual slices are of 0.7 to 2.8 ms and the shortest of 100 us:
    /// a worker that is called begins at once, in place of a thread with longer slices, be it the one that has just
    /// given the job. Shares of the core remain as they are.
    ///
    /// The default in the burst pool is a little less than usual. That is for few jobs that must start now: they begin
    /// a tenth to a quarter sooner, for less CPU time, while bursts of many more jobs than workers begin later, as who
    /// gives the jobs is interrupted. Still shorter slices gain nothing more, and make threads that want the same core
    /// take turns more often. In the other pools the default is to ask for nothing, as does `Duration::MAX` here.
    ///
    /// Without effect on other systems, on threads with real-time or idle policies or a negative nice value, where the
    /// system refuses it, and if the thread has slices as short already. Threads that jobs start have the usual ones.
    /// Where the process has a filter of system calls (seccomp), as in most containers, such a call may be the
    /// process's end; there the burst pool does not ask by itself, but only if a slice is chosen here.
    /// `ThreadPoolExecutor` cannot ask for any, and refuses to be built.
    pub fn time_slice(mut self, slice: Duration) -> Self {
        self.options.time_slice = Some(slice);
        self
    }

    /// Which cores the workers run on. The default is [`Placement::Auto`], which pins workers if the feature
    /// `thread-pinning` is on; but not those of the elastic pool and of `BurstPool`.
    pub fn placement(mut self, placement: Placement) -> Self {
        self.options.placement = placement;
        self
    }

    /// Builds the pool and starts its workers.
    ///
    /// # Errors
    ///
    /// If an option cannot be honoured, or the operating system refuses a thread. No thread is left behind then.
    pub fn build(self) -> Result<P, BuildError> {
        P::build(self.options, self.extra)
    }
}

/// A hook that is dropped with the pool, by whoever is the last to go, and must not harm them.
fn tame(hook: impl Fn(usize) + Send + Sync + 'static) -> WorkerHook {
    let hook = Tame::new(hook);
    Arc::new(AssertUnwindSafe(Box::new(move |worker| hook.get()(worker))))
}
