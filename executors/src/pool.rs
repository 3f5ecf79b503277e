//! What every pool of this crate offers beyond [`Executor`].

use crate::{
    common::Executor,
    error::{Rejected, ShutdownError, ShutdownReport, WaitError},
    task::TaskHandle,
};
use std::time::Duration;

/// An executor that returns results, can be waited for, counts what it does, and reports on its shutdown.
///
/// Implemented by every executor of this crate, and sealed, so that methods can be added. Bound a function by `Pool`
/// where it needs one of these methods, and by [`Executor`] where it only submits jobs.
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
/// assert_eq!(pool.stats().finished, 3);
/// ```
pub trait Pool: Executor + Sync + sealed::Sealed {
    /// Like [`execute`](Executor::execute), but a pool that does not accept the job gives it back.
    ///
    /// It waits, or runs the job here, where `execute` would: in a full pool that was built to do so (`Block`,
    /// `RunOnCaller`), and in a `RunNowExecutor`. A full pool that was built to refuse jobs answers at once.
    ///
    /// `Ok` means that the pool has accepted the job and will run it, even if the pool is being closed at this moment.
    /// The job is dropped only if [`shutdown_now`](Self::shutdown_now) comes before it begins, if a pool that is built
    /// to discard the oldest job (`Saturation::DiscardOldest` of the elastic pool) needs its place for another, or if a
    /// `Parker` of the user's panics on the worker that has just taken the job, or has done so on all workers.
    ///
    /// # Errors
    ///
    /// [`Rejected::Closed`] if the pool is closed. [`Rejected::Full`] if it is full and was built to refuse jobs then:
    /// the elastic pool with `Saturation::Refuse`, or with `Saturation::Block` once the timeout is up; the burst pool
    /// with `WhenBusy::Refuse`, or with `WhenBusy::Block` once the timeout is up. The job is inside.
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
    /// rejected.into_job()(); // so it runs here
    /// assert_eq!(told.recv(), Ok("ran"));
    /// ```
    fn try_execute<F>(&self, job: F) -> Result<(), Rejected<F>>
    where
        F: FnOnce() + Send + 'static;

    /// Executes all `jobs`. Returns how many were accepted, which are always the first ones. Waits where
    /// [`execute`](Executor::execute) would.
    ///
    /// If the pool is closed meanwhile, or refuses a job because it is full, the rest is dropped, with one `warn!`.
    ///
    /// # When the jobs begin
    ///
    /// If the iterator knows how many jobs are left (both bounds of its [`size_hint`](Iterator::size_hint) are the
    /// same, as for vectors, arrays, ranges, and maps over them), most pools announce the jobs to their workers in
    /// steps; the contract says [which pools, and in which steps][batches]. There a job may have to wait until the
    /// iterator has returned further jobs, or has ended. So such an iterator must not block until a job has run.
    ///
    /// With an iterator of unknown length, such as that of a channel, and in the other executors, each job is announced
    /// at once, as by [`execute`](Executor::execute).
    ///
    /// [batches]: https://github.com/Bathtor/rust-executors/blob/master/docs/contract.md#batches
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

    /// Runs `job` on the pool and returns a handle to its result. Costs one allocation, or two if the closure is larger
    /// than 16 KiB; in a `ThreadPoolExecutor` one more, as for each job.
    ///
    /// Waits, or runs the job here, where [`execute`](Executor::execute) would.
    ///
    /// If the pool is closed, or refuses the job because it is full, the handle reports
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

    /// Blocks until the pool is idle: every job that it has accepted has run, and so have all jobs that those spawned.
    /// Jobs that arrive before that moment prolong the wait; jobs that arrive after it do not.
    ///
    /// A suspended future is not a job, so this does not wait for it. To wait for one, `await` its
    /// [`JoinHandle`](crate::JoinHandle) or [`TaskHandle`], or call the latter's `wait`.
    ///
    /// What a job owns has been dropped by then, with two exceptions. A thread that [cancels](TaskHandle::cancel) a job
    /// drops the closure, and may not have finished doing so. And in an elastic pool with `Saturation::DiscardOldest`
    /// the drop of a discarded job may be put off, if it would take place within too many others on the same stack.
    ///
    /// Any number of threads may wait. All that wait when the pool becomes idle are released, even if it is given new
    /// jobs before they look. Works on a closed pool, too. A waiting thread yields its core a few times before it
    /// sleeps, as in [`TaskHandle::wait`].
    ///
    /// # Errors
    ///
    /// [`WaitError::FromWorker`] if called from a job or a hook of this pool.
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

