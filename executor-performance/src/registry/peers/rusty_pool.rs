//! The pool of the crate `rusty_pool`.

use super::{FuturePool, PATIENCE, Pool, departures::Departures};
use rusty_pool::{Builder, ThreadPool};

/// Called by `ThreadPool::execute`, for futures by `ThreadPool::spawn`. It never grows beyond its threads, all of which are there from the beginning.
///
/// Shutting down waits for all jobs.
#[derive(Clone)]
pub(in crate::registry) struct RustyPool {
    pool: ThreadPool,
    threads: usize,
    departures: Departures,
}

impl RustyPool {
    pub(in crate::registry) fn new(threads: usize) -> Self {
        let departures = Departures::default();
        let leaving = departures.clone();
        let builder = Builder::new().core_size(threads).max_size(threads);
        let pool = builder.on_worker_stop(move || leaving.count_one()).build();
        pool.start_core_threads();
        RustyPool { pool, threads, departures }
    }
}

impl Pool for RustyPool {
    fn spawn<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        self.pool.execute(job);
    }

    fn finish(&self) -> Result<(), String> {
        self.pool.join_timeout(PATIENCE);
        Ok(())
    }

    fn end(self) -> Result<(), String> {
        self.pool.shutdown();
        self.departures.wait_for(self.threads)
    }
}

impl FuturePool for RustyPool {
    fn spawn_future<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.pool.spawn(future);
    }
}
