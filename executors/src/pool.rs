//! What every pool of this crate offers beyond [`Executor`].

use crate::{
    common::Executor,
    error::{Rejected, ShutdownError, ShutdownReport, WaitError},
    handle::TaskHandle,
};
use std::time::Duration;

/// An executor that gives results back, can be waited for, counted and closed with a report.
///
/// Implemented by every executor of this crate, and by no other: it may grow. Bound a function by `Pool` where it needs
/// one of these methods and by [`Executor`] where it only gives jobs away.
///
/// # Examples
///
/// ```
/// use executors::*;
/// use executors::crossbeam_workstealing_pool::small_pool;
///
/// let pool = small_pool(2);
/// let handles: Vec<_> = (1..=3_u64).map(|n| pool.submit(move || n * n)).collect();
/// let squares: u64 = handles.into_iter().map(|handle| handle.wait().unwrap()).sum();
/// assert_eq!(squares, 14);
///
/// pool.join().expect("not called from a worker");
/// assert_eq!(pool.stats().done, 3);
/// ```
pub trait Pool: Executor + Sync + sealed::Sealed {
    /// [`execute`](Executor::execute), but a pool that does not accept the job gives it back.
    ///
    /// `Ok` means the pool has accepted the job and will run it, also if it is being closed at this moment. Not so if
    /// [`shutdown_now`](Self::shutdown_now) comes before the job begins, or, in a pool that is built to discard the
    /// oldest (`Saturation::DiscardOldest` of the elastic pool), if others need its place: then it is dropped.
    ///
    /// # Errors
    ///
    /// [`Rejected`] with the job inside if the pool is closed; or if it is full, and was built to refuse jobs then: the
    /// elastic pool with `Saturation::Refuse`, or with `Saturation::Block` when the time to wait is up, the burst pool
    /// with `WhenBusy::GiveBack`, or with `WhenBusy::Block` likewise. Their `offer` tells which it was.
    fn try_execute<F>(&self, job: F) -> Result<(), Rejected<F>>
    where
        F: FnOnce() + Send + 'static;

    /// Executes all `jobs`, telling the workers of the first, the next two, the next four and so on, in steps of up to
    /// 256, and not of each. Returns how many were accepted.
    ///
    /// If the pool is closed meanwhile, or refuses one as it is full, the rest is dropped, with one `warn!`.
    fn execute_batch<I>(&self, jobs: I) -> usize
    where
        I: IntoIterator,
        I::Item: FnOnce() + Send + 'static;

    /// Runs `job` on the pool and returns a handle to its result. Costs one allocation.
    ///
    /// If the pool is closed, or refuses the job as it is full, the handle reports
    /// [`TaskError::Dropped`](crate::TaskError::Dropped).
    fn submit<F, T>(&self, job: F) -> TaskHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static;

    /// Blocks until the pool is idle: everything accepted before this call, and all that those jobs spawned, has run.
    ///
    /// Any number of threads may wait; all who do when the pool becomes idle are released, also if it is given jobs
    /// before they look. Before that, jobs that are given to it prolong the wait. Works on a closed pool, too. A thread
    /// lets others have its core a few times before it sleeps, as in [`TaskHandle::wait`].
    ///
    /// # Errors
    ///
    /// [`WaitError::FromWorker`] if called from a job of this pool.
    fn join(&self) -> Result<(), WaitError>;

    /// [`join`](Self::join) for at most `timeout`.
    ///
    /// # Errors
    ///
    /// As `join`, and [`WaitError::TimedOut`].
    fn join_timeout(&self, timeout: Duration) -> Result<(), WaitError>;

    /// Closes the pool, runs what it has accepted, and waits for that and for the workers' end, at most `timeout`.
    ///
    /// May be called any number of times and by many threads; a pool closed before is simply waited for.
    ///
    /// # Errors
    ///
    /// [`ShutdownError::FromWorker`] if called from a job of this pool, [`ShutdownError::TimedOut`] with a report of
    /// what is left. The pool is closed in either case.
    fn shutdown_timeout(&self, timeout: Duration) -> Result<ShutdownReport, ShutdownError>;

    /// Closes the pool and drops every job that has not begun. Does not wait for those that have.
    ///
    /// May be called from a job of this pool. Handles of dropped jobs report
    /// [`TaskError::Dropped`](crate::TaskError::Dropped); jobs that running jobs still spawn are dropped, too.
    fn shutdown_now(&self) -> ShutdownReport;

    /// A snapshot of the pool's counters.
    ///
    /// Workers count for themselves, without any shared write, so the figures of different workers may be some
    /// nanoseconds apart. The counts of what has happened never go back.
    fn stats(&self) -> Stats;
}

pub(crate) mod sealed {
    /// Keeps [`Pool`](super::Pool) to this crate.
    pub trait Sealed {}
}

