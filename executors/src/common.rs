//! The vocabulary that every executor of this crate speaks.

use std::sync::Arc;

/// Runs boxed jobs; the object-safe core of [`Executor`].
///
/// Take a `&dyn CanExecute` where a program wants *some* executor and does not care which; or keep an
/// `Arc<dyn CanExecute + Send + Sync>`, which is one, too.
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
    /// Hands `job` to the executor; see [`Executor::execute`] for what that promises.
    ///
    /// The pools of this crate store the box as it is, and do not box it once more.
    fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>);
}

impl<E: CanExecute + ?Sized> CanExecute for Arc<E> {
    fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>) {
        E::execute_job(self, job);
    }
}

/// A cheaply cloned handle to something that runs jobs.
///
/// All executors of this crate keep [one contract][contract] about what runs, what is dropped and what is reported,
/// which is tested over every pool. What the pools of this crate offer beyond these
/// methods is in [`Pool`](crate::Pool).
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
    /// Gives `job` to this executor. If it is accepted, it runs exactly once, on this executor, unless the pool is told
    /// to discard it before it begins ([`shutdown_now`](crate::Pool::shutdown_now), `Saturation::DiscardOldest`).
    ///
    /// Returns without waiting for the job, except that a [`RunNowExecutor`](crate::run_now::RunNowExecutor) runs it
    /// here; and that an elastic or a burst pool that was built so waits until it has room, or runs the job here. The
    /// call may start a thread, which takes some ten microseconds. Behind some quiet, a call for the second job, or one
    /// of the next, may yield the caller's core once, to a worker that may be waiting for it; a yield may last as long
    /// as the time slice of another thread. In which order jobs start is said of each pool.
    ///
    /// A job that is not accepted is dropped, and a `warn!` says so;
    /// [`Pool::try_execute`](crate::Pool::try_execute) gives it back instead. That is so if the executor is closed,
    /// unless one of its own jobs calls this while it drains; and if it is full, and was built to refuse jobs then.
    /// Closures of up to [`INLINE_BYTES`](crate::INLINE_BYTES) are stored without an allocation.
    fn execute<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        self.execute_job(Box::new(job));
    }

    /// Closes the executor to new jobs and returns at once; what it has accepted still runs, in the background.
    ///
    /// May be called from a job of this executor.
    fn shutdown_async(&self);

    /// Closes the executor and waits, for at most five seconds, until everything it accepted has run and its workers
    /// have left.
    ///
    /// A future that waits to be woken is not waited for, and is dropped when it is woken behind the end: await it
    /// before, by its handle.
    ///
    /// Once all workers have signed off it also waits, without a limit, for the destructors of thread-locals that jobs
    /// have left on them.
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
    /// If the executor was closed before, if this is called from one of its own jobs (waiting there could never end;
    /// the executor is closed nevertheless), or if jobs are still running after five seconds: they go on, nobody
    /// waits. [`Pool::shutdown_timeout`](crate::Pool::shutdown_timeout) waits as long as you choose and returns a
    /// typed report.
    fn shutdown_borrowed(&self) -> Result<(), String>;

    /// Describes this executor's metrics to the `metrics` recorder.
    ///
    /// Does nothing unless an executor says otherwise.
    #[cfg(feature = "produce-metrics")]
    fn register_metrics(&self) {}
}
