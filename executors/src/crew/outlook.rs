//! Whether a worker that runs out of jobs has reason to look around for others before it sleeps.

use crate::options::Idle;
use std::{cell::Cell, time::Duration};

/// Longer than somebody who waits for a job's result takes to give the next.
const LONG_SLEEP: Duration = Duration::from_micros(200);

/// What a worker has learnt from its last sleep.
///
/// After a long one it goes back to sleep if there was no other job beside the one that it woke to: jobs come seldom,
/// or all at once, and to look around for more would only take time from those that were called with it, and from who
/// calls. If it is called again soon, it does look around from then on: somebody gives one job after the other.
#[derive(Debug, Default)]
pub(super) struct Outlook {
    /// How many jobs the worker will have run when it looks around again.
    looks_after: Cell<u64>,
}

impl Outlook {
    /// The worker, which has run so many jobs, has `slept` for so long before it found another.
    pub(super) fn woke(&self, jobs: u64, slept: Duration, idle: Idle) {
        let is_long = match idle {
            // What a model does must not depend on the clock.
            Idle::Park { .. } if cfg!(executors_loom) => false,
            // Who looks for longer than that would have seen the job come.
            Idle::Park { spin } => slept >= LONG_SLEEP.max(spin),
            Idle::Spin => false,
        };
        self.looks_after.set(jobs + if is_long { 2 } else { 1 });
    }

    /// Whether a worker that has run so many jobs looks around.
    pub(super) fn is_promising(&self, jobs: u64) -> bool {
        jobs >= self.looks_after.get()
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    const LOOK: Duration = Duration::from_millis(1);

    /// After how many jobs more a worker looks around that has slept for so long.
    fn jobs_until_it_looks(slept: Duration, spin: Duration) -> u64 {
        let outlook = Outlook::default();
        outlook.woke(7, slept, Idle::Park { spin });
        (0..9).find(|more| outlook.is_promising(7 + more)).expect("some time it does")
    }

    #[test]
    fn a_lone_job_after_a_long_sleep_is_no_reason_to_look_around() {
        assert_eq!(jobs_until_it_looks(LONG_SLEEP, Duration::ZERO), 2);
        assert_eq!(jobs_until_it_looks(LONG_SLEEP / 2, Duration::ZERO), 1);
    }

    #[test]
    fn a_sleep_is_not_long_if_looking_would_have_taken_as_long() {
        assert_eq!(jobs_until_it_looks(LOOK / 2, LOOK), 1);
        assert_eq!(jobs_until_it_looks(LOOK, LOOK), 2);
    }

    #[test]
    fn who_has_not_slept_looks_around() {
        assert!(Outlook::default().is_promising(0));
    }
}
