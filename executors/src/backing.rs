//! The trait that derives [`Executor`](crate::Executor) and [`Pool`](crate::Pool), all that a user can ask of any pool,
//! from what differs between kinds of pools.

mod derive;

#[cfg(feature = "_futures")]
pub(crate) use self::derive::impl_futures_executor;
pub(crate) use self::derive::impl_pool;

#[cfg(feature = "_futures")]
use crate::futures_executor::JoinHandle;
use crate::{
    containment::{discard, ignore, tell},
    error::{Rejected, ShutdownError, ShutdownReport, WaitError},
    local::{self, Home, PoolId},
    pool::Stats,
    task::{TaskHandle, task},
};
use std::time::Duration;

/// How long the methods of [`Executor`](crate::Executor) wait for an executor's end.
pub(crate) const SHUTDOWN_PATIENCE: Duration = Duration::from_secs(5);

/// Closures and futures that are larger than this, in bytes, are boxed before they are wrapped in anything that is
/// moved on a worker's or a timer's stack. Chosen freely: a hundredth of such a stack, and far beyond the size at which
/// an allocation pays off. (Boxed as `dyn`, so that no second instance is compiled for smaller ones.)
pub(crate) const HUGE: usize = 16 << 10;

/// The handle inside a pool. The provided methods do what [`Executor`](crate::Executor) and [`Pool`](crate::Pool) say
/// of the methods of the same name.
pub(crate) trait Backing {
    /// What a second `shutdown` says of the pool.
    const CLOSED_BEFORE: &str = "is already shutting down!";

    /// What log messages say of a full pool.
    const WHEN_FULL: &str = "is full";

    fn name(&self) -> &str;

    fn id(&self) -> PoolId;

    /// Where jobs belong that are submitted with this handle.
    fn home(&self) -> Home {
        Home::of(self.id())
    }

    /// Takes the job, or gives it back if the pool is closed to it, or full.
    fn admit<F: FnOnce() + Send + 'static>(&self, closure: F) -> Result<(), Rejected<F>>;

    /// Closes the pool to jobs from outside. Returns whether it was open.
    fn close(&self) -> bool;

    /// Closes the pool and drops what has not begun.
    fn discard(&self);

    /// Blocks until the pool is idle, at most for `timeout`. Returns whether it is.
    fn await_idle(&self, timeout: Option<Duration>) -> bool;

    /// Blocks until a closed pool has reached its end, at most for `timeout`. Returns whether it has.
    fn await_end(&self, timeout: Duration) -> bool;

    /// How many threads are still to be waited for.
    fn workers_left(&self) -> usize;

    fn report(&self) -> ShutdownReport;

    fn stats(&self) -> Stats;

    fn max_workers(&self) -> usize;

    /// Whether the pool is open to all, and may nevertheless be too full to admit a job as it is.
    fn may_be_full(&self) -> bool {
        false
    }

    /// Drops a job that was not admitted, and says why.
    fn drop_refused<F>(&self, refused: Rejected<F>) {
        match refused {
            Rejected::Closed(closure) => ignore(closure, self.name()),
            Rejected::Full(closure) => {
                tell(|| log::warn!("Ignoring a job, as {} {}.", self.name(), Self::WHEN_FULL));
                discard(closure);
            }
        }
    }

    #[inline(always)]
    fn execute<F: FnOnce() + Send + 'static>(&self, closure: F) {
        if size_of::<F>() > HUGE {
            let boxed: Box<dyn FnOnce() + Send> = Box::new(closure);
            return self.execute(boxed);
        }
        if let Err(refused) = self.admit(closure) {
            self.drop_refused(refused);
        }
    }

    #[inline(always)]
    fn try_execute<F: FnOnce() + Send + 'static>(&self, closure: F) -> Result<(), Rejected<F>> {
        self.admit(closure)
    }

    fn execute_batch<I>(&self, closures: I) -> usize
    where
        I: IntoIterator,
        I::Item: FnOnce() + Send + 'static,
    {
        self.admit_each(closures)
    }

    /// Admits one after the other, up to the first that is not admitted. Returns how many were.
    fn admit_each<I>(&self, closures: I) -> usize
    where
        I: IntoIterator,
        I::Item: FnOnce() + Send + 'static,
    {
        let (mut accepted, mut closures) = (0, closures.into_iter());
        while let Some(closure) = closures.next() {
            if let Err(refused) = self.admit(closure) {
                self.drop_refused(refused);
                discard(closures);
                break;
            }
            accepted += 1;
        }
        accepted
    }

    fn submit<F, T>(&self, closure: F) -> TaskHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        if size_of::<F>() > HUGE {
            let boxed: Box<dyn FnOnce() -> T + Send> = Box::new(closure);
            return self.submit(boxed);
        }
        let (job, handle) = task(self.home(), closure);
        // A job that is not admitted tells its handle so when it is dropped.
        let _ = self.admit(job);
        handle
    }

    fn join(&self, timeout: Option<Duration>) -> Result<(), WaitError> {
        if local::is_at(self.id()) {
            return Err(WaitError::FromWorker);
        }
        if self.await_idle(timeout) { Ok(()) } else { Err(WaitError::TimedOut) }
    }

    fn shutdown_async(&self) {
        if !self.close() {
            tell(|| log::warn!("{} {}", self.name(), Self::CLOSED_BEFORE));
        }
    }

    fn shutdown_borrowed(&self) -> Result<(), String> {
        if !self.close() {
            return Err(format!("Pool {}", Self::CLOSED_BEFORE));
        }
        self.shutdown_timeout(SHUTDOWN_PATIENCE).map(drop).map_err(ShutdownError::into_message)
    }

    fn shutdown_timeout(&self, timeout: Duration) -> Result<ShutdownReport, ShutdownError> {
        self.close();
        if local::is_at(self.id()) {
            return Err(ShutdownError::FromWorker);
        }
        if !self.await_end(timeout) {
            return Err(ShutdownError::TimedOut {
                waited: timeout,
                workers: self.workers_left(),
                report: self.report(),
            });
        }
        Ok(self.report())
    }

    fn shutdown_now(&self) -> ShutdownReport {
        self.discard();
        self.report()
    }
}

/// A backing that polls futures, too.
#[cfg(feature = "_futures")]
pub(crate) trait Polls: Backing {
    fn spawn<R: Send + 'static>(&self, future: impl Future<Output = R> + Send + 'static) -> JoinHandle<R>;

    fn spawn_detached(&self, future: impl Future<Output = ()> + Send + 'static);
}
