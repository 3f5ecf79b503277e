//! A thread pool with one first-in-first-out queue.
//!
//! All workers take jobs from the same queue, so jobs start in the order in which they were submitted, whichever thread
//! submitted them. That is simple and fair; where jobs spawn many jobs, the
//! [work-stealing pool](crate::crossbeam_workstealing_pool) is faster.
//!
//! Where jobs do next to nothing, workers take turns of some tens of microseconds at the queue. A job that takes long,
//! or blocks, ends its worker's turn. [Why workers take turns, and what submitters do that meet][turns].
//!
//! [turns]: https://github.com/Bathtor/rust-executors/blob/master/docs/architecture.md#decisions
//!
//! The pool is named after a channel of [crossbeam-channel](https://crates.io/crates/crossbeam-channel), which was its
//! queue up to version 0.10.0.
//!
//! # Examples
//!
//! ```
//! use executors::*;
//! use executors::crossbeam_channel_pool::ThreadPool;
//! use std::sync::mpsc::channel;
//!
//! let n_workers = 4;
//! let n_jobs = 8;
//! let pool = ThreadPool::new(n_workers);
//!
//! let (tx, rx) = channel();
//! for _ in 0..n_jobs {
//!     let tx = tx.clone();
//!     pool.execute(move || {
//!         tx.send(1).expect("channel will be there waiting for the pool");
//!     });
//! }
//!
//! assert_eq!(rx.iter().take(n_jobs).sum::<i32>(), 8);
//! pool.shutdown().expect("all jobs are done");
//! ```

use crate::{
    backing::{impl_futures_executor, impl_pool},
    builder::{Build, Builder, sealed::Recipe},
    crew::{Charter, Handle, Setup, Terms},
    error::BuildError,
    options::{Fairness, Idle, Options},
    parker::{self, DynamicThreadData, StaticParker},
    source::fifo::FifoSource,
    time_slice::TimeSlice,
};

const CHARTER: Charter = Charter {
    label: "crossbeam_channel_pool",
    thread_name: |_worker| "cb-channel-pool-worker".to_owned(),
    idle: Idle::PARK,
    // All jobs are in one queue; publishing the counters now and then is often enough.
    fairness: Fairness::Counted(1024),
    time_slice: TimeSlice::Usual,
};

/// A handle to a pool with one queue. See the [module](self).
///
/// Handles are cheap to clone. When the last one is dropped, the pool closes, runs what it has accepted, and its
/// threads end; the drop does not wait for that.
#[derive(Clone, Debug)]
#[must_use = "a pool that is dropped at once runs nothing more"]
pub struct ThreadPool {
    handle: Handle<FifoSource, StaticParker<DynamicThreadData>>,
}

impl ThreadPool {
    /// Starts a pool of `threads` workers: the first at once, the others when there is a job for which no worker is
    /// free (or as [`preheat`](Builder::preheat) says).
    ///
    /// With the feature `thread-pinning`, each worker is pinned to a core of its own, as long as there are cores;
    /// further ones float.
    ///
    /// # Panics
    ///
    /// If `threads` is 0 or more than 1 048 575, or the operating system refuses the first thread;
    /// [`builder`](Self::builder) returns an error instead.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, crossbeam_channel_pool::ThreadPool};
    ///
    /// let pool = ThreadPool::new(4);
    /// pool.execute(|| println!("on one of four workers"));
    /// pool.shutdown().unwrap();
    /// ```
    pub fn new(threads: usize) -> ThreadPool {
        Self::start(Options::with_threads(threads)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Starts a pool with a worker pinned to each of `cores` and `floating` more that are not pinned.
    ///
    /// A core that does not exist is no error: its worker is not pinned, and a `warn!` says so. With the builder's
    /// [`Placement::Cores`](crate::Placement::Cores) it is a [`BuildError`].
    ///
    /// # Panics
    ///
    /// If that makes no worker at all, or more than 1 048 575, or the operating system refuses the first thread.
    #[cfg(feature = "thread-pinning")]
    pub fn with_affinity(cores: &[core_affinity::CoreId], floating: usize) -> ThreadPool {
        Self::start(Options::with_cores(cores, floating)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Chooses threads, name, hooks and policies.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, Idle, crossbeam_channel_pool::ThreadPool};
    ///
    /// let pool = ThreadPool::builder().threads(2).name("replies").idle(Idle::Spin).build()?;
    /// pool.execute(|| println!("sooner than a sleeping worker would"));
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> Builder<ThreadPool> {
        Builder::new(())
    }

    fn start(options: Options) -> Result<ThreadPool, BuildError> {
        let threads = options.thread_count()?;
        let (terms, cold) = (Terms::fixed(threads), options.cold_seats(threads, CHARTER.idle));
        let (source, parker) = (FifoSource::new(), parker::dynamic());
        let handle = Handle::start(Setup { terms, cold, source, parker, charter: CHARTER, options })?;
        Ok(ThreadPool { handle })
    }
}

impl Build for ThreadPool {}

impl Recipe for ThreadPool {
    type Extra = ();

    #[allow(private_interfaces, reason = "see the trait")]
    fn build(options: Options, (): ()) -> Result<Self, BuildError> {
        options.placement.check(CHARTER.label)?;
        Self::start(options)
    }
}

/// A pool with one worker for each core that the caller may use, or as many as `EXECUTORS_NUM_THREADS` says.
///
/// # Panics
///
/// If the operating system refuses the first thread, or the variable is not a number from 1 to 1 048 575.
#[cfg(feature = "defaults")]
impl Default for ThreadPool {
    fn default() -> Self {
        Self::start(Options::new()).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl_pool!(ThreadPool);
impl_futures_executor!(ThreadPool);
