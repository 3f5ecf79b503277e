//! Publishes the meters through the `metrics` facade.
//!
//! Workers publish when they run out of jobs and now and then while they are busy, never for each job.

use crate::containment::guard;
use metrics::{counter, describe_counter, describe_gauge, gauge};

const JOBS_EXECUTED: &str = "executors.jobs_executed";
const JOBS_QUEUED: &str = "executors.jobs_queued";

/// Publishes for one executor.
#[derive(Debug)]
pub(crate) struct Exporter {
    executor: &'static str,
}

impl Exporter {
    pub(crate) fn new(executor: &'static str) -> Self {
        Exporter { executor }
    }

    /// Whether to publish after a job, for workers that are not told when they run out of jobs: when few are `queued`, and
    /// now and then.
    pub(crate) fn is_due(&self, executed: impl FnOnce() -> u64, queued: impl FnOnce() -> usize) -> bool {
        const FEW: usize = 16;
        executed().is_multiple_of(256) || queued() < FEW
    }

    pub(crate) fn publish(&self, worker: usize, executed: impl FnOnce() -> u64, queued: impl FnOnce() -> usize) {
        guard(|| {
            counter!(JOBS_EXECUTED, "executor" => self.executor, "thread_id" => worker.to_string())
                .absolute(executed());
            gauge!(JOBS_QUEUED, "executor" => self.executor).set(queued() as f64);
        });
    }

    pub(crate) fn describe() {
        describe_counter!(JOBS_EXECUTED, "The total number of jobs that were executed");
        describe_gauge!(JOBS_QUEUED, "The number of jobs that are currently waiting to be executed");
    }
}
