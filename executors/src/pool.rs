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
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, crossbeam_workstealing_pool::small_pool};
    /// use std::sync::mpsc::channel;
    ///
    /// let pool = small_pool(2);
    /// let (tell, told) = channel();
    /// let job = move || tell.send("ran").unwrap();
    /// pool.shutdown_async();
    /// let rejected = pool.try_execute(job).unwrap_err();
    /// rejected.into_job()(); // then here
    /// assert_eq!(told.recv(), Ok("ran"));
    /// ```
    fn try_execute<F>(&self, job: F) -> Result<(), Rejected<F>>
    where
        F: FnOnce() + Send + 'static;

    /// Executes all `jobs`. Returns how many were accepted: the first so many. Waits where
    /// [`execute`](Executor::execute) would.
    ///
    /// In the channel pool, the work-stealing pool, the dispatcher (except its bound subpools), an elastic pool without
    /// a bound on its queue, and a burst pool whose workers steal and whose jobs queue (the default), workers are not
    /// told of each job but in steps: of the first, the next two, the next four and so on, up to 256. That is, if the
    /// iterator knows how many jobs are left (both bounds of its [`size_hint`](Iterator::size_hint) are the same, as
    /// for vectors, arrays, ranges, and maps over them). Then a job may begin only when the iterator has given others
    /// after it, or has ended: it must not block until a job has run. Of an iterator of unknown length, such as that of
    /// a channel, and in the other executors, they are told of each job, as by [`execute`](Executor::execute).
    ///
    /// If the pool is closed meanwhile, or refuses one as it is full, the rest is dropped, with one `warn!`.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, crossbeam_workstealing_pool::small_pool};
    /// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    ///
    /// let (pool, sum) = (small_pool(2), Arc::new(AtomicU64::new(0)));
    /// let add = |n| {
    ///     let sum = Arc::clone(&sum);
    ///     move || _ = sum.fetch_add(n, Ordering::Relaxed)
    /// };
    /// assert_eq!(pool.execute_batch((1..=100).map(add)), 100);
    /// pool.join()?;
    /// assert_eq!(sum.load(Ordering::Relaxed), 5050);
    /// # Ok::<(), WaitError>(())
    /// ```
    fn execute_batch<I>(&self, jobs: I) -> usize
    where
        I: IntoIterator,
        I::Item: FnOnce() + Send + 'static;

    /// Runs `job` on the pool and returns a handle to its result. Costs one allocation.
    ///
    /// If the pool is closed, or refuses the job as it is full, the handle reports
    /// [`TaskError::Dropped`](crate::TaskError::Dropped).
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, crossbeam_workstealing_pool::small_pool};
    ///
    /// let pool = small_pool(2);
    /// let (seven, six) = (pool.submit(|| 3 + 4), pool.submit(|| 2 * 3));
    /// assert_eq!(seven.wait()? * six.wait()?, 42);
    /// # Ok::<(), TaskError>(())
    /// ```
    fn submit<F, T>(&self, job: F) -> TaskHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static;

    /// Blocks until the pool is idle: everything that it has accepted, and all that those jobs spawned, has run. Jobs
    /// that come in before that moment prolong the wait; jobs that come in after it do not.
    ///
    /// A future that waits to be woken is no job: nobody waits for it. [`JoinHandle`](crate::JoinHandle) and
    /// [`TaskHandle`] do, by `await` or `wait`.
    ///
    /// What a job owns is dropped by then; but not so what one owns that was [cancelled](TaskHandle::cancel): whoever
    /// cancels it drops that, and may still be about it.
    ///
    /// Any number of threads may wait; all who do when the pool becomes idle are released, also if it is given jobs
    /// before they look. Works on a closed pool, too. A thread lets others have its core a few times before it sleeps,
    /// as in [`TaskHandle::wait`].
    ///
    /// # Errors
    ///
    /// [`WaitError::FromWorker`] if called from a job of this pool.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, crossbeam_workstealing_pool::small_pool};
    /// use std::sync::mpsc::channel;
    ///
    /// let (pool, (tell, told)) = (small_pool(2), channel());
    /// let inner = pool.clone();
    /// pool.execute(move || inner.execute(move || tell.send(1).unwrap()));
    /// pool.join()?;
    /// assert_eq!(told.try_recv(), Ok(1), "the job of the job has run, too");
    ///
    /// let inner = pool.clone();
    /// assert_eq!(pool.submit(move || inner.join()).wait().unwrap(), Err(WaitError::FromWorker));
    /// # Ok::<(), WaitError>(())
    /// ```
    fn join(&self) -> Result<(), WaitError>;

    /// [`join`](Self::join) for at most `timeout`.
    ///
    /// # Errors
    ///
    /// As `join`, and [`WaitError::TimedOut`].
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, crossbeam_workstealing_pool::small_pool};
    /// use std::{sync::mpsc::channel, time::Duration};
    ///
    /// let (pool, (open, gate)) = (small_pool(2), channel::<()>());
    /// pool.execute(move || assert!(gate.recv().is_err()));
    /// assert_eq!(pool.join_timeout(Duration::from_millis(1)), Err(WaitError::TimedOut));
    /// drop(open);
    /// assert_eq!(pool.join_timeout(Duration::from_secs(60)), Ok(()));
    /// ```
    fn join_timeout(&self, timeout: Duration) -> Result<(), WaitError>;

    /// Closes the pool, runs what it has accepted, and waits for that and for the workers' end, at most `timeout`.
    ///
    /// May be called any number of times and by many threads; a pool closed before is simply waited for. Once all
    /// workers have signed off it also waits, without a limit, for the destructors of thread-locals that jobs have left
    /// on them.
    ///
    /// # Errors
    ///
    /// [`ShutdownError::FromWorker`] if called from a job of this pool, [`ShutdownError::TimedOut`] with a report of
    /// what is left. The pool is closed in either case.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, crossbeam_workstealing_pool::small_pool};
    /// use std::{sync::mpsc::channel, time::Duration};
    ///
    /// let (pool, (open, gate)) = (small_pool(2), channel::<()>());
    /// pool.execute(move || assert!(gate.recv().is_err()));
    /// let late = pool.shutdown_timeout(Duration::from_millis(1)).unwrap_err();
    /// assert!(matches!(late, ShutdownError::TimedOut { workers: 1.., .. }));
    /// drop(open);
    /// assert_eq!(pool.shutdown_timeout(Duration::from_secs(60))?.finished, 1);
    /// # Ok::<(), ShutdownError>(())
    /// ```
    fn shutdown_timeout(&self, timeout: Duration) -> Result<ShutdownReport, ShutdownError>;

    /// Closes the pool and drops every job that has not begun. Does not wait for those that have.
    ///
    /// May be called from a job of this pool, and any number of times: the report counts since the pool was built.
    /// Handles of dropped jobs report [`TaskError::Dropped`](crate::TaskError::Dropped); jobs that running jobs still
    /// spawn are dropped, too. [`shutdown_timeout`](Self::shutdown_timeout) waits for those that run.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, crossbeam_workstealing_pool::small_pool};
    /// use std::sync::mpsc::channel;
    ///
    /// let (pool, (open, gate), (tell, told)) = (small_pool(1), channel::<()>(), channel());
    /// let runs = pool.submit(move || {
    ///     tell.send(()).unwrap();
    ///     gate.recv().is_err()
    /// });
    /// told.recv()?;
    /// let waits = pool.submit(|| ());
    /// assert_eq!(pool.shutdown_now().discarded, 1);
    /// assert!(matches!(waits.wait(), Err(TaskError::Dropped)));
    /// drop(open);
    /// assert_eq!(runs.wait()?, true);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn shutdown_now(&self) -> ShutdownReport;

    /// A snapshot of the pool's counters.
    ///
    /// Workers count for themselves, without any shared write, so the figures of different workers may be some
    /// nanoseconds apart. The counts of what has happened never go back.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, crossbeam_workstealing_pool::small_pool};
    ///
    /// let pool = small_pool(2);
    /// pool.submit(|| ()).detach();
    /// pool.submit(|| panic!("expected")).detach();
    /// pool.join()?;
    /// let stats = pool.stats();
    /// assert_eq!((stats.done, stats.panicked, stats.queued), (2, 1, 0));
    /// # Ok::<(), WaitError>(())
    /// ```
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
    /// Worker threads that there are, or that are on their way: not those that would come if there were jobs for them.
    pub workers: usize,
    /// Workers that have nothing to do, and do not look for jobs. (`idle_count` of the elastic pool counts all that
    /// have no job.)
    pub idle: usize,
    /// Workers that are running or looking for jobs.
    pub busy: usize,
    /// Jobs that wait to be run.
    pub queued: usize,
    /// Jobs that have begun and not ended. A worker on its way from one job to the next counts as running one. A job
    /// that another one runs in place, as it has given it to a full pool that is built to run jobs on their callers,
    /// counts together with that.
    pub running: usize,
    /// Jobs that have ended, by return or by panic. One that was cancelled before it began, or was run by a job that
    /// waited for it, counts as ended when its turn has come.
    pub done: u64,
    /// Jobs that ended by a panic; and of a [cluster](crate::sequence::clusters), which is one job, each element whose
    /// call did.
    pub panicked: u64,
    /// Jobs dropped by [`Pool::shutdown_now`], and in favour of others by a pool that is built to discard the oldest.
    pub discarded: u64,
    /// Times a worker took jobs from another worker's queue, or a part that another worker's job had forked.
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
                $crate::futures_executor::submit(self, home, future)
            }
        }
    };
}
#[cfg(feature = "_futures")]
pub(crate) use impl_futures_executor;
