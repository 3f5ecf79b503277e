//! A back-off: letting other threads have the core before going to sleep.
//!
//! Who waits for a job, and the worker that runs it, are often on one core: then the job ends while its waiter yields,
//! and the next one comes while the worker does, and nobody has to be put to sleep and woken.
//!
//! But whoever else wants the core may keep it for as long as the scheduler lets it, while what is waited for happens
//! on another core. So a thread that comes back late for that does not yield any more for a while: it sleeps at once
//! then, and who calls it brings it back to a core. (A worker for which that is no way out yields [all the
//! same](forgive).)

use crate::sync::thread;
use std::{
    cell::Cell,
    time::{Duration, Instant},
};

/// Together they take about as long as being woken once. A model has no time to lose.
const YIELDS: u32 = if cfg!(executors_loom) { 0 } else { 8 };

/// Longer than somebody takes to give the next job.
const LONG: Duration = Duration::from_micros(300);

/// A late yield can cost milliseconds; one in ten seconds is rare enough that few waits meet it.
const ABSTINENCE: Duration = Duration::from_secs(10);

thread_local! {
    /// When this thread may yield again.
    static ABSTAINS_UNTIL: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// The calling thread may yield again at once.
pub(crate) fn forgive() {
    ABSTAINS_UNTIL.set(None);
}

/// The yields of one wait.
pub(crate) struct Courtesy {
    left: u32,
    /// Whether the last one took long.
    was_long: bool,
}

impl Courtesy {
    pub(crate) fn new() -> Self {
        Courtesy { left: YIELDS, was_long: false }
    }

    /// Whether to yield once more. If not, it is time to sleep, or soon too late to look again.
    pub(crate) fn is_due(&mut self, deadline: Option<Instant>) -> bool {
        // Whoever asks has looked in vain since the last one.
        self.was_long = false;
        if self.left == 0 {
            return false;
        }
        let now = Instant::now();
        let is_late = deadline.is_some_and(|deadline| deadline.saturating_duration_since(now) < LONG);
        if is_late || ABSTAINS_UNTIL.get().is_some_and(|end| now < end) {
            self.left = 0;
        }
        self.left > 0
    }

    /// Lets others have the core. To be followed by a look at what is waited for.
    pub(crate) fn yields(&mut self) {
        let begin = Instant::now();
        thread::yield_now();
        self.was_long = begin.elapsed() >= LONG;
        self.left = if self.was_long { 0 } else { self.left.saturating_sub(1) };
    }

    /// Whether somebody else has kept the core for long, since the caller last looked in vain.
    pub(crate) fn was_late(&self) -> bool {
        self.was_long
    }

    /// What is waited for has come.
    pub(crate) fn ends(self) {
        if self.was_long {
            ABSTAINS_UNTIL.set(Instant::now().checked_add(ABSTINENCE));
        }
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    fn yields(deadline: Option<Instant>) -> u32 {
        let mut courtesy = Courtesy::new();
        let mut yields = 0;
        while courtesy.is_due(deadline) {
            courtesy.yields();
            yields += 1;
        }
        yields
    }

    #[test]
    fn there_are_few_yields() {
        // Fewer if something else runs.
        assert!((1..=YIELDS).contains(&yields(None)));
    }

    #[test]
    fn there_is_none_if_the_time_is_nearly_up() {
        assert_eq!(yields(Some(Instant::now())), 0);
        assert_eq!(yields(Some(Instant::now() + LONG / 2)), 0);
    }

    #[test]
    fn there_is_none_for_a_while_after_one_that_was_too_long() {
        Courtesy { left: 0, was_long: false }.ends();
        assert!(yields(None) > 0, "nothing was missed");
        let mut in_vain = Courtesy { left: 0, was_long: true };
        assert!(!in_vain.is_due(None));
        in_vain.ends();
        assert!(yields(None) > 0, "it was not late for anything");
        Courtesy { left: 0, was_long: true }.ends();
        assert_eq!(yields(None), 0);
        ABSTAINS_UNTIL.set(Some(Instant::now()));
        assert!(yields(None) > 0, "some time it is over");
        Courtesy { left: 0, was_long: true }.ends();
        forgive();
        assert!(yields(None) > 0, "there is another way out");
    }
}
