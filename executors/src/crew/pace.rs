//! The pace of a worker that keeps up with who gives jobs from outside.
//!
//! Each look at the end of a queue takes its line from who puts jobs in there. A worker that is behind looks seldom, as
//! it sees many jobs with each look. One that keeps up would look for each single job: then each costs both of them the
//! way of that line to and fro, several times what it takes otherwise. So such a worker lets some jobs gather first.
//! What this gains, and what looks that are further apart in general would cost, is in `docs/results/peers.md`.

use std::{
    cell::Cell,
    hint,
    time::{Duration, Instant},
};

/// Who has run no more jobs than that since it last ran dry has kept up.
const FEW: u64 = 8;

/// Some twenty jobs are given meanwhile. Who waits for one of them is told so much later.
const A_MOMENT: Duration = Duration::from_nanos(400);

#[derive(Debug, Default)]
pub(super) struct Pace {
    /// How many jobs the worker had run when it last ran dry.
    jobs_before: Cell<u64>,
    /// Whether the next one was there at once. Only then: who gives a job, waits for it, and gives the next, is not to
    /// wait for longer.
    was_there: Cell<bool>,
}

impl Pace {
    /// Does `search` for a worker that has run dry after so many jobs, a moment later if it keeps up.
    pub(super) fn search<R>(&self, jobs: u64, search: impl FnOnce() -> Option<R>) -> Option<R> {
        if self.keeps_up(jobs) {
            let begin = Instant::now();
            while begin.elapsed() < A_MOMENT {
                hint::spin_loop();
            }
        }
        let found = search();
        self.was_there.set(found.is_some());
        found
    }

    fn keeps_up(&self, jobs: u64) -> bool {
        // Short moments are none in a model.
        let were_few = jobs - self.jobs_before.replace(jobs) <= FEW;
        were_few && self.was_there.get() && !cfg!(executors_loom)
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    #[test]
    fn who_finds_few_jobs_at_once_keeps_up() {
        let pace = Pace::default();
        assert!(!pace.keeps_up(1), "nothing is known yet");
        assert_eq!(pace.search(2, || Some(7)), Some(7));
        assert!(pace.keeps_up(2 + FEW), "there was one, and then few");
        assert!(!pace.keeps_up(2 + FEW + FEW + 1), "many");
        assert!(pace.keeps_up(20));
        assert_eq!(pace.search(20, || None::<()>), None);
        assert!(!pace.keeps_up(21), "there was none");
    }

    #[test]
    fn who_keeps_up_searches_a_moment_later() {
        let pace = Pace::default();
        let mut begin = Instant::now();
        for job in 1..3 {
            begin = Instant::now();
            pace.search(job, || Some(()));
        }
        assert!(begin.elapsed() >= A_MOMENT);
    }
}
