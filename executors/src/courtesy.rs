//! A back-off: yielding the core to other threads before going to sleep.
//!
//! A thread that waits for a job, and the worker that runs it, are often on one core: then the job ends while its
//! waiter yields, and the next one comes while the worker yields, and no thread has to be put to sleep and woken.
//!
//! But another thread that wants the core may keep it for as long as the scheduler lets it, while what is waited for
//! happens on another core. So a thread that comes back late for that does not yield any more for a while: it sleeps at
//! once, and the thread that wakes it brings it back to a core. That while is shorter for a thread that has a way out
//! of being late again.
//!
//! It is remembered, too, whether a thread has slept in a wait: it will most likely wait for what it submits next.

use crate::sync::thread;
use std::{
    cell::Cell,
    hint,
    time::{Duration, Instant},
};

/// Together they take about as long as being woken once. A model has no time to lose.
const YIELDS: u32 = if cfg!(executors_loom) { 0 } else { 8 };

/// Longer than it takes to wake a thread that sleeps on an idle core, and no longer than starting a thread takes.
pub(crate) const LONGEST_CALL: Duration = Duration::from_micros(50);

/// Longer than a thread takes to submit the next job. A yield that takes this long was late.
pub(crate) const LONG_WAIT: Duration = Duration::from_micros(300);

/// For how long a thread abstains from yields at most.
const ABSTINENCE: Duration = Duration::from_secs(10);

/// A thread abstains for this many times as long as it was late. So late yields by which it missed something, of up to
/// ten milliseconds, cost at most a thousandth of its time; and after one that was late by chance, waits are soon as
/// short as before.
const CAUTION: u32 = 1000;

/// The same for a thread that can move to another core: even if moving never helps, late yields cost a twentieth of its
/// time.
const CAUTION_WITH_WAY_OUT: u32 = 20;

thread_local! {
    /// When this thread was late, and how long the yield took.
    static WAS_LATE: Cell<Option<(Instant, Duration)>> = const { Cell::new(None) };

    /// Whether this thread has slept in a wait since that was last asked.
    static HAS_SLEPT: Cell<bool> = const { Cell::new(false) };
}

/// Spins, and touches nothing, until `time` has passed since `begin`.
#[cfg(feature = "_crew")]
#[inline]
pub(crate) fn spin_for(time: Duration, begin: Instant) {
    while begin.elapsed() < time {
        hint::spin_loop();
    }
}

/// Whether the calling thread has slept in a wait since this was last asked, or [forgotten](forget_sleep). What a model
/// does must not depend on what ran before.
pub(crate) fn take_has_slept() -> bool {
    HAS_SLEPT.take() && !cfg!(executors_loom)
}

/// What the calling thread submits from now on may not be what it waits for next.
pub(crate) fn forget_sleep() {
    HAS_SLEPT.set(false);
}

/// For how long to abstain from yields after one that `took` long.
fn abstinence(took: Duration, caution: u32) -> Duration {
    took.saturating_mul(caution).min(ABSTINENCE)
}

/// The same for threads that have no way out.
pub(crate) fn usual_abstinence(took: Duration) -> Duration {
    abstinence(took, CAUTION)
}

/// Whether the calling thread abstains from yields, `now`, as threads do that have no way out.
pub(crate) fn abstains(now: Instant) -> bool {
    Courtesy::new().abstains(now)
}

/// The yields of one wait.
pub(crate) struct Courtesy {
    left: u32,
    /// How long the last one took, if that was long.
    long: Option<Duration>,
    has_way_out: bool,
    /// How far apart they are, at least, and when the next one may be.
    pace: Duration,
    next: Option<Instant>,
}

impl Courtesy {
    pub(crate) fn new() -> Self {
        Courtesy { left: YIELDS, long: None, has_way_out: false, pace: Duration::ZERO, next: None }
    }

