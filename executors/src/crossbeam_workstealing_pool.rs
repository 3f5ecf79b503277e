//! A thread pool whose workers have queues of their own and steal from each other.
//!
//! Jobs from outside go to a common queue, which has several lanes so that submitters do not get in each other's way. A
//! job that one of the pool's own jobs submits goes to the queue of the worker that runs the submitting job; other
//! workers that have nothing to do steal it.
//!
//! A worker runs its own jobs first, in the order in which they came. So that jobs from outside do not wait for ever,
//! it also looks for those now and then; the pool's [`Fairness`] says when:
//!
//! - about every millisecond, and after 61 jobs at the latest (the default with the feature `ws-timed-fairness`, which
//!   is on by default), or
//! - once in 61 jobs, however long they take (the default without it).
//!
//! The first job found runs next. More may be put behind the worker's own jobs, so that at most every other job that it
//! runs is from outside. If it looks before each job, as it does by the clock if jobs are long, it takes only one job
//! with each look, and jobs from outside go first.
//!
//! Workers run side by side and take jobs in batches, so no order is promised between jobs that different workers run.
//!
//! A worker without work sleeps after a few microseconds; with the feature `ws-no-park`, or [`Idle::Spin`] for a single
//! pool, it keeps searching.
//!
//! # Examples
//!
//! ```
//! use executors::*;
//! use executors::crossbeam_workstealing_pool::ThreadPool;
//! use std::sync::mpsc::channel;
//!
//! let n_workers = 4;
//! let n_jobs = 8;
//! let pool = ThreadPool::builder().threads(n_workers).build()?;
//!
//! let (tx, rx) = channel();
//! for _ in 0..n_jobs {
//!     let tx = tx.clone();
//!     pool.execute(move || {
//!         tx.send(1).expect("channel will be there waiting for the pool");
//!     });
//! }
//!
//! assert_eq!(rx.iter().take(n_jobs).fold(0, |a, b| a + b), 8);
//! pool.shutdown().expect("all jobs are done");
//! # Ok::<(), BuildError>(())
//! ```

mod recipe;
#[cfg(all(test, not(executors_loom)))]
mod tests;

use self::recipe::Extra;
#[cfg(feature = "numa-aware")]
use crate::numa_utils::ProcessingUnitDistance;
use crate::{
    backing::{impl_futures_executor, impl_pool},
    builder::Builder,
    crew::{Charter, Handle},
    local,
    options::{Fairness, Idle, Options},
    parker::{self, DynParker, LargeThreadData, Parker, SmallThreadData, StaticParker},
    source::stealing::StealingSource,
    time_slice::TimeSlice,
};

const CHARTER: Charter = Charter {
    label: "crossbeam_workstealing_pool",
    thread_name: |worker| format!("cb-ws-pool-worker-{worker}"),
    idle: Idle::STEALING_DEFAULT,
    fairness: Fairness::STEALING_DEFAULT,
    time_slice: TimeSlice::Usual,
};

/// A pool of up to 32 workers; short for `ThreadPool::new(threads, parker::small())`.
///
/// Its type names the parker. For a pool whose type is just `ThreadPool`, as in the field of a struct, use
/// [`ThreadPool::builder`] or [`pool_with_auto_parker`]: it is as fast.
///
/// # Panics
///
/// As [`ThreadPool::new`].
pub fn small_pool(threads: usize) -> ThreadPool<StaticParker<SmallThreadData>> {
    ThreadPool::new(threads, parker::small())
}

/// A pool of up to 64 workers; short for `ThreadPool::new(threads, parker::large())`. As to its type, see
/// [`small_pool`].
///
/// # Panics
///
/// As [`ThreadPool::new`].
pub fn large_pool(threads: usize) -> ThreadPool<StaticParker<LargeThreadData>> {
    ThreadPool::new(threads, parker::large())
}

/// A pool of any number of workers; short for `ThreadPool::new(threads, parker::dynamic())`. As to its type, see
/// [`small_pool`].
///
/// # Panics
///
/// As [`ThreadPool::new`].
pub fn dyn_pool(threads: usize) -> ThreadPool<StaticParker<parker::DynamicThreadData>> {
    ThreadPool::new(threads, parker::dynamic())
}

