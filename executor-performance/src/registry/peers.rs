//! The pools of other crates, as executors of this one: each by the shortest way it has for a closure that nobody waits for,
//! from outside and from its own workers.
//!
//! None of them knows of the contract that this workspace's executors keep. A peer that panics on wrong use, loses jobs or
//! never ends is not mended here: the measurement finds out, and reports it.

mod async_executor;
mod departures;
#[cfg(peers_forte)]
mod forte;
mod futures;
mod rayon;
mod rayon_fifo;
mod rusty_pool;
mod threadpool;
mod tokio;
mod workerpool;

#[cfg(peers_forte)]
pub(super) use self::forte::Forte;
pub(super) use self::{
    async_executor::AsyncExecutor,
    futures::Futures,
    rayon::Rayon,
    rayon_fifo::RayonFifo,
    rusty_pool::RustyPool,
    threadpool::{Threadpool, ThreadpoolCrossbeamChannel},
    tokio::Tokio,
    workerpool::Workerpool,
};

use executors::{CanExecute, Executor};
use std::time::Duration;

/// How long a pool may take to shut down, as for this workspace's executors.
const PATIENCE: Duration = Duration::from_secs(5);

/// A handle to a pool of another crate.
pub(super) trait Pool: Clone + Send + Sync + 'static {
    /// Gives it a job.
    fn spawn<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static;

    /// Lets its threads go without waiting for them. Does nothing to pools whose threads stay while there are handles.
    fn close(&self) {}

    /// Waits for its jobs, and lets its threads go if they can be while there are handles.
    ///
    /// # Errors
    ///
    /// If it takes too long, or the pool gives no way of waiting to those who keep a handle.
    fn finish(&self) -> Result<(), String>;

    /// Gives up the last handle, and so the threads; waits for the jobs, and for the threads if the pool tells when they
    /// leave.
    ///
    /// # Errors
    ///
    /// If it takes too long.
    fn end(self) -> Result<(), String> {
        self.finish()
    }
}

/// Speaks the language of this workspace's executors to a pool of another crate.
#[derive(Clone)]
pub(super) struct Peer<P>(P);

impl<P> Peer<P> {
    pub(super) fn of(pool: P) -> Self {
        Peer(pool)
    }
}

impl<P: Pool> CanExecute for Peer<P> {
    fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>) {
        self.0.spawn(job);
    }
}

impl<P: Pool> Executor for Peer<P> {
    fn execute<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        self.0.spawn(job);
    }

    fn shutdown_async(&self) {
        self.0.close();
    }

    fn shutdown(self) -> Result<(), String> {
        self.0.end()
    }

    fn shutdown_borrowed(&self) -> Result<(), String> {
        self.0.finish()
    }
}

/// What pools say that cannot be waited for by those who keep a handle.
fn needs_last_handle() -> Result<(), String> {
    Err("the pool ends with its last handle, not before".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    /// That all jobs have run when `pool` has ended, though nobody waited for them before.
    fn ends_after_its_jobs<P: Pool>(pool: P) {
        let ran = Arc::new(AtomicUsize::new(0));
        for _ in 0..100 {
            let ran = Arc::clone(&ran);
            pool.spawn(move || {
                ran.fetch_add(1, Ordering::Relaxed);
            });
        }
        pool.end().expect("in time");
        assert_eq!(ran.load(Ordering::Relaxed), 100);
    }

    #[test]
    fn pools_end_after_their_jobs() {
        ends_after_its_jobs(AsyncExecutor::new(2).expect("built"));
        ends_after_its_jobs(Futures::new(2).expect("built"));
        ends_after_its_jobs(Rayon::new(2).expect("built"));
        ends_after_its_jobs(RayonFifo::new(2).expect("built"));
        ends_after_its_jobs(RustyPool::new(2));
        ends_after_its_jobs(Threadpool::new(2));
        ends_after_its_jobs(ThreadpoolCrossbeamChannel::new(2));
        ends_after_its_jobs(Tokio::new(2).expect("built"));
        ends_after_its_jobs(Workerpool::new(2));
        // Not `Forte`, which knows no way of waiting for them.
    }

    #[test]
    fn pools_that_end_with_their_last_handle_say_so() {
        let pool = Rayon::new(1).expect("built");
        assert!(pool.finish().expect_err("a handle is left").contains("last handle"));
        pool.end().expect("in time");
    }
}
