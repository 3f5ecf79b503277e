//! The thread pool of the crate `futures`.

use super::{FuturePool, Pool, TaskPool, departures::Departures, needs_last_handle};
use crate::{failure::Failure, forker::LOST};
use futures::{executor::ThreadPool, task::SpawnExt};

/// Gets jobs by `ThreadPool::spawn_ok`. A job is a task that is never pending.
///
/// Shutting down waits for all jobs: each keeps a handle to the pool.
#[derive(Clone)]
pub(in crate::registry) struct Futures {
    pool: ThreadPool,
    threads: usize,
    departures: Departures,
}

impl Futures {
    pub(in crate::registry) fn new(threads: usize) -> Result<Self, Failure> {
        let departures = Departures::default();
        let leaving = departures.clone();
        let pool = ThreadPool::builder().pool_size(threads).before_stop(move |_| leaving.count_one()).create();
        Ok(Futures { pool: pool.map_err(|error| Failure::of_build(&error))?, threads, departures })
    }
}

impl Pool for Futures {
    fn spawn<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        self.pool.spawn_ok(async move { job() });
    }

    fn finish(&self) -> Result<(), String> {
        needs_last_handle()
    }

    fn end(self) -> Result<(), String> {
        drop(self.pool);
        self.departures.wait_for(self.threads)
    }
}

impl FuturePool for Futures {
    fn spawn_future<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.pool.spawn_ok(future);
    }
}

impl TaskPool for Futures {
    fn fork<F>(&self, future: F) -> impl Future<Output = F::Output> + Send + 'static
    where
        F: Future<Output: Send> + Send + 'static,
    {
        self.pool.spawn_with_handle(future).expect(LOST)
    }
}
