//! The pace of a worker that keeps up with a submitter from outside.
//!
//! Each look at the end of a queue takes its cache line from the submitter that puts jobs in there. A worker that is
//! behind looks seldom, because it sees many jobs with each look. A worker that keeps up would look for each single
//! job: then each job costs both of them the transfer of that line back and forth, several times what it takes
//! otherwise. So such a worker lets some jobs gather first, where the source is one of [that
//! kind](crate::source::Source::gathers). What this gains, and what looks that are further apart in general would cost,
//! is in `docs/results/queues.md`.

use crate::{courtesy, meter::Reading, placement::core_count};
use std::{
    cell::Cell,
    time::{Duration, Instant},
};

/// A worker that has run no more jobs than this since it last ran out of jobs has kept up.
const FEW_JOBS: u64 = 8;

/// Some twenty jobs are submitted meanwhile. A thread that waits for one of them is told that much later.
const GATHERING_TIME: Duration = Duration::from_nanos(400);

#[derive(Debug, Default)]
pub(super) struct Pace {
    /// How many jobs the worker had run when it last ran out of jobs.
    jobs_before: Cell<u64>,
    /// Whether there was another one at once that it had not stolen. Only then does it wait: a thread that submits a
    /// job, waits for it, and submits the next, should not have to wait longer.
    was_given: Cell<bool>,
}

impl Pace {
    /// Calls `search` for a worker that has run out of jobs, a moment later if it keeps up. `read` returns what it has
    /// done.
    pub(super) fn search<R>(&self, read: impl Fn() -> Reading, search: impl FnOnce() -> Option<R>) -> Option<R> {
        let before = read();
        if self.keeps_up(before.runs()) {
            courtesy::spin_for(GATHERING_TIME, Instant::now());
        }
        let found = search();
        self.was_given.set(found.is_some() && read().steals == before.steals);
        found
    }

    fn keeps_up(&self, jobs: u64) -> bool {
        let were_few = jobs - self.jobs_before.replace(jobs) <= FEW_JOBS;
        // On one core no jobs are submitted meanwhile. And in a model no short time passes.
        were_few && self.was_given.get() && core_count() > 1 && !cfg!(executors_loom)
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    fn ended(ended: u64) -> Reading {
        Reading { ended, ..Reading::default() }
    }

    #[test]
    fn a_worker_that_finds_few_jobs_at_once_keeps_up() {
        let several = core_count() > 1;
        let pace = Pace::default();
        assert!(!pace.keeps_up(1), "nothing is known yet");
        assert_eq!(pace.search(|| ended(2), || Some(7)), Some(7));
        assert_eq!(pace.keeps_up(2 + FEW_JOBS), several, "there was one, and then few");
        assert!(!pace.keeps_up(2 + FEW_JOBS + FEW_JOBS + 1), "many");
        assert_eq!(pace.keeps_up(20), several);
        assert_eq!(pace.search(|| ended(20), || None::<()>), None);
        assert!(!pace.keeps_up(21), "there was none");
    }

    #[test]
    fn a_worker_that_steals_does_not_keep_up() {
        let (pace, steals) = (Pace::default(), Cell::new(0));
        pace.search(|| Reading { steals: steals.get(), ..ended(1) }, || Some(steals.replace(1)));
        assert!(!pace.keeps_up(2));
    }

    #[test]
    fn a_worker_that_keeps_up_searches_a_moment_later() {
        if core_count() == 1 {
            println!("skipped: no worker keeps up on one core");
            return;
        }
        let pace = Pace::default();
        let mut begin = Instant::now();
        for job in 1..3 {
            begin = Instant::now();
            pace.search(|| ended(job), || Some(()));
        }
        assert!(begin.elapsed() >= GATHERING_TIME);
    }
}