/// A pool of any number of workers. Pools of all sizes have the same type.
///
/// # Panics
///
/// As [`ThreadPool::new`].
///
/// # Examples
///
/// ```
/// use executors::*;
///
/// let pool = crossbeam_workstealing_pool::pool_with_auto_parker(4);
/// pool.shutdown().unwrap();
/// ```
pub fn pool_with_auto_parker(threads: usize) -> ThreadPool<DynParker> {
    ThreadPool::builder().threads(threads).build().unwrap_or_else(|error| panic!("{error}"))
}

/// Submits a job to the pool whose job this thread is running; the same as
/// [`try_execute_locally`](crate::try_execute_locally).
///
/// # Errors
///
/// Those of [`try_execute_locally`](crate::try_execute_locally).
pub fn execute_locally<F>(job: F) -> Result<(), F>
where
    F: FnOnce() + Send + 'static,
{
    local::try_execute_locally(job)
}

/// A handle to a work-stealing pool. See the [module](self).
///
/// Handles are cheap to clone. When the last one is dropped, the pool closes, runs what it has accepted, and its
/// threads end; the drop does not wait for that.
///
/// `P` is how the workers sleep. The [`builder`](ThreadPool::builder), [`pool_with_auto_parker`] and `default` make a
/// plain `ThreadPool`, whatever its size:
///
/// ```
/// use executors::crossbeam_workstealing_pool::ThreadPool;
///
/// struct App {
///     pool: ThreadPool,
/// }
///
/// let app = App { pool: ThreadPool::builder().threads(4).build()? };
/// # Ok::<(), executors::BuildError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a pool that is dropped at once runs nothing more"]
pub struct ThreadPool<P = DynParker>
where
    P: Parker + Clone + 'static,
{
    handle: Handle<StealingSource, P>,
}

