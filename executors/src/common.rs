//! The traits that every executor of this crate implements.

use std::sync::Arc;

/// Runs boxed jobs; the object-safe core of [`Executor`].
///
/// Take a `&dyn CanExecute` where any executor will do; or keep an `Arc<dyn CanExecute + Send + Sync>`, which
/// implements this trait, too. A `Box` does not: pass `&*boxed`.
///
/// # Examples
///
/// ```
/// use executors::{CanExecute, crossbeam_channel_pool::ThreadPool, run_now::RunNowExecutor};
/// use std::sync::{Arc, mpsc::channel};
///
/// let (tell, told) = channel();
/// let executors: [Arc<dyn CanExecute + Send + Sync>; 2] =
///     [Arc::new(ThreadPool::new(2)), Arc::new(RunNowExecutor::new())];
/// for executor in &executors {
///     let tell = tell.clone();
///     executor.execute_job(Box::new(move || tell.send(1).unwrap()));
/// }
/// assert_eq!(told.iter().take(2).sum::<u32>(), 2);
/// ```
pub trait CanExecute {
    /// Submits `job`; see [`Executor::execute`] for what that guarantees.
    ///
    /// The pools of this crate store the box as it is, and do not box it again (except for `ThreadPoolExecutor`).
    fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>);
}

// Not for `&E` and `Box<E>`: unlike `Arc<E>`, these are types for which a program that was written for 0.10.0 can have
// an implementation of its own, which would be in conflict with one here.
impl<E: CanExecute + ?Sized> CanExecute for Arc<E> {
    fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>) {
        E::execute_job(self, job);
    }
}

/// A cheaply cloned handle to something that runs jobs.
///
/// All executors of this crate keep [one contract][contract] about what runs, what is dropped and what is reported; the
/// same tests check it for every pool. What the pools of this crate offer beyond these methods is in
/// [`Pool`](crate::Pool).
///
/// [contract]: https://github.com/Bathtor/rust-executors/blob/master/docs/contract.md
///
/// # Examples
///
/// ```
/// use executors::*;
/// use executors::crossbeam_channel_pool::ThreadPool;
/// use std::sync::mpsc::channel;
///
/// let pool = ThreadPool::new(2);
/// let (sender, receiver) = channel();
/// for number in 0..4 {
///     let sender = sender.clone();
///     pool.execute(move || sender.send(number).unwrap());
/// }
/// assert_eq!(receiver.iter().take(4).sum::<i32>(), 6);
/// pool.shutdown().expect("all jobs ran, all workers left");
/// ```
pub trait Executor: CanExecute + Clone + Send {
    /// Submits `job` to this executor. If it is accepted, it runs exactly once, on this executor, unless the pool is
    /// told to discard it before it begins ([`shutdown_now`](crate::Pool::shutdown_now), `Saturation::DiscardOldest`).
    ///
    /// # Refused jobs
    ///
    /// A job is refused
    ///
    /// - if the executor is closed, unless one of its own jobs submits it while the executor drains;
    /// - if the executor is full, and was built to refuse jobs then.
    ///
    /// A refused job is dropped, and a `warn!` says so. [`Pool::try_execute`](crate::Pool::try_execute) gives it back
    /// instead.
    ///
    /// # How long it takes
    ///
    /// The call does not wait for the job, with these exceptions:
    ///
    /// - A [`RunNowExecutor`](crate::run_now::RunNowExecutor) runs the job here, on the caller's thread.
    /// - A full elastic or burst pool may have been built to block the caller until it has room; a full elastic pool
    ///   may also have been built to run the job here.
    /// - If the system refuses a thread to a pool that has no other, the job may run here, and others before it.
    ///
    /// Two things may take some time:
    ///
    /// - The call may start a thread, which takes some ten microseconds.
    /// - After an idle period, the call for the second job, or for one of the next, may yield the caller's core once,
    ///   to a worker that may be waiting for it. A yield can last as long as the time slice of another thread.
    ///
    /// # Order and allocations
    ///
    /// In which order jobs start [depends on the pool][order]; the work-stealing pool promises none.
    ///
    /// [order]: https://github.com/Bathtor/rust-executors/blob/master/docs/contract.md#order
    ///
    /// Closures of up to [`INLINE_BYTES`](crate::INLINE_BYTES) are stored without an allocation. An elastic pool with a
    /// bound has less room for a closure, because it stores a pointer beside it. `ThreadPoolExecutor` allocates for
    /// each job.
    fn execute<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        self.execute_job(Box::new(job));
    }

    /// Closes the executor to new jobs and returns at once; the jobs that it has accepted still run, in the background.
    ///
    /// May be called from a job of this executor.
    fn shutdown_async(&self);

    /// Closes the executor and waits, for at most five seconds, until everything it accepted has run and its workers
    /// have left.
    ///
    /// It does not wait for a suspended future, which is dropped if it is woken after the end: await its handle first.
    ///
    /// The limit does not cover the destructors of thread-locals that jobs have left on the pool's threads: once the
    /// workers are done, it waits for these, however long they take; but not if such a destructor calls it.
    ///
    /// # Errors
    ///
    /// As [`shutdown_borrowed`](Self::shutdown_borrowed).
    fn shutdown(self) -> Result<(), String> {
        self.shutdown_borrowed()
    }

    /// [`shutdown`](Self::shutdown) without giving up the handle.
    ///
    /// # Errors
    ///
    /// If the executor was closed before, if this is called from one of its own jobs (such a wait could never end; the
    /// executor is closed nevertheless), or if jobs are still running after five seconds: they run on, but the call no
    /// longer waits for them. [`Pool::shutdown_timeout`](crate::Pool::shutdown_timeout) waits as long as you choose and
    /// returns a typed report.
    fn shutdown_borrowed(&self) -> Result<(), String>;

    /// Whether this executor, which has refused or discarded a job, may accept one later: it is open, and was full.
    ///
    /// A [timer](crate::timer) asks this before it gives up a repeated job. By default it is `false`. An executor that
    /// passes jobs on to another should pass this question on, too.
    fn may_accept_later(&self) -> bool {
        false
    }

    /// Describes this executor's metrics to the `metrics` recorder.
    ///
    /// All executors of this crate do so: see [metrics](crate#metrics). By default this does nothing.
    #[cfg(feature = "produce-metrics")]
    fn register_metrics(&self) {}
}
