//! Publishes the meters through the `metrics` facade.
//!
//! Workers publish when they run out of jobs and now and then while they are busy, never for each job.

use crate::{containment::guard, rows::Rows};
use metrics::{counter, describe_counter, describe_gauge, gauge};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

const JOBS_EXECUTED: &str = "executors.jobs_executed";
const JOBS_QUEUED: &str = "executors.jobs_queued";

/// Publishes for one executor.
///
/// Executors of one kind have the same labels, so each adds only what is new: the figures are those of all together.
/// Relaxed: each change of what is published is one read-modify-write, and tells its author what it has to add.
#[derive(Debug)]
pub(crate) struct Exporter {
    executor: &'static str,
    /// As far as they are published: jobs that each worker has executed.
    executed: Rows<AtomicU64>,
    /// And jobs that wait.
    queued: AtomicUsize,
}

impl Exporter {
    pub(crate) fn new(executor: &'static str) -> Self {
        Exporter { executor, executed: Rows::new([]), queued: AtomicUsize::new(0) }
    }

    /// After a job of a `worker` that is not told when it runs out of jobs: publishes for it now and then, and when few
    /// jobs are `left`; and when none is, for all `workers`, as others may have run their last job when there were
    /// many.
    ///
    /// `left` has to be 0 for at least one of those who end the last jobs.
    pub(crate) fn publish_after_job(
        &self,
        worker: usize,
        workers: usize,
        executed: impl Fn(usize) -> u64,
        left: impl Fn() -> usize,
    ) {
        const FEW: usize = 16;
        let still_left = left();
        if still_left > 0 {
            if still_left >= FEW && !executed(worker).is_multiple_of(256) {
                return;
            }
            self.publish(worker, || executed(worker), || still_left);
            // Meanwhile the last job may have ended, whose worker has published before this one has.
            if left() > 0 {
                return;
            }
        }
        (0..workers).for_each(|worker| self.publish(worker, || executed(worker), || 0));
    }

    pub(crate) fn publish(&self, worker: usize, executed: impl FnOnce() -> u64, queued: impl FnOnce() -> usize) {
        guard(|| {
            let executed = executed();
            let before = self.executed.get(worker).fetch_max(executed, Relaxed);
            counter!(JOBS_EXECUTED, "executor" => self.executor, "thread_id" => worker.to_string())
                .increment(executed.saturating_sub(before));
            self.publish_queued(queued());
        });
    }

    fn publish_queued(&self, queued: usize) {
        let before = self.queued.swap(queued, Relaxed);
        gauge!(JOBS_QUEUED, "executor" => self.executor).increment(queued as f64 - before as f64);
    }

    pub(crate) fn describe() {
        describe_counter!(JOBS_EXECUTED, "The total number of jobs that were executed");
        describe_gauge!(JOBS_QUEUED, "The number of jobs that are currently waiting to be executed");
    }
}

/// Whatever waited last does not any more.
impl Drop for Exporter {
    fn drop(&mut self) {
        guard(|| self.publish_queued(0));
    }
}
