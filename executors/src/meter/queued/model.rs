//! Models of what is published. The recorder's gauge is an atomic that is stored Relaxed.

use super::{Share, Total};
use crate::sync::{
    Arc,
    atomic::{
        AtomicI64, AtomicUsize,
        Ordering::{Relaxed, SeqCst},
        fence,
    },
    check, thread,
};

/// An executor, and what it publishes.
#[derive(Default)]
struct Executor {
    waiting: AtomicUsize,
    share: Share,
    total: Total,
    gauge: AtomicI64,
}

impl Executor {
    fn change(&self, jobs: i64) {
        self.total.change(jobs, |total| self.gauge.store(total, Relaxed));
    }

    fn publish(&self, waiting: impl Fn() -> usize) {
        self.share.publish(waiting, |jobs| self.change(jobs));
    }

    fn waiting(&self) -> usize {
        self.waiting.load(Relaxed)
    }

    /// As `left` of an executor that counts out jobs.
    fn left(&self) -> usize {
        fence(SeqCst);
        self.waiting()
    }
}

/// Two threads do something at the same time. Then the gauge shows that no jobs wait.
fn the_gauge_shows_the_end(
    preemptions: usize,
    jobs: usize,
    one: impl Fn(&Executor) + Send + Sync + Copy + 'static,
    other: impl Fn(&Executor) + Send + Sync + Copy + 'static,
) {
    check(preemptions, move || {
        let executor = Arc::new(Executor::default());
        executor.waiting.store(jobs, Relaxed);
        let thread = thread::spawn({
            let executor = Arc::clone(&executor);
            move || one(&executor)
        });
        other(&executor);
        thread.join().unwrap();
        assert_eq!(executor.waiting(), 0);
        assert_eq!(executor.gauge.load(Relaxed), 0, "{:?}", executor.total);
    });
}

/// One job comes, and one goes.
#[test]
fn the_gauge_shows_the_total() {
    the_gauge_shows_the_end(3, 0, |executor| executor.change(1), |executor| executor.change(-1));
}

/// One worker has seen a job, and another takes it.
#[test]
fn a_worker_that_has_seen_jobs_does_not_hide_the_end() {
    let publishes = |executor: &Executor| executor.publish(|| executor.waiting());
    the_gauge_shows_the_end(3, 1, publishes, move |executor| {
        executor.waiting.fetch_sub(1, Relaxed);
        publishes(executor);
    });
}

/// Such as a submitter whose job is refused. It publishes that only if jobs were published.
#[test]
fn a_thread_that_counts_out_the_last_job_publishes_that() {
    let publishes = |executor: &Executor| executor.publish(|| executor.left());
    the_gauge_shows_the_end(3, 1, publishes, |executor| {
        executor.waiting.fetch_sub(1, Relaxed);
        if executor.left() == 0 && executor.share.is_published() {
            executor.publish(|| 0);
        }
    });
}
