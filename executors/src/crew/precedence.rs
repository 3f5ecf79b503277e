//! Precedence: whether a submitter yields its core to the worker that it has called, instead of calling another.
//!
//! A worker that is called for the first job of a burst may have to wait for its caller's core until the caller sleeps.
//! (On few cores, and on a virtual machine, the system mostly wakes it there.) So the second job calls another worker.
//! That takes the submitter longer than the first worker needs for both jobs, if they are short. In a burst of a few
//! jobs the submitter first yields the core: if the worker is there, it runs what there is, and no other need be
//! called; if it is on its way elsewhere, next to no time is lost, and the other is called.
//!
//! A larger burst gains nothing: with one call more a hundred jobs are submitted in less time than giving precedence a
//! few times takes. So a pool goes by its previous bursts, which its workers report. And where giving precedence takes
//! long, because the jobs do, or because others want the core, the submitter is late, and a job may have waited while
//! another core was idle. Then no submitter gives precedence for a while.
//!
//! What this gains is in `docs/results/waking.md`, "A submitter that lets its worker go first".

use crate::{
    courtesy::{self, LONG_WAIT, LONGEST_CALL},
    sync::thread,
};
use std::{
    sync::{
        Mutex, MutexGuard, TryLockError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

/// A burst of up to this many jobs is small.
const SMALL_BURST: u64 = 4;

/// How many times precedence is given in one burst. Each time is followed by a job that calls no worker, because the
/// worker has just been there.
const TIMES: u32 = 2;

/// What the bursts of a pool have taught.
pub(super) struct Precedence {
    /// The most jobs that one worker has run between two long sleeps, of what has been reported since this was last
    /// asked. Relaxed: a guess at what comes next.
    most: AtomicU64,
    /// Locked by a thread that gives precedence, until it has gone on.
    past: Mutex<Past>,
}

struct Past {
    /// The burst in which a submitter last had to call a second worker.
    burst: Option<Burst>,
    /// Until when no submitter gives precedence, because one was late.
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

    /// A worker reports that it has run this many `jobs` between two long sleeps.
    pub(super) fn learns(&self, jobs: u64) {
        self.most.fetch_max(jobs, Relaxed);
    }

    /// For a submitter that would have to call a second worker for its burst: whether to give precedence to the first.
    /// If so, that is one of the [`TIMES`] in this burst.
    pub(super) fn claim(&self) -> Option<Claim<'_>> {
        let mut past = match self.past.try_lock() {
            Ok(past) => past,
            // Nothing under this lock panics halfway through a change.
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None, // one at a time
        };
        let now = Instant::now();
        self.take_turn(&mut past, now).then_some(Claim { past, now })
    }

    /// Whether it is given once more in this burst, which may be a new one.
    fn take_turn(&self, past: &mut Past, now: Instant) -> bool {
        if let Some(is_due) = is_due_in_model() {
            return is_due;
        }
        let burst = match past.burst {
            Some(last) if now.saturating_duration_since(last.began) < LONG_WAIT => last,
            _ => Burst { began: now, left: self.times() },
        };
        let is_due = burst.left > 0 && past.abstains.is_none_or(|end| end <= now) && !courtesy::abstains(now);
        past.burst = Some(Burst { left: burst.left - u32::from(is_due), ..burst });
        is_due
    }

    /// How many times it is given in a new burst.
    fn times(&self) -> u32 {
        let are_small = (1..=SMALL_BURST).contains(&self.most.swap(0, Relaxed));
        if are_small { TIMES } else { 0 }
    }
}

/// Not loom's: set while a model runs, each in a process of its own.
#[cfg(executors_loom)]
pub(super) static IS_DUE_IN_MODEL: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// What a model does must not depend on the clock.
fn is_due_in_model() -> Option<bool> {
    #[cfg(executors_loom)]
    return Some(IS_DUE_IN_MODEL.load(Relaxed));
    #[cfg(not(executors_loom))]
    None
}

/// What a submitter has that may give precedence now: no other submitter may, as long as this lives.
#[must_use = "no other thread has been let go first yet"]
pub(super) struct Claim<'a> {
    past: MutexGuard<'a, Past>,
    now: Instant,
}

impl Claim<'_> {
    /// Yields the core of this thread to others.
    pub(super) fn give(&mut self) {
        thread::yield_now();
        let end = Instant::now();
        let took = end.saturating_duration_since(self.now);
        if took > LONGEST_CALL {
            self.past.abstains = end.checked_add(courtesy::usual_abstinence(took));
        }
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use crate::courtesy::ago;
    use std::time::Duration;

    #[test]
    fn precedence_is_given_in_bursts_after_small_ones() {
        let precedence = Precedence::new();
        let times = |told: &[u64]| {
            told.iter().for_each(|&jobs| precedence.learns(jobs));
            precedence.times()
        };
        assert_eq!([&[][..], &[0], &[1], &[2, SMALL_BURST]].map(times), [0, 0, TIMES, TIMES]);
        assert_eq!([&[1, SMALL_BURST + 1, 0][..], &[], &[2]].map(times), [0, 0, TIMES], "the largest counts, and once");
    }

    /// In a burst after a small one, which lasts for longer than any test.
    fn after_a_small_burst() -> Precedence {
        let precedence = Precedence::new();
        precedence.past().burst = Some(Burst { began: Instant::now() + LONG_TIME, left: TIMES });
        precedence
    }

    const LONG_TIME: Duration = Duration::from_secs(1000);

    impl Precedence {
        fn past(&self) -> MutexGuard<'_, Past> {
            self.past.lock().expect("no panic under this lock")
        }
    }

    #[test]
    fn a_burst_is_new_after_a_quiet_period() {
        let precedence = Precedence::new();
        for (began, is_new) in [(Instant::now() + LONG_TIME, false), (ago(LONG_WAIT), true)] {
            precedence.past().burst = Some(Burst { began, left: 0 });
            precedence.learns(1);
            assert_eq!(precedence.claim().is_some(), is_new);
        }
    }

    #[test]
    fn precedence_is_given_a_few_times_in_each_burst() {
        let precedence = after_a_small_burst();
        assert_eq!((0..3 * TIMES).filter_map(|_| precedence.claim()).count(), TIMES as usize);
    }

    #[test]
    fn one_submitter_at_a_time_gives_precedence() {
        let precedence = after_a_small_burst();
        let claim = precedence.claim();
        assert!(claim.is_some() && precedence.claim().is_none());
        drop(claim);
        assert!(precedence.claim().is_some());
    }

    #[test]
    fn no_precedence_is_given_for_a_while_after_a_late_return() {
        let precedence = after_a_small_burst();
        let late = |took| {
            Claim { past: precedence.past(), now: ago(took) }.give();
            precedence.past().abstains.expect("it was late").saturating_duration_since(Instant::now())
        };
        assert!(
            late(Duration::from_millis(5)) > Duration::from_secs(2),
            "as long as other threads abstain from yields"
        );
        assert!(precedence.claim().is_none());
        precedence.past().abstains = Some(Instant::now());
        assert!(precedence.claim().is_some(), "it is over after some time");
    }
}