/// A pool's counters at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Worker threads alive.
    pub workers: usize,
    /// Workers that have nothing to do, and do not look for jobs. (`idle_count` of the elastic pool counts all that
    /// have no job.)
    pub idle: usize,
    /// Workers that are running or looking for jobs.
    pub busy: usize,
    /// Jobs that wait to be run.
    pub queued: usize,
    /// Jobs that have begun and not ended.
    pub running: usize,
    /// Jobs that have ended, by return or by panic.
    pub done: u64,
    /// Jobs that ended by a panic.
    pub panicked: u64,
    /// Jobs dropped by [`Pool::shutdown_now`], and in favour of others by a pool that is built to discard the oldest.
    pub discarded: u64,
    /// Times a worker took jobs from another worker's queue.
    pub steals: u64,
    /// Times a worker was woken from sleep.
    pub wake_ups: u64,
}

/// Implements [`Executor`] and [`Pool`] for a type whose field `handle` is its [`Backing`](crate::backing::Backing).
macro_rules! impl_pool {
    ($pool:ty $(, $($generics:tt)+)?) => {
        impl $(<$($generics)+>)? $crate::CanExecute for $pool {
            fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>) {
                $crate::backing::Backing::execute(&self.handle, job);
            }
        }

        impl $(<$($generics)+>)? $crate::Executor for $pool {
            #[inline(always)]
            fn execute<F>(&self, job: F)
            where
                F: FnOnce() + Send + 'static,
            {
                $crate::backing::Backing::execute(&self.handle, job);
            }

            fn shutdown_async(&self) {
                $crate::backing::Backing::shutdown_async(&self.handle);
            }

            fn shutdown_borrowed(&self) -> Result<(), String> {
                $crate::backing::Backing::shutdown_borrowed(&self.handle)
            }

            #[cfg(feature = "produce-metrics")]
            fn register_metrics(&self) {
                $crate::meter::Exporter::describe();
            }
        }

        impl $(<$($generics)+>)? $crate::pool::sealed::Sealed for $pool {}

        impl $(<$($generics)+>)? $crate::Pool for $pool {
            #[inline(always)]
            fn try_execute<F>(&self, job: F) -> Result<(), $crate::Rejected<F>>
            where
                F: FnOnce() + Send + 'static,
            {
                $crate::backing::Backing::try_execute(&self.handle, job)
            }

            fn execute_batch<I>(&self, jobs: I) -> usize
            where
                I: IntoIterator,
                I::Item: FnOnce() + Send + 'static,
            {
                $crate::backing::Backing::execute_batch(&self.handle, jobs)
            }

            fn submit<F, T>(&self, job: F) -> $crate::TaskHandle<T>
            where
                F: FnOnce() -> T + Send + 'static,
                T: Send + 'static,
            {
                $crate::backing::Backing::submit(&self.handle, job)
            }

            fn join(&self) -> Result<(), $crate::WaitError> {
                $crate::backing::Backing::join(&self.handle, None)
            }

            fn join_timeout(&self, timeout: std::time::Duration) -> Result<(), $crate::WaitError> {
                $crate::backing::Backing::join(&self.handle, Some(timeout))
            }

            fn shutdown_timeout(
                &self,
                timeout: std::time::Duration,
            ) -> Result<$crate::ShutdownReport, $crate::ShutdownError> {
                $crate::backing::Backing::shutdown_timeout(&self.handle, timeout)
            }

            fn shutdown_now(&self) -> $crate::ShutdownReport {
                $crate::backing::Backing::shutdown_now(&self.handle)
            }

            fn stats(&self) -> $crate::Stats {
                $crate::backing::Backing::stats(&self.handle)
            }
        }
    };
}
pub(crate) use impl_pool;

/// Implements [`FuturesExecutor`](crate::FuturesExecutor) in the same way.
#[cfg(feature = "_futures")]
macro_rules! impl_futures_executor {
    ($pool:ty $(, $($generics:tt)+)?) => {
        impl $(<$($generics)+>)? $crate::FuturesExecutor for $pool {
            fn spawn<R: Send + 'static>(
                &self,
                future: impl std::future::Future<Output = R> + 'static + Send,
            ) -> $crate::JoinHandle<R> {
                self.handle.spawn(future)
            }

            fn submit_future<R: Send + 'static>(
                &self,
                future: impl std::future::Future<Output = R> + Send + 'static,
            ) -> $crate::TaskHandle<R> {
                let home = $crate::backing::Backing::home(&self.handle);
                let (driver, handle) = $crate::handle::continuation(home, future);
                self.handle.spawn(driver).detach();
                handle
            }
        }
    };
}
#[cfg(feature = "_futures")]
pub(crate) use impl_futures_executor;
