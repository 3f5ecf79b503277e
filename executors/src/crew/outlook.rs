//! Whether a worker that runs out of jobs has reason to look around for others before it sleeps.

use crate::{courtesy::LONGEST_CALL, options::Idle};
use std::{
    cell::Cell,
    time::{Duration, Instant},
};

/// Longer than somebody who waits for a job's result takes to give the next.
const LONG_SLEEP: Duration = Duration::from_micros(200);

/// Longer than a worker takes that falls asleep, is woken at once and runs a short job.
const SHORT_ROUND: Duration = Duration::from_micros(20);

/// As many short rounds in a row are no coincidence.
const MANY: u32 = 8;

/// As many jobs may be all that there are; who gives more may not be done. Wake-ups cost no less with 40.
const FEW: u64 = 8;

/// What a worker has learnt from its last sleeps.
///
/// After a long one it goes back to sleep if there were only a few jobs: they come seldom, or all at once, and to look
/// around for more would only take time from those that were called with it, and from who calls. The system, too, gives
/// the core sooner to who has had it for less. If the next sleep is short, and one more, the worker does look around
/// from then on: somebody gives one job after the other.
///
/// The clock is read when those jobs have ended, so that they need not wait for it. So the time that they take counts
/// as sleep: who waits for long jobs sleeps, too, and does not give others at once.
#[derive(Debug, Default)]
pub(super) struct Outlook {
    /// When the last sleep began, or the worker's life.
    slept_since: Cell<Option<Instant>>,
    /// How many jobs the worker had run by then.
    jobs_before: Cell<u64>,
    /// Whether the sleep before the last, with the jobs behind it, was long.
    was_long: Cell<bool>,
    /// Short rounds, from one sleep to the next, in a row.
    short_rounds: Cell<u32>,
    has_slept: Cell<bool>,
}

impl Outlook {
    /// The worker begins its life.
    pub(super) fn begins(&self, now: Instant) {
        self.slept_since.set(Some(now));
    }

    /// Whether the worker has never slept.
    pub(super) fn is_new(&self) -> bool {
        !self.has_slept.get()
    }

    /// How long the worker looks for jobs before it sleeps, where workers look for as long as `spin` as a rule.
    ///
    /// Longer if it has never slept: who has built a pool for a few jobs is about to close it, and waits until the
    /// worker is gone.
    pub(super) fn patience(&self, spin: Duration) -> Duration {
        if self.is_new() { spin.max(LONGEST_CALL) } else { spin }
    }

    /// The worker goes to sleep, after it has looked for jobs in vain for as long as it `looked`, if it has.
    pub(super) fn rests(&self, now: Instant, looked: Option<Duration>) {
        let round = self.slept_since.replace(Some(now)).map(|last| now.saturating_duration_since(last));
        self.was_long.set(round.is_some_and(|round| round >= LONG_SLEEP));
        let is_short = round.zip(looked).is_some_and(|(round, looked)| round < SHORT_ROUND.saturating_add(looked));
        self.short_rounds.set(if is_short { self.short_rounds.get() + 1 } else { 0 });
    }

    /// Whether the worker has looked in vain many times in a row, and was called each time, but maybe the last, as soon
    /// as it slept. If so, they are counted anew.
    ///
    /// Maybe it stands on the core of who gives the jobs, who gives none while it looks.
    pub(super) fn is_light_sleeper(&self) -> bool {
        let is_light = self.short_rounds.get() >= MANY;
        if is_light {
            self.short_rounds.set(0);
        }
        is_light
    }

    /// The worker sleeps, from now on or again.
    pub(super) fn sleeps(&self) {
        self.has_slept.set(true);
    }

    /// The worker, which has run so many jobs until now, has found another.
    pub(super) fn wakes(&self, jobs: u64) {
        self.jobs_before.set(jobs);
    }

