//! Publishes the meters through the `metrics` facade.
//!
//! Workers of a crew publish when they run out of jobs and now and then while they are busy, never for each job. Other
//! executors publish after jobs.

use super::queued::{Share, Total};
use crate::{containment::guard, rows::Rows};
use metrics::{counter, describe_counter, describe_gauge, gauge};
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

const JOBS_EXECUTED: &str = "executors.jobs_executed";
const JOBS_QUEUED: &str = "executors.jobs_queued";

/// What all executors of one kind have published: they have the same labels, so each adds what is new. Kept for good,
/// so that a recorder that is installed late learns what was before: for each worker's number, when a worker of that
/// number publishes next.
#[derive(Debug)]
struct Totals {
    kind: &'static str,
    /// Jobs that workers of each number have executed. Relaxed: each change is one read-modify-write, and a recorder
    /// keeps the largest of the totals that it is told.
    executed: Rows<AtomicU64>,
    queued: Total,
}

impl Totals {
    fn of(kind: &'static str) -> &'static Totals {
        static ALL: Mutex<Vec<&Totals>> = Mutex::new(Vec::new());
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().copied().find(|totals| totals.kind == kind).unwrap_or_else(|| {
            let totals = Totals { kind, executed: Rows::new([]), queued: Total::default() };
            let totals: &'static Totals = Box::leak(Box::new(totals));
            all.push(totals);
            totals
        })
    }

    fn count_executed(&self, worker: usize, jobs: u64) {
        let total = self.executed.get(worker).fetch_add(jobs, Relaxed) + jobs;
        counter!(JOBS_EXECUTED, "executor" => self.kind, "thread_id" => worker.to_string()).absolute(total);
    }

    fn change_queued(&self, jobs: i64) {
        self.queued.change(jobs, |total| gauge!(JOBS_QUEUED, "executor" => self.kind).set(total as f64));
    }
}

/// Publishes for one executor.
#[derive(Debug)]
pub(crate) struct Exporter {
    totals: &'static Totals,
    /// This executor's share of them. Relaxed, as above.
    executed: Rows<AtomicU64>,
    queued: Share,
}

impl Exporter {
    pub(crate) fn new(kind: &'static str) -> Self {
        Exporter { totals: Totals::of(kind), executed: Rows::new([]), queued: Share::default() }
    }

    /// Called after a job of a `worker` that is not told when it runs out of jobs. Publishes for it now and then, and
    /// when few jobs wait; and when none is `left`, for all `workers` that have not published their last job: they may
    /// have run it while many waited.
    ///
    /// `left` issues a fence, and counts the jobs that wait or run. It has to be 0 for at least one of the callers of
    /// this function and of [`publish_after_strike`](Self::publish_after_strike) that have counted out the last jobs.
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
            if waiting(still_left, workers) >= FEW && !executed(worker).is_multiple_of(256) {
                return;
            }
            self.publish(worker, || executed(worker), || waiting(left(), workers));
            // Meanwhile the last job may have ended, and its worker may have published before this one.
            if left() > 0 {
                return;
            }
        }
        self.publish_end(workers, executed);
    }

    /// Called after a job that had been counted, but will not run, is counted out. Publishes when no job waits, if that
    /// is news: a closed pool may refuse many jobs.
    pub(crate) fn publish_after_strike(
        &self,
        workers: usize,
        executed: impl Fn(usize) -> u64,
        left: impl Fn() -> usize,
    ) {
        let still_left = left();
        // After that: see `is_published`.
        let had_waited = self.queued.is_published();
        if still_left == 0 {
            if had_waited || (0..workers).any(|worker| self.is_news(worker, executed(worker))) {
                self.publish_end(workers, executed);
            }
        } else if had_waited && waiting(still_left, workers) == 0 {
            guard(|| self.publish_none_queued());
        }
    }

    fn publish_end(&self, workers: usize, executed: impl Fn(usize) -> u64) {
        let now = (0..workers).map(|worker| (worker, executed(worker)));
        for (worker, jobs) in now.filter(|&(worker, jobs)| self.is_news(worker, jobs)) {
            guard(|| self.publish_executed(worker, jobs));
        }
        guard(|| self.publish_none_queued());
    }

    pub(crate) fn publish(&self, worker: usize, executed: impl FnOnce() -> u64, queued: impl Fn() -> usize) {
        guard(|| {
            self.publish_executed(worker, executed());
            self.queued.publish(queued, |jobs| self.totals.change_queued(jobs));
        });
    }

    /// Whether the `worker` has executed more than was published.
    fn is_news(&self, worker: usize, executed: u64) -> bool {
        executed > self.executed.get(worker).load(Relaxed)
    }

    fn publish_executed(&self, worker: usize, executed: u64) {
        let before = self.executed.get(worker).fetch_max(executed, Relaxed);
        self.totals.count_executed(worker, executed.saturating_sub(before));
    }

    fn publish_none_queued(&self) {
        self.queued.publish(|| 0, |jobs| self.totals.change_queued(jobs));
    }

    pub(crate) fn describe() {
        describe_counter!(JOBS_EXECUTED, "The total number of jobs that were executed");
        describe_gauge!(JOBS_QUEUED, "The number of jobs that are currently waiting to be executed");
    }
}

/// How many of the jobs that are `left` wait: those that are more than the workers, each of which runs one or is about
/// to take one.
fn waiting(left: usize, workers: usize) -> usize {
    left.saturating_sub(workers)
}

/// The jobs that waited last do not wait any more.
impl Drop for Exporter {
    fn drop(&mut self) {
        guard(|| self.publish_none_queued());
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use crate::meter::on_counter::OnCounter;
    use metrics::{Key, with_local_recorder};
    use std::{
        cell::{Cell, RefCell},
        mem,
    };

    /// With many threads, each job that is the only one would otherwise cost as much as a job of each of them.
    #[test]
    fn the_last_job_is_published_for_workers_with_news_only() {
        let (exporter, workers) = (Exporter::new("of another test"), RefCell::new(Vec::new()));
        let notes_workers = OnCounter(|key: &Key| {
            let labels = key.labels().filter(|label| label.key() == "thread_id");
            workers.borrow_mut().extend(labels.map(|label| label.value().to_owned()));
        });
        let publish = |worker, counts: [u64; 3]| {
            let publish = || exporter.publish_after_job(worker, 3, |worker| counts[worker], || 0);
            with_local_recorder(&notes_workers, publish);
            mem::take(&mut *workers.borrow_mut())
        };
        assert_eq!(publish(1, [0, 1, 0]), ["1"]);
        assert_eq!(publish(0, [1, 1, 5]), ["0", "2"]);
        assert_eq!(publish(2, [1, 1, 6]), ["2"]);
    }

    /// A job that is refused counts for a moment. A worker whose job ends then cannot know that it was the last.
    #[test]
    fn a_refused_job_does_not_hide_the_end() {
        let (exporter, left) = (Exporter::new("of a test"), Cell::new(1));
        let executed = |worker: usize| [1000, 1][worker];
        let published = || [0, 1].map(|worker| exporter.executed.get(worker).load(Relaxed));
        exporter.publish_after_job(1, 2, executed, || left.get());
        assert_eq!(published(), [0, 1]);
        left.set(0);
        exporter.publish_after_strike(2, executed, || left.get());
        assert_eq!(published(), [1000, 1]);
    }
}
