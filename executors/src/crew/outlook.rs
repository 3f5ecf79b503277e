//! What a worker that runs out of jobs makes of those it has had since it last slept.

use crate::options::Idle;
use std::{
    cell::Cell,
    time::{Duration, Instant},
};

/// Longer than somebody who waits for a job's result takes to give the next.
const LONG_SLEEP: Duration = Duration::from_micros(200);

/// More jobs than this are too many for a worker that has others beside it to have been called for one of its own.
const MANY_JOBS: u64 = 16;

/// How jobs come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prospect {
    /// Seldom, or all at once: the worker has slept long, and there was no other job beside the one that it woke to. To
    /// look around for more would only take time from those that were called with it, and from who calls.
    Quiet,
    /// There was little to do after a long sleep, but more than one job.
    Mixed,
    /// Somebody gives one job after the other.
    Busy,
}

/// What a worker has learnt from its last sleep.
///
/// The clock is read when the jobs have ended, so that they need not wait for it. So their own time counts as sleep:
/// who waits for a long job sleeps, too, and does not give the next one at once.
#[derive(Debug, Default)]
pub(super) struct Outlook {
    /// When the last sleep began.
    slept_since: Cell<Option<Instant>>,
    /// How many jobs the worker had run by then.
    jobs_before: Cell<u64>,
}

impl Outlook {
    pub(super) fn rests(&self, now: Instant) {
        self.slept_since.set(Some(now));
    }

    /// The worker, which has run so many jobs, has found another.
    pub(super) fn wakes(&self, jobs: u64) {
        self.jobs_before.set(jobs);
    }

    /// For a worker that has run so many jobs.
    pub(super) fn prospect(&self, jobs: u64, idle: Idle) -> Prospect {
        let long = match idle {
            // What a model does must not depend on the clock.
            Idle::Park { .. } if cfg!(executors_loom) => return Prospect::Busy,
            // Who looks for longer than that would have seen the job come.
            Idle::Park { spin } => LONG_SLEEP.max(spin),
            Idle::Spin => return Prospect::Busy,
        };
        let slept_long = || self.slept_since.get().is_some_and(|since| since.elapsed() >= long);
        match jobs - self.jobs_before.get() {
            MANY_JOBS.. => Prospect::Busy,
            _ if !slept_long() => Prospect::Busy,
            0 | 1 => Prospect::Quiet,
            _ => Prospect::Mixed,
        }
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    /// Far more than the test takes.
    const LONG: Duration = Duration::from_secs(1000);

    /// For a worker that has run so many jobs since it woke from a sleep that began so long ago.
    fn prospect(jobs: u64, slept: Duration, spin: Duration) -> Prospect {
        let outlook = Outlook::default();
        outlook.rests(Instant::now().checked_sub(slept).expect("the machine runs for that long"));
        outlook.wakes(7);
        outlook.prospect(7 + jobs, Idle::Park { spin })
    }

    #[test]
    fn a_lone_job_after_a_long_sleep_promises_no_other() {
        assert_eq!(prospect(1, LONG_SLEEP, Duration::ZERO), Prospect::Quiet);
        assert_eq!(prospect(2, LONG_SLEEP, Duration::ZERO), Prospect::Mixed);
        assert_eq!(prospect(MANY_JOBS, LONG_SLEEP, Duration::ZERO), Prospect::Busy);
    }

    #[test]
    fn a_sleep_is_not_long_if_looking_would_have_taken_as_long() {
        assert_eq!(prospect(1, LONG_SLEEP, LONG), Prospect::Busy);
        assert_eq!(prospect(1, LONG_SLEEP, LONG_SLEEP), Prospect::Quiet);
    }

    #[test]
    fn who_has_not_slept_may_be_busy() {
        assert_eq!(Outlook::default().prospect(0, Idle::PARK), Prospect::Busy);
    }
}
