//! Whether a worker that runs out of jobs has reason to look around for others before it sleeps.

use crate::{courtesy::LONGEST_CALL, options::Idle};
use std::{
    cell::Cell,
    time::{Duration, Instant},
};

/// Longer than a thread that waits for a job's result takes to submit the next job. Users are told of this time, in
/// `docs/contract.md`; `courtesy::LONG_WAIT`, of which they are not told, is another.
const LONG_SLEEP: Duration = Duration::from_micros(200);

/// Longer than a worker takes to fall asleep, be woken at once and run a short job.
const SHORT_ROUND: Duration = Duration::from_micros(20);

/// This many short rounds in a row are no coincidence.
const MANY_ROUNDS: u32 = 8;

/// This many jobs, for each of which the worker was called, may be all that there are; a submitter of more may not be
/// done. A guess: `docs/results/waking.md` says what other numbers do.
const FEW_JOBS: u64 = 8;

/// What a worker has learnt from its last sleeps.
///
/// A worker that has run more than one job since it slept looks around: it came in the middle of something, and there
/// may be more. A worker that was called for a single job, after a long sleep, goes back to sleep, until there have
/// been more than a few, however often it is called for them: such jobs come seldom, or all at once, and looking around
/// for more would only take time from the workers that were called with it, and from their caller. The system, too,
/// gives the core sooner to a thread that has had it for less time. A worker that has found a job by looking looks
/// again: otherwise the time of a few long jobs would count as a long sleep.
///
/// The clock is read when those jobs have ended, so that they need not wait for it. So the time that they take counts
/// as sleep: a thread that waits for long jobs sleeps, too, and does not submit others at once.
#[derive(Debug, Default)]
pub(super) struct Outlook {
    /// When the last sleep began, or the worker's life.
    slept_since: Cell<Option<Instant>>,
    /// How many jobs the workers on its seat had run by then.
    jobs_at_sleep: Cell<u64>,
    /// How many by the last long sleep before that.
    jobs_at_long_sleep: Cell<u64>,
    /// Whether it has found a job by looking since that sleep began.
    has_found: Cell<bool>,
    /// Short rounds, from one sleep to the next, in a row.
    short_rounds: Cell<u32>,
    has_slept: Cell<bool>,
}

impl Outlook {
    /// The worker begins its life, on a seat whose workers have run this many `jobs` before.
    pub(super) fn begins(&self, now: Instant, jobs: u64) {
        self.slept_since.set(Some(now));
        self.jobs_at_sleep.set(jobs);
        self.jobs_at_long_sleep.set(jobs);
    }

    /// Whether the worker has never slept.
    pub(super) fn is_new(&self) -> bool {
        !self.has_slept.get()
    }

    /// How long the worker looks for jobs before it sleeps, where workers look for `spin` as a rule.
    ///
    /// Longer if it has never slept: a thread that has built a pool for a few jobs is about to close it, and waits
    /// until the worker is gone.
    pub(super) fn patience(&self, spin: Duration) -> Duration {
        if self.is_new() { spin.max(LONGEST_CALL) } else { spin }
    }

    /// The worker goes to sleep. It has run this many `jobs` so far, and has then looked for others in vain for the
    /// time `looked`, if it has looked. If its last sleep was long, this returns the size of the burst before that
    /// sleep: how many jobs it had run since the long sleep before.
    pub(super) fn rests(&self, now: Instant, jobs: u64, looked: Option<Duration>) -> Option<u64> {
        let round = self.slept_since.replace(Some(now)).map(|last| now.saturating_duration_since(last));
        let was_long = round.is_some_and(|round| round >= LONG_SLEEP);
        let burst = was_long.then(|| {
            let until_then = self.jobs_at_sleep.get();
            until_then - self.jobs_at_long_sleep.replace(until_then)
        });
        self.jobs_at_sleep.set(jobs);
        self.has_found.set(false);
        let is_short = round.zip(looked).is_some_and(|(round, looked)| round < SHORT_ROUND.saturating_add(looked));
        self.short_rounds.set(if is_short { self.short_rounds.get() + 1 } else { 0 });
        burst
    }

    /// Whether the worker has looked in vain many times in a row, and was called each time, except perhaps the last, as
    /// soon as it slept. If so, they are counted anew.
    ///
    /// It may be on the core of the submitter, which submits nothing while the worker looks.
    pub(super) fn take_light_sleep(&self) -> bool {
        let is_light = self.short_rounds.get() >= MANY_ROUNDS;
        if is_light {
            self.short_rounds.set(0);
        }
        is_light
    }

    /// The worker has found a job by looking.
    pub(super) fn finds(&self) {
        self.has_found.set(true);
    }

    /// The worker sleeps, from now on or again.
    pub(super) fn sleeps(&self) {
        self.has_slept.set(true);
    }