    /// Like [`join`](Self::join), for at most `timeout`.
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

    /// Closes the pool, runs what it has accepted, and waits until that has run and the workers have left, for at most
    /// `timeout`.
    ///
    /// May be called any number of times and by many threads; on a pool that is already closed it only waits.
    ///
    /// The limit does not cover the destructors of thread-locals that jobs have left on the pool's threads: once the
    /// workers are done, it waits for these, however long they take; but not if such a destructor calls it.
    ///
    /// # Errors
    ///
    /// [`ShutdownError::FromWorker`] if called from a job or a hook of this pool, [`ShutdownError::TimedOut`] with a
    /// report of what is left. The pool is closed in either case.
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

    /// Closes the pool and drops every job that has not begun. Does not wait for jobs that have.
    ///
    /// May be called from a job of this pool, and any number of times: the report counts from when the pool was built.
    /// Handles of dropped jobs report [`TaskError::Dropped`](crate::TaskError::Dropped); jobs that running jobs still
    /// spawn are dropped, too, and so are those that are being submitted at that moment, perhaps after this has
    /// returned. (A job that a worker has taken, or is about to take, counts as begun; so does one that its submitter
    /// is about to run itself.)
    /// [`shutdown_timeout`](Self::shutdown_timeout) waits for the running jobs.
    ///
    /// A `ThreadPoolExecutor` cannot empty its queue: there each job that has not begun is dropped when its turn comes,
    /// and is counted in later reports.
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
    /// Each worker counts for itself, without any shared write, so the figures of different workers may be some
    /// nanoseconds apart. Counts of past events never decrease.
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
    /// assert_eq!((stats.finished, stats.panicked, stats.queued), (2, 1, 0));
    /// # Ok::<(), WaitError>(())
    /// ```
    #[must_use]
    fn stats(&self) -> Stats;

    /// How many workers the pool can have: most often what it was built with.
    ///
    /// For a subpool it is that of its dispatcher. [`RunNowExecutor`](crate::run_now::RunNowExecutor), which has no
    /// workers, reports 1. How many there are now is in [`stats`](Self::stats).
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{*, crossbeam_workstealing_pool::ThreadPool, sequence};
    ///
    /// let pool = ThreadPool::builder().threads(3).build()?;
    /// let numbers: Vec<u64> = (1..=100).collect();
    /// let one_each = numbers.len().div_ceil(pool.max_workers()).max(1);
    /// let squares = sequence::clusters(&pool, numbers, one_each, |n| n * n)?.wait();
    /// assert_eq!(squares.into_iter().sum::<Result<u64, _>>()?, 338_350);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    fn max_workers(&self) -> usize;
}

pub(crate) mod sealed {
    /// Seals [`Pool`](super::Pool): only this crate can implement it.
    pub trait Sealed {}
}

/// A pool's counters at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Worker threads that exist, or are being started; not those that would be started if there were jobs for them.
    pub workers: usize,
    /// Workers that are not busy. (`idle_count` of the elastic pool counts all workers that have no job.)
    pub idle: usize,
    /// Workers that run jobs, search for some, or have a start hook to call. One that has run out of jobs may look
    /// around for others for a while; it counts as idle meanwhile if it [spins](crate::Idle::Spin), if a thread waits
    /// in [`join`](Pool::join), or in an elastic pool that can start more workers.
    ///
    /// Another thread that runs jobs of the pool in place of a worker, or drops some, counts as a busy worker, as far
    /// as there are workers that are not busy.
    pub busy: usize,
    /// Jobs that wait to be run.
    pub queued: usize,
    /// Jobs that have begun and not ended. A worker on its way from one job to the next counts as running one. If a job
    /// submits another one to a full pool that is built to run jobs on their callers, and so runs it in place, the two
    /// count as one.
    pub running: usize,
    /// Jobs that have ended, by return or by panic. A job that was cancelled before it began, or was run by a job that
    /// waited for it, counts as ended when its turn in the queue comes.
    pub finished: u64,
    /// Jobs that ended by a panic. A [cluster](crate::sequence::clusters) is one job, but counts here once for each
    /// element whose call panicked.
    pub panicked: u64,
    /// Jobs dropped by [`Pool::shutdown_now`], in favour of others by a pool that is built to discard the oldest, or
    /// because the `Parker` of a worker panicked. These include jobs that were cancelled, or run by a job that waited
    /// for them, if their turn had not come.
    pub discarded: u64,
    /// Times a worker took jobs from another worker's queue, or a part that another worker's job had forked.
    pub steals: u64,
    /// Times a worker was called that slept, or was about to.
    pub wake_ups: u64,
}