impl<P> ThreadPool<P>
where
    P: Parker + Clone + 'static,
{
    /// Starts a pool of `threads` workers that sleep by means of `parker`: the first at once, the others when there is
    /// a job for which no worker is free (or as [`preheat`](Builder::preheat) says).
    ///
    /// With the feature `thread-pinning`, each worker is pinned to a core of its own, as long as there are cores;
    /// further ones float. With the feature `numa-aware`, pinned workers steal from near ones first, by the distances
    /// that the machine itself reports (`ProcessingUnitDistance::from_topology`).
    ///
    /// # Panics
    ///
    /// If `threads` is 0 or more than the parker serves, or the operating system refuses the first thread;
    /// [`builder`](ThreadPool::builder) returns an error instead.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::*;
    /// use executors::crossbeam_workstealing_pool::ThreadPool;
    ///
    /// let pool = ThreadPool::new(4, parker::small());
    /// pool.shutdown().unwrap();
    /// ```
    pub fn new(threads: usize, parker: P) -> ThreadPool<P> {
        Self::start(Options::with_threads(threads), Extra::new(&parker)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Starts a pool with a worker pinned to each of `cores` and `floating` more that are not pinned.
    ///
    /// A core that does not exist is no error: its worker is not pinned, and a `warn!` says so. With the builder's
    /// [`Placement::Cores`](crate::Placement::Cores) it is a [`BuildError`](crate::BuildError).
    ///
    /// # Panics
    ///
    /// If that makes no worker at all, or more than the parker serves, or the operating system refuses the first
    /// thread.
    #[cfg(feature = "thread-pinning")]
    pub fn with_affinity(cores: &[core_affinity::CoreId], floating: usize, parker: P) -> ThreadPool<P> {
        Self::start(Options::with_cores(cores, floating), Extra::new(&parker)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Like [`with_affinity`](Self::with_affinity), but a worker steals from workers on near cores first, by the
    /// distances in `pu_distance`. Workers for which no core is listed, or one outside the matrix, are the farthest
    /// from all others.
    ///
    /// # Panics
    ///
    /// As `with_affinity`.
    #[cfg(feature = "numa-aware")]
    pub fn with_numa_affinity(
        cores: &[core_affinity::CoreId],
        floating: usize,
        parker: P,
        pu_distance: ProcessingUnitDistance,
    ) -> ThreadPool<P> {
        let mut extra = Extra::new(&parker);
        extra.distances = pu_distance.into();
        Self::start(Options::with_cores(cores, floating), extra).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Runs both closures, possibly at the same time, and returns what both return. They may borrow from the caller.
    ///
    /// In a job of this pool `one` runs at once, while any idle worker may take `other`. If no worker has taken it when
    /// `one` has ended, the caller runs it, too. Otherwise the caller waits for that worker, and meanwhile runs what
    /// `other` has forked there (or a job for which `other` [waits](crate::TaskHandle::wait)), but nothing else: so the
    /// caller may hold locks that these do not take. Thus a problem can be divided again and again, down to parts of
    /// some hundred nanoseconds: a fork that no other worker takes costs a few nanoseconds, without an allocation or a
    /// locked instruction (when many are made in a row, on Linux; otherwise with a fence or two).
    ///
    /// Elsewhere, even in a job of another pool, the caller blocks while a job of this pool runs both. If the pool is
    /// closed, or [`shutdown_now`](crate::Pool::shutdown_now) comes before that job has begun, the caller runs both
    /// itself, one after the other.
    ///
    /// There is no guarantee that another worker takes `other`: all may be busy, or find jobs from outside first. So
    /// the two closures may wait for each other only if a worker has nothing else to do. Calls nest on the stack of the
    /// thread, and so do the parts of other calls that the caller runs while it waits: how deep a recursion can be
    /// depends on [`stack_size`](crate::Builder::stack_size). While 256 of a worker's parts wait to be taken, it offers
    /// no more. Coroutines that have stacks of their own must not suspend in a closure: calls on one thread have to end
    /// innermost first, or the process is aborted.
    ///
    /// A part that another worker takes counts in [`Stats::steals`](crate::Stats::steals), but not as a job.
    ///
    /// The design follows `join` of rayon (Matsakis and Stone), the work-first principle of Cilk-5 (Frigo, Leiserson
    /// and Randall, 1998) and the leapfrogging of Wagner and Calder (1993).
    ///
    /// # Panics
    ///
    /// If a closure panics: with its payload, once both have ended; if both panic, with the payload of `one`. If `one`
    /// panics before `other` has begun, `other` is dropped. The pool neither counts nor reports the panic, unless it
    /// ends a job. (If a user's [`Parker`] panics when it is told of a part, that counts as a panic of `one`, which
    /// does not run then.)
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, crossbeam_workstealing_pool::ThreadPool};
    ///
    /// fn sum(pool: &ThreadPool, numbers: &[u64]) -> u64 {
    ///     if numbers.len() <= 1000 {
    ///         return numbers.iter().sum();
    ///     }
    ///     let (left, right) = numbers.split_at(numbers.len() / 2);
    ///     let (left, right) = pool.fork_join(|| sum(pool, left), || sum(pool, right));
    ///     left + right
    /// }
    ///
    /// let pool = ThreadPool::builder().threads(2).build()?;
    /// let numbers: Vec<u64> = (1..=10_000).collect();
    /// assert_eq!(sum(&pool, &numbers), 50_005_000);
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn fork_join<A, B, One, Other>(&self, one: One, other: Other) -> (A, B)
    where
        One: FnOnce() -> A + Send,
        Other: FnOnce() -> B + Send,
        A: Send,
        B: Send,
    {
        self.handle.fork_join(one, other)
    }
}

impl ThreadPool<DynParker> {
    /// Chooses threads, name, hooks and policies.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, Fairness, Idle, crossbeam_workstealing_pool::ThreadPool};
    ///
    /// let pool = ThreadPool::builder().threads(2).idle(Idle::PARK).fairness(Fairness::COUNTED).build()?;
    /// pool.execute(|| println!("hello"));
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> Builder<ThreadPool<DynParker>> {
        // All parkers of this crate work alike, so none fits a number of threads better.
        Builder::new(Extra::with(parker::dynamic().dynamic().expect("a new parker has no clones")))
    }
}

/// A pool with one worker for each core that the caller may use, or as many as `EXECUTORS_NUM_THREADS` says.
///
/// # Panics
///
/// If the operating system refuses the first thread, or the variable is not a number from 1 to 1 048 575.
#[cfg(feature = "defaults")]
impl Default for ThreadPool<DynParker> {
    fn default() -> Self {
        Self::builder().build().unwrap_or_else(|error| panic!("{error}"))
    }
}

impl_pool!(ThreadPool<P>, P: Parker + Clone + 'static);
impl_futures_executor!(ThreadPool<P>, P: Parker + Clone + 'static);
