//! How often the operating system is asked for threads after it has refused some.

use std::time::{Duration, Instant};

/// An exponential back-off, or each job would cost a system call where threads have run out. A pause rather than a
/// number of jobs to pass over: so where jobs are rare, or have stopped for a while, the next one asks.
#[derive(Debug, Default)]
pub(super) struct SpawnBackoff {
    /// For how long no thread is asked for after the next refusal.
    pause: Duration,
    until: Option<Instant>,
}

/// After the second refusal in a row; after each further one twice as long as before. An attempt takes some ten
/// microseconds: a hundredth.
const SHORTEST: Duration = Duration::from_millis(1);

/// Short enough that a thread comes soon once the system grants it again.
const LONGEST: Duration = Duration::from_millis(100);

impl SpawnBackoff {
    /// Whether no thread is to be asked for now. (In a model no time passes, and what it does must not depend on the
    /// clock.)
    pub(super) fn holds(&self) -> bool {
        !cfg!(executors_loom) && self.until.is_some_and(|until| Instant::now() < until)
    }

    /// Counts one more refusal in a row.
    pub(super) fn count_refusal(&mut self) {
        if !self.pause.is_zero() {
            self.until = Instant::now().checked_add(self.pause);
        }
        self.pause = (2 * self.pause).clamp(SHORTEST, LONGEST);
    }

    /// A thread was granted, or is to be asked for in any case.
    pub(super) fn end(&mut self) {
        *self = SpawnBackoff::default();
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    #[test]
    fn pauses_begin_with_the_second_refusal_in_a_row_and_double() {
        let mut backoff = SpawnBackoff::default();
        backoff.count_refusal();
        assert_eq!(backoff.until, None);
        for millis in [1, 2, 4, 8, 16, 32, 64, 100, 100] {
            let pause = Duration::from_millis(millis);
            let before = Instant::now();
            backoff.count_refusal();
            let until = backoff.until.expect("a pause");
            assert!((before + pause..=Instant::now() + pause).contains(&until), "{pause:?}");
        }
    }

    #[test]
    fn a_backoff_holds_until_a_pause_is_over_or_a_thread_is_granted() {
        let at = |until| SpawnBackoff { pause: LONGEST, until: Some(until) };
        let mut backoff = at(Instant::now() + Duration::from_secs(1000));
        assert!(backoff.holds() && !at(Instant::now()).holds());
        backoff.end();
        assert!(!backoff.holds());
    }
}