    /// For a thread that can move to another core when it was late.
    pub(crate) fn with_way_out() -> Self {
        Courtesy { has_way_out: true, ..Courtesy::new() }
    }

    /// Spreads them over the first [`LONGEST_CALL`] of a `wait`, because it is not known when others need the core.
    pub(crate) fn spread_over(self, wait: Duration) -> Self {
        Courtesy { pace: wait.min(LONGEST_CALL) / YIELDS.max(1), ..self }
    }

    /// Whether to yield once more, `now`. `false` if the yields are used up, the deadline is too near to risk one, or
    /// this thread abstains: then none follows. Also while the next one is not due, if they are
    /// [spread](Self::spread_over).
    pub(crate) fn grants_yield(&mut self, now: Instant, deadline: Option<Instant>) -> bool {
        // The caller has looked in vain since the last one.
        self.long = None;
        if self.left == 0 || self.next.is_some_and(|next| now < next) {
            return false;
        }
        let is_late = deadline.is_some_and(|deadline| deadline.saturating_duration_since(now) < LONG_WAIT);
        if is_late || self.abstains(now) {
            self.left = 0;
        }
        self.left > 0
    }

    fn abstains(&self, now: Instant) -> bool {
        WAS_LATE.get().is_some_and(|(then, took)| {
            let caution = if self.has_way_out { CAUTION_WITH_WAY_OUT } else { CAUTION };
            now.saturating_duration_since(then) < abstinence(took, caution)
        })
    }

    /// Yields the core, `now`. To be followed by a look at what is waited for. Returns when the thread has come back.
    pub(crate) fn yields(&mut self, now: Instant) -> Instant {
        thread::yield_now();
        let back = Instant::now();
        self.long = Some(back.saturating_duration_since(now)).filter(|took| *took >= LONG_WAIT);
        self.left = if self.was_long() { 0 } else { self.left.saturating_sub(1) };
        self.next = now.checked_add(self.pace);
        back
    }

    /// Whether others have had the core for long since the caller last looked in vain.
    pub(crate) fn was_long(&self) -> bool {
        self.long.is_some()
    }

    /// The wait goes on asleep, from now on or again.
    pub(crate) fn sleeps(&self) {
        HAS_SLEPT.set(true);
    }

    /// What is waited for has come, though another thread may take it first.
    pub(crate) fn has_come(&self) {
        if let Some(took) = self.long {
            WAS_LATE.set(Some((Instant::now(), took)));
        }
    }
}

/// Whether threads [look](look). Not in models: a thread that goes to sleep finds what a look would find, too, and
/// looking takes time.
pub(crate) const LOOKS: bool = !cfg!(executors_loom);

/// Checks again and again whether something `has_come`, for as long as being woken may take. Returns whether it has.
/// For what is sure to come soon.
///
/// A thread that abstains from yields checks once: it might keep the core from the thread that is to bring this about.
pub(crate) fn look(mut has_come: impl FnMut() -> bool) -> bool {
    let (begin, mut courtesy) = (Instant::now(), Courtesy::new().spread_over(LONGEST_CALL));
    if courtesy.abstains(begin) {
        return has_come();
    }
    let mut now = begin;
    loop {
        let is_last = now.saturating_duration_since(begin) >= LONGEST_CALL;
        if has_come() {
            courtesy.has_come();
            return true;
        }
        if is_last {
            return false;
        }
        now = if courtesy.grants_yield(now, None) {
            courtesy.yields(now)
        } else {
            hint::spin_loop();
            Instant::now()
        };
    }
}

/// A moment in the past.
#[cfg(all(test, not(executors_loom)))]
pub(crate) fn ago(time: Duration) -> Instant {
    Instant::now().checked_sub(time).expect("the machine runs for that long")
}

