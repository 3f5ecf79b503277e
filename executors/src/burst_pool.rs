//! A thread pool for long idle periods, and then many jobs at once that must start now.
//!
//! Each worker has a mailbox of its own, and jobs are dealt round robin to idle workers, so there is no queue for which
//! all compete. The submitter itself wakes workers until as many are awake as there are cores, whatever these are
//! doing; if there are more jobs, the workers that come wake the next. An idle worker is claimed for one job, so while
//! there are no more jobs than idle workers, no job waits for another. The pool's [`WhenBusy`] decides what happens to
//! a job when all workers are busy. How this works, and why nothing is lost, is in [a README][readme] of the
//! sources.
//!
//! [readme]: https://github.com/Bathtor/rust-executors/blob/master/executors/src/burst_pool/README.md
//!
//! There are two kinds:
//!
//! - [`BurstPool<T>`](BurstPool) takes values. Each worker has a handler of its own, given to
//!   [`spawn`](BurstPool::spawn).
//! - [`ThreadPool`] takes closures, and is an [`Executor`](crate::Executor) like the others.
//!
//! A worker that has nothing to do takes jobs from the mailboxes of others ([`stealing`](crate::Builder::stealing)), so
//! that jobs of uneven length do not wait behind a busy worker while another is idle. Without stealing, what was dealt
//! to a worker is run by that worker and in order (with two [exceptions](crate::Builder::stealing)), and the submitter
//! wakes that worker for it.
//!
//! On Linux the workers ask for short [time slices](crate::Builder::time_slice) by default, so that a worker that is
//! woken begins at once even if another thread, such as the one that woke it, is running on that core. They do not ask
//! where the process has a filter of system calls, as in most containers.
//!
//! # Examples
//!
//! ```
//! use executors::burst_pool::BurstPool;
//! use std::sync::mpsc::channel;
//!
//! let mut pool = BurstPool::new();
//! let (tell, told) = channel();
//! for worker in 0..4 {
//!     let tell = tell.clone();
//!     pool.spawn(move |value: u32| tell.send((worker, value)).unwrap());
//! }
//! for value in 0..4 {
//!     pool.send(value).unwrap();
//! }
//! let mut values: Vec<u32> = told.iter().take(4).map(|(_worker, value)| value).collect();
//! values.sort_unstable();
//! assert_eq!(values, [0, 1, 2, 3]);
//! pool.shutdown().unwrap();
//! ```

mod error;
mod handle;
#[cfg(all(test, executors_loom))]
mod model;
mod pool;
mod recipe;
mod team;
mod when_busy;

pub use error::BurstError;
pub use pool::BurstPool;
pub use when_busy::WhenBusy;

use crate::{
    backing::{impl_futures_executor, impl_pool},
    builder::Builder,
    crew::Charter,
    options::{Fairness, Idle},
    time_slice::TimeSlice,
};
use handle::Handle;
use recipe::BurstOptions;
use std::time::Duration;

const CHARTER: Charter = Charter {
    label: "burst_pool",
    thread_name: |worker| format!("burst-pool-worker-{worker}"),
    // After a burst comes an idle period: to search for more would only take a core from workers that are still to
    // come.
    idle: Idle::Park { spin: Duration::ZERO },
    // Bounds how long a job that was dealt to a blocked worker waits, if all other workers always have jobs of their
    // own.
    fairness: Fairness::Counted(1024),
    // A job is to start now, whichever thread is running.
    time_slice: TimeSlice::Short,
};

/// A handle to a burst pool that runs closures. See the [module](self).
///
/// Handles are cheap to clone. When the last one is dropped, the pool closes, runs what it has accepted, and its
/// threads end; the drop does not wait for that.
///
/// # Examples
///
/// ```
/// use executors::{Executor, Pool, burst_pool::ThreadPool};
///
/// let pool = ThreadPool::new(10);
/// let handles: Vec<_> = (0..10).map(|n| pool.submit(move || n * n)).collect();
/// let squares: u32 = handles.into_iter().map(|handle| handle.wait().unwrap()).sum();
/// assert_eq!(squares, 285);
/// pool.shutdown().unwrap();
/// ```
#[derive(Clone, Debug)]
#[must_use = "a pool that is dropped at once runs nothing more"]
pub struct ThreadPool {
    handle: Handle<false>,
}

impl ThreadPool {
    /// Starts a pool of `threads` workers.
    ///
    /// With the feature `thread-pinning`, each worker is pinned to a core of its own, as long as there are cores;
    /// further ones float.
    ///
    /// # Panics
    ///
    /// If `threads` is 0 or more than 1 048 575, or the operating system refuses a thread; [`builder`](Self::builder)
    /// returns an error instead.
    pub fn new(threads: usize) -> ThreadPool {
        Self::builder().threads(threads).build().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Chooses threads, name, hooks and policies.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, Pool, Rejected, burst_pool::{ThreadPool, WhenBusy}};
    ///
    /// let pool = ThreadPool::builder().threads(1).when_busy(WhenBusy::Refuse).build()?;
    /// let (tell, told) = std::sync::mpsc::channel::<()>();
    /// pool.try_execute(move || assert!(told.recv().is_err())).expect("the worker is idle");
    /// assert!(matches!(pool.try_execute(|| ()), Err(Rejected::Full(_job))));
    /// drop(tell);
    /// pool.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> Builder<ThreadPool> {
        Builder::new(BurstOptions::DEFAULT)
    }
}

/// A pool with one worker for each core that the caller may use, or as many as `EXECUTORS_NUM_THREADS` says.
///
/// # Panics
///
/// If the operating system refuses a thread, or the variable is not a number from 1 to 1 048 575.
#[cfg(feature = "defaults")]
impl Default for ThreadPool {
    fn default() -> Self {
        Self::builder().build().unwrap_or_else(|error| panic!("{error}"))
    }
}

impl_pool!(ThreadPool);
impl_futures_executor!(ThreadPool);
