//! The burst pool that takes values, as an executor: its values are jobs.

use super::adapter::Pool;
use crate::failure::Failure;
use executors::burst_pool::BurstPool;
use std::{sync::Arc, time::Duration};

type Job = Box<dyn FnOnce() + Send>;

/// As for the other executors of this workspace.
const PATIENCE: Duration = Duration::from_secs(5);

/// Each worker has a handler, which runs what it is sent.
#[derive(Clone)]
pub(super) struct BurstTyped(Arc<BurstPool<Job>>);

impl BurstTyped {
    pub(super) fn new(threads: usize) -> Result<Self, Failure> {
        let mut pool = BurstPool::new();
        for _ in 0..threads {
            pool.try_spawn(|job: Job| job()).map_err(|error| Failure::of_build(&error))?;
        }
        Ok(BurstTyped(Arc::new(pool)))
    }
}

impl Pool for BurstTyped {
    /// A job that is given while it closes is dropped.
    fn spawn<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        drop(self.0.send(Box::new(job)));
    }

    fn close(&self) {
        self.0.close();
    }

    fn finish(&self) -> Result<(), String> {
        self.0.shutdown_timeout(PATIENCE).map(drop).map_err(|error| error.to_string())
    }
}