    /// Whether a worker that has run so many jobs looks around.
    pub(super) fn is_promising(&self, jobs: u64, idle: Idle) -> bool {
        let spin = match idle {
            // What a model does must not depend on the clock.
            Idle::Park { .. } if cfg!(executors_loom) => return true,
            Idle::Park { spin } => spin,
            Idle::Spin => return true,
        };
        // Who looks for longer than it slept would have seen the job come.
        let is_soon = |slept: Duration| slept < spin || slept < LONG_SLEEP && !self.was_long.get();
        jobs > self.jobs_before.get() + FEW || self.slept_since.get().is_none_or(|since| is_soon(since.elapsed()))
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    /// Far more than the test takes.
    const LONG: Duration = Duration::from_secs(1000);

    /// Whether a worker looks around that has run so many jobs since it woke from a sleep that began so long ago.
    fn is_promising(jobs: u64, slept: Duration, spin: Duration) -> bool {
        let outlook = Outlook::default();
        outlook.rests(Instant::now().checked_sub(slept).expect("the machine runs for that long"), None);
        outlook.wakes(7);
        outlook.is_promising(7 + jobs, Idle::Park { spin })
    }

    #[test]
    fn a_few_jobs_after_a_long_sleep_are_no_reason_to_look_around() {
        assert!(!is_promising(1, LONG_SLEEP, Duration::ZERO));
        assert!(!is_promising(FEW, LONG_SLEEP, Duration::ZERO));
        assert!(is_promising(FEW + 1, LONG_SLEEP, Duration::ZERO));
    }

    #[test]
    fn a_sleep_is_not_long_if_looking_would_have_taken_as_long() {
        assert!(is_promising(1, LONG_SLEEP, LONG));
        assert!(!is_promising(1, LONG_SLEEP, LONG_SLEEP));
    }

    #[test]
    fn a_short_sleep_behind_a_long_one_is_no_reason_either_but_the_next_is() {
        let outlook = Outlook::default();
        let looks = |spin| outlook.is_promising(1, Idle::Park { spin });
        // Not over yet, so that the last sleep is short however long this takes.
        let begin = Instant::now() + LONG;
        outlook.rests(begin, None);
        assert!(looks(Duration::ZERO));
        outlook.rests(begin + LONG_SLEEP, None);
        assert!(!looks(Duration::ZERO));
        assert!(looks(LONG), "who looks for longer than it slept would have seen the job come");
        outlook.rests(begin + LONG_SLEEP, None);
        assert!(looks(Duration::ZERO));
    }

    #[test]
    fn who_is_called_again_and_again_as_soon_as_it_sleeps_is_a_light_sleeper() {
        let outlook = Outlook::default();
        let mut now = Instant::now();
        let mut rests = |round, looked| {
            now += round;
            outlook.rests(now, looked);
            outlook.is_light_sleeper()
        };
        let look = Duration::from_micros(5);
        assert!(!rests(LONG, Some(look)));
        let light: Vec<_> = (1..=2 * MANY).filter(|_| rests(SHORT_ROUND, Some(look))).collect();
        assert_eq!(light, [MANY, 2 * MANY]);
        for (round, looked) in [(SHORT_ROUND, None), (SHORT_ROUND + look, Some(look))] {
            assert!(!rests(LONG, Some(look)) && (1..MANY).all(|_| !rests(SHORT_ROUND, Some(look))));
            assert!(!rests(round, looked) && !rests(SHORT_ROUND, Some(look)), "the row is broken");
        }
    }

    #[test]
    fn who_has_never_slept_looks_for_longer() {
        let outlook = Outlook::default();
        outlook.begins(Instant::now());
        assert!(outlook.is_new());
        assert_eq!([Duration::ZERO, LONG].map(|spin| outlook.patience(spin)), [LONGEST_CALL, LONG]);
        outlook.rests(Instant::now(), None);
        assert!(outlook.is_new(), "it may look around before it sleeps");
        outlook.sleeps();
        assert!(!outlook.is_new());
        assert_eq!([Duration::ZERO, LONG].map(|spin| outlook.patience(spin)), [Duration::ZERO, LONG]);
    }

    #[test]
    fn who_has_not_slept_looks_around() {
        assert!(Outlook::default().is_promising(0, Idle::PARK));
    }
}
