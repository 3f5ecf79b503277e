//! Who goes first on a core: a submitter, or the worker that it has called.
//!
//! A worker that is called for the first job of a burst may have to wait for its caller's core until that sleeps. (On
//! few cores, and on a virtual machine, the system mostly wakes it there.) So the second job calls another worker. That
//! takes the submitter longer than the first worker needs for both jobs, if they are short. In a burst of a few jobs
//! the submitter first lets others have the core: if the worker is there, it runs what there is, and no other need be
//! called; if it is on its way elsewhere, next to no time is lost, and the other is called.
//!
//! A larger burst gains nothing: with one call more a hundred jobs are given in less time than giving precedence a few
//! times takes. So a pool goes by the bursts before, as its workers tell of them. And where it takes long, as the jobs
//! do, or as others want the core, the submitter is late, and a job may have waited while another core was idle. Then
//! nobody gives precedence for a while.
//!
//! What that is worth is told in `docs/results/waking.md`, "A submitter that lets its worker go first".

use crate::{
    courtesy::{self, ABSTINENCE, LONG, LONGEST_CALL},
    sync::thread,
};
use std::{
    sync::{
        Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

/// A burst of so many jobs is small.
const FEW: u64 = 4;

/// How many times precedence is given in one burst. Each time is followed by a job that calls nobody, as the worker has
/// just been there.
const TIMES: u32 = 2;

/// Who was late gives none for so many times as long, so that a thousandth of the time is lost at most; for no longer
/// than others abstain from yields.
const CAUTION: u32 = 1000;

/// What the bursts of a pool have taught.
pub(super) struct Precedence {
    /// The most jobs that one worker has run between two long sleeps, of what has been told since somebody asked.
    /// Relaxed: a guess at what comes next.
    most: AtomicU64,
    /// Locked for some instructions, once or twice in a burst.
    past: Mutex<Past>,
}

#[derive(Default)]
struct Past {
    /// The burst in which somebody last had to call a second worker.
    burst: Option<Burst>,
    /// Until when nobody gives precedence, as somebody was late.
    abstains: Option<Instant>,
}

#[derive(Clone, Copy)]
struct Burst {
    began: Instant,
    /// How many times precedence may still be given in it.
    left: u32,
}

impl Precedence {
    pub(super) const fn new() -> Self {
        Precedence { most: AtomicU64::new(0), past: Mutex::new(Past { burst: None, abstains: None }) }
    }

    /// A worker tells that it has run so many jobs between two long sleeps.
    pub(super) fn learns(&self, jobs: u64) {
        self.most.fetch_max(jobs, Relaxed);
    }

    /// Whether to [give](Self::give) it: if so, what time it is. To be asked by a submitter that would have to call a
    /// second worker for its burst.
    pub(super) fn is_due(&self) -> Option<Instant> {
        // What a model does must not depend on the clock.
        if cfg!(executors_loom) {
            return None;
        }
        let mut past = match self.past.try_lock() {
            Ok(past) => past,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None, // one at a time
        };
        let now = Instant::now();
        let burst = match past.burst {
            Some(last) if now.saturating_duration_since(last.began) < LONG => last,
            _ => Burst { began: now, left: self.times() },
        };
        let is_due = burst.left > 0 && past.abstains.is_none_or(|end| end <= now) && !courtesy::was_late(now);
        past.burst = Some(Burst { left: burst.left - u32::from(is_due), ..burst });
        is_due.then_some(now)
    }

    /// How many times it is given in a new burst.
    fn times(&self) -> u32 {
        let are_small = (1..=FEW).contains(&self.most.swap(0, Relaxed));
        if are_small { TIMES } else { 0 }
    }

    /// Lets other threads have the core of the calling one. It is `now`.
    pub(super) fn give(&self, now: Instant) {
        thread::yield_now();
        let end = Instant::now();
        let took = end.saturating_duration_since(now);
        if took > LONGEST_CALL {
            self.past().abstains = end.checked_add(took.saturating_mul(CAUTION).min(ABSTINENCE));
        }
    }

    fn past(&self) -> MutexGuard<'_, Past> {
        // Nothing under this lock panics halfway through a change.
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    #[test]
    fn precedence_is_given_in_bursts_behind_small_ones() {
        let precedence = Precedence::new();
        let times = |told: &[u64]| {
            told.iter().for_each(|&jobs| precedence.learns(jobs));
            precedence.times()
        };
        assert_eq!([&[][..], &[0], &[1], &[2, FEW]].map(times), [0, 0, TIMES, TIMES]);
        assert_eq!([&[1, FEW + 1, 0][..], &[], &[2]].map(times), [0, 0, TIMES], "the largest counts, and once");
    }

    /// Behind a small burst; the next one lasts.
    fn behind_a_small_burst() -> Precedence {
        let precedence = Precedence::new();
        precedence.past().burst = Some(Burst { began: Instant::now() + 1000 * LONG, left: TIMES });
        precedence
    }

    #[test]
    fn a_new_burst_is_one_behind_some_quiet() {
        let precedence = Precedence::new();
        precedence.past().burst = Some(Burst { began: Instant::now(), left: 0 });
        precedence.learns(1);
        assert!(precedence.is_due().is_none());
        precedence.past().burst =
            Some(Burst { began: Instant::now().checked_sub(LONG).expect("it runs for that long"), left: 0 });
        assert!(precedence.is_due().is_some());
    }

    #[test]
    fn it_is_given_a_few_times_in_each() {
        let precedence = behind_a_small_burst();
        assert_eq!((0..3 * TIMES).filter_map(|_| precedence.is_due()).count(), TIMES as usize);
    }

    #[test]
    fn one_submitter_gives_it_at_a_time() {
        let precedence = behind_a_small_burst();
        let past = precedence.past();
        assert!(precedence.is_due().is_none());
        drop(past);
        assert!(precedence.is_due().is_some());
    }

    #[test]
    fn none_is_given_for_a_while_after_somebody_was_late() {
        let precedence = behind_a_small_burst();
        let abstains_for = || precedence.past().abstains.map(|end| end.saturating_duration_since(Instant::now()));
        let ago = |time| Instant::now().checked_sub(time).expect("the machine runs for that long");
        precedence.give(ago(LONG));
        assert!(precedence.is_due().is_none());
        assert!(abstains_for() > Some(LONG * CAUTION / 2));
        precedence.give(ago(ABSTINENCE));
        assert!(abstains_for() <= Some(ABSTINENCE));
        precedence.past().abstains = Some(Instant::now());
        assert!(precedence.is_due().is_some(), "some time it is over");
    }
}