    /// Whether a worker that has run this many `jobs` looks around.
    pub(super) fn is_promising(&self, jobs: u64, idle: Idle) -> bool {
        let spin = match idle {
            // What a model does must not depend on the clock.
            Idle::Park { .. } if cfg!(executors_loom) => return true,
            Idle::Park { spin } => spin,
            Idle::Spin => return true,
        };
        self.has_found.get()
            || jobs > self.jobs_at_sleep.get() + 1
            || self.slept_since.get().is_none_or(|since| {
                let slept = since.elapsed();
                let are_many = jobs > self.jobs_at_long_sleep.get() + FEW_JOBS;
                let is_soon = slept < LONG_SLEEP && (self.is_new() || are_many);
                // A worker that looks for longer than even a long sleep would have seen the job come.
                is_soon || slept.max(LONG_SLEEP) < spin
            })
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use crate::courtesy::ago;

    /// Far more than the test takes.
    const LONG: Duration = Duration::from_secs(1000);

    /// Whether a worker looks around that has run this many `jobs` since a sleep that began the time `slept` ago.
    fn is_promising(jobs: u64, slept: Duration, spin: Duration) -> bool {
        let outlook = Outlook::default();
        outlook.sleeps();
        outlook.rests(ago(slept), 7, None);
        outlook.is_promising(7 + jobs, Idle::Park { spin })
    }

    #[test]
    fn a_single_job_after_a_long_sleep_is_no_reason_to_look_around() {
        assert!(!is_promising(1, LONG_SLEEP, Duration::ZERO));
        assert!(is_promising(2, LONG_SLEEP, Duration::ZERO));
    }

    #[test]
    fn a_sleep_is_not_long_if_looking_would_have_taken_as_long() {
        assert!(is_promising(1, LONG_SLEEP, LONG));
        assert!(!is_promising(1, LONG_SLEEP, LONG_SLEEP));
    }

    #[test]
    fn a_worker_that_found_a_job_looks_again_until_it_finds_none() {
        let outlook = Outlook::default();
        let looks = || outlook.is_promising(1, Idle::PARK);
        outlook.sleeps();
        outlook.begins(ago(LONG_SLEEP), 0);
        assert!(!looks());
        outlook.finds();
        assert!(looks(), "however long the job took");
        outlook.rests(Instant::now() + LONG, 1, None);
        assert!(!looks());
    }

    #[test]
    fn jobs_of_former_workers_on_the_seat_do_not_count() {
        let outlook = Outlook::default();
        outlook.begins(ago(LONG_SLEEP), 1000);
        assert!(!outlook.is_promising(1001, Idle::PARK), "its only job took long");
        assert!(outlook.is_promising(1002, Idle::PARK));
        assert_eq!(outlook.rests(Instant::now() + LONG, 1002, None), Some(0));
        assert_eq!(outlook.rests(Instant::now() + 2 * LONG, 1002, None), Some(2));
    }

    #[test]
    fn jobs_are_counted_from_one_long_sleep_to_the_next() {
        let outlook = Outlook::default();
        outlook.sleeps();
        let looks = |jobs| outlook.is_promising(jobs, Idle::Park { spin: LONG_SLEEP });
        // Not over yet, so that the last sleep is short however long this takes.
        let mut now = Instant::now() + LONG;
        outlook.rests(now, 3, None);
        for jobs in 4..=3 + FEW_JOBS {
            now += if jobs == 4 { LONG_SLEEP } else { Duration::ZERO };
            outlook.rests(now, jobs, None);
            assert!(!looks(jobs), "{jobs}");
        }
        outlook.rests(now, 3 + FEW_JOBS, None);
        assert!(looks(4 + FEW_JOBS), "the last of many, each after a short sleep");
        outlook.rests(now + LONG_SLEEP, 4 + FEW_JOBS, None);
        assert!(!looks(4 + FEW_JOBS), "there was another long sleep");
    }

    #[test]
    fn a_worker_called_soon_after_each_sleep_is_a_light_sleeper() {
        let outlook = Outlook::default();
        let mut now = Instant::now();
        let mut rests = |round, looked| {
            now += round;
            outlook.rests(now, 0, looked);
            outlook.take_light_sleep()
        };
        let look = Duration::from_micros(5);
        assert!(!rests(LONG, Some(look)));
        let light: Vec<_> = (1..=2 * MANY_ROUNDS).filter(|_| rests(SHORT_ROUND, Some(look))).collect();
        assert_eq!(light, [MANY_ROUNDS, 2 * MANY_ROUNDS]);
        for (round, looked) in [(SHORT_ROUND, None), (SHORT_ROUND + look, Some(look))] {
            assert!(!rests(LONG, Some(look)) && (1..MANY_ROUNDS).all(|_| !rests(SHORT_ROUND, Some(look))));
            assert!(!rests(round, looked) && !rests(SHORT_ROUND, Some(look)), "the row is broken");
        }
    }

    #[test]
    fn a_worker_that_has_never_slept_looks_for_longer() {
        let outlook = Outlook::default();
        outlook.begins(Instant::now(), 0);
        assert!(outlook.is_new());
        assert_eq!([Duration::ZERO, LONG].map(|spin| outlook.patience(spin)), [LONGEST_CALL, LONG]);
        outlook.rests(Instant::now(), 0, None);
        assert!(outlook.is_new(), "it may look around before it sleeps");
        outlook.sleeps();
        assert!(!outlook.is_new());
        assert_eq!([Duration::ZERO, LONG].map(|spin| outlook.patience(spin)), [Duration::ZERO, LONG]);
    }

    #[test]
    fn a_worker_that_has_not_slept_looks_around() {
        let outlook = Outlook::default();
        assert!(outlook.is_promising(0, Idle::PARK));
        outlook.begins(Instant::now() + LONG, 0);
        assert!(outlook.is_promising(1, Idle::PARK));
        outlook.sleeps();
        assert!(!outlook.is_promising(1, Idle::PARK));
    }
}