/// Makes the calling thread sleep at once where it would yield: so a test knows when it sleeps.
#[cfg(all(test, not(executors_loom)))]
pub(crate) fn abstain() {
    WAS_LATE.set(Some((Instant::now(), ABSTINENCE)));
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    fn yields_of(mut courtesy: Courtesy, deadline: Option<Instant>) -> u32 {
        let (mut yields, mut now) = (0, Instant::now());
        while courtesy.grants_yield(now, deadline) {
            now = courtesy.yields(now);
            yields += 1;
        }
        yields
    }

    fn yields(deadline: Option<Instant>) -> u32 {
        yields_of(Courtesy::new(), deadline)
    }

    /// A wait whose last yield took this long.
    fn late(took: Duration) -> Courtesy {
        Courtesy { left: 0, long: Some(took), ..Courtesy::new() }
    }

    #[test]
    fn a_look_ends_with_success_or_after_a_short_time() {
        let mut looks = 0;
        let second = || {
            looks += 1;
            looks == 2
        };
        assert!(look(second));
        assert_eq!(looks, 2);
        WAS_LATE.set(None); // others may have had the core
        let begin = Instant::now();
        assert!(!look(|| false));
        assert!(begin.elapsed() >= LONGEST_CALL);
    }

    #[test]
    fn a_thread_that_abstains_from_yielding_looks_only_once() {
        late(LONG_WAIT).has_come();
        let mut looks = 0;
        assert!(!look(|| {
            looks += 1;
            false
        }));
        assert_eq!(looks, 1);
        assert!(look(|| true), "it is there");
    }

    #[test]
    fn a_sleep_is_reported_once_unless_it_is_forgotten() {
        forget_sleep();
        assert!(!take_has_slept());
        Courtesy::new().sleeps();
        assert_eq!([take_has_slept(), take_has_slept()], [true, false]);
        Courtesy::new().sleeps();
        forget_sleep();
        assert!(!take_has_slept());
    }

    #[test]
    fn a_thread_yields_only_a_few_times() {
        // Fewer if something else runs.
        assert!((1..=YIELDS).contains(&yields(None)));
    }

    #[test]
    fn a_thread_does_not_yield_if_its_time_is_nearly_up() {
        assert_eq!(yields(Some(Instant::now())), 0);
        assert_eq!(yields(Some(Instant::now() + LONG_WAIT / 2)), 0);
    }

    #[test]
    fn a_thread_does_not_yield_for_a_while_after_a_long_yield() {
        Courtesy { left: 0, ..Courtesy::new() }.has_come();
        assert!(yields(None) > 0, "nothing was missed");
        let mut in_vain = late(LONG_WAIT);
        assert!(!in_vain.grants_yield(Instant::now(), None));
        in_vain.has_come();
        assert!(yields(None) > 0, "it was not late for anything");
        late(ABSTINENCE).has_come();
        assert_eq!(yields(None), 0);
        WAS_LATE.set(Some((ago(ABSTINENCE), ABSTINENCE)));
        assert!(yields(None) > 0, "it is over after some time");
    }

    #[test]
    fn a_thread_abstains_in_proportion_to_its_delay() {
        let with_way_out = || yields_of(Courtesy::with_way_out(), None);
        late(Duration::from_secs(1000)).has_come();
        assert_eq!(with_way_out(), 0);
        let was_late = |since, took| {
            WAS_LATE.set(Some((ago(since), took)));
        };
        let took = ABSTINENCE / (4 * CAUTION_WITH_WAY_OUT);
        was_late(ABSTINENCE / 8, took);
        assert_eq!(with_way_out(), 0);
        was_late(ABSTINENCE / 4, took);
        assert!(with_way_out() > 0);
        assert_eq!(yields(None), 0, "others abstain for longer");
        let took = ABSTINENCE / (4 * CAUTION);
        was_late(ABSTINENCE / 8, took);
        assert_eq!(yields(None), 0);
        was_late(ABSTINENCE / 4, took);
        assert!(yields(None) > 0);
        was_late(ABSTINENCE, ABSTINENCE);
        assert!(with_way_out() > 0, "for no longer than others");
    }
}
