//! Who goes first on a core: a submitter, or the worker that it has called.
//!
//! A worker that is called for the first job of a burst may have to wait for its caller's core until that sleeps. (On few
//! cores, and on a virtual machine, the system mostly wakes it there.) So the second job calls another worker, which
//! takes the submitter longer than the worker needs for both jobs, if they are short. In a burst of a few jobs the
//! submitter first lets others have the core: if the worker is there, it runs what there is, and no other need be called;
//! if it is on its way elsewhere, next to no time is lost, and the other is called.
//!
//! A larger burst gains nothing: with one call more a hundred jobs are given in less time than giving precedence a few
//! times takes. So a thread goes by its burst before. And where it takes long, as the jobs do, or as others want the
//! core, the submitter is late, and a job may have waited while another core was idle. Then the thread gives none for a
//! while.
//!
//! What that is worth is told in `docs/results/waking.md`, "A submitter that lets its worker go first".

use crate::{
    courtesy::{self, ABSTINENCE, LONG, LONGEST_CALL},
    sync::thread,
};
use std::{cell::Cell, time::Instant};

/// A burst of so many jobs is small.
const FEW: usize = 4;

/// How many times precedence is given in one burst. Each time is followed by a job that calls nobody, as the worker has
/// just been there.
const TIMES: u32 = 2;

/// Who was late gives none for so many times as long, so that a thousandth of the time is lost at most; for no longer
/// than others abstain from yields.
const CAUTION: u32 = 1000;

thread_local! {
    /// The burst in which this thread last had to call a second worker.
    static BURST: Cell<Option<Burst>> = const { Cell::new(None) };

    /// Until when this thread gives no precedence, as it was late.
    static ABSTAINS: Cell<Option<Instant>> = const { Cell::new(None) };
}

#[derive(Clone, Copy)]
struct Burst {
    began: Instant,
    /// How many jobs the pool had been given by then. If the next burst is for another pool, this says nothing of it, and
    /// most likely that one passes for large.
    given: usize,
    /// How many times precedence may still be given in it.
    left: u32,
}

impl Burst {
    /// The one of a job that is given `now`: `last`, if that still goes on.
    fn at(now: Instant, given: usize, last: Option<Burst>) -> Burst {
        match last {
            Some(last) if now.saturating_duration_since(last.began) < LONG => last,
            Some(last) if given.wrapping_sub(last.given) <= FEW => Burst { began: now, given, left: TIMES },
            _ => Burst { began: now, given, left: 0 },
        }
    }
}

/// A submitter's offer to let others have its core.
#[must_use = "nobody has been let go first yet"]
pub(super) struct Precedence {
    begin: Instant,
}

impl Precedence {
    /// If it is likely to pay, for a pool that has been `given` so many jobs, modulo what fits.
    pub(super) fn due(given: usize) -> Option<Precedence> {
        // What a model does must not depend on the clock.
        if cfg!(executors_loom) {
            return None;
        }
        let now = Instant::now();
        let burst = Burst::at(now, given, BURST.get());
        let is_due = burst.left > 0 && ABSTAINS.get().is_none_or(|end| end <= now) && !courtesy::was_late(now);
        BURST.set(Some(Burst { left: burst.left - u32::from(is_due), ..burst }));
        is_due.then_some(Precedence { begin: now })
    }

    pub(super) fn give(self) {
        thread::yield_now();
        let end = Instant::now();
        let took = end.saturating_duration_since(self.begin);
        if took > LONGEST_CALL {
            ABSTAINS.set(end.checked_add(took.saturating_mul(CAUTION).min(ABSTINENCE)));
        }
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    /// How many times precedence may be given in each of these bursts, one after the other, of so many jobs each.
    fn times(bursts: &[usize]) -> Vec<u32> {
        let (mut now, mut given, mut last) = (Instant::now(), 0, None);
        let mut burst = |&jobs: &usize| {
            now += LONG;
            let burst = Burst::at(now, given, last);
            let later = Burst::at(now + LONG / 2, given + 1, Some(Burst { left: 17, ..burst }));
            assert_eq!((later.began, later.left), (now, 17), "it goes on");
            (last, given) = (Some(burst), given.wrapping_add(jobs));
            burst.left
        };
        bursts.iter().map(&mut burst).collect()
    }

    #[test]
    fn precedence_is_given_in_bursts_behind_small_ones() {
        assert_eq!(times(&[2, FEW, FEW + 1, 1000, 2, 2]), [0, TIMES, TIMES, 0, 0, TIMES]);
        assert_eq!(times(&[FEW, usize::MAX - 100, 2]), [0, TIMES, 0], "the second was the first for another pool");
    }

    #[test]
    fn it_is_given_a_few_times_in_each() {
        BURST.set(Some(Burst { began: Instant::now() + LONG, given: 0, left: TIMES }));
        assert_eq!((0..3 * TIMES).filter_map(|_| Precedence::due(1)).count(), TIMES as usize);
    }

    #[test]
    fn who_was_late_gives_none_for_a_while() {
        let is_due = || {
            BURST.set(Some(Burst { began: Instant::now() + LONG, given: 0, left: TIMES }));
            Precedence::due(1).is_some()
        };
        let abstains_for = || ABSTAINS.get().map(|end| end.saturating_duration_since(Instant::now()));
        let ago = |time| Instant::now().checked_sub(time).expect("the machine runs for that long");
        assert!(is_due());
        Precedence { begin: ago(LONG) }.give();
        assert!(!is_due());
        assert!(abstains_for() > Some(LONG * CAUTION / 2));
        Precedence { begin: ago(ABSTINENCE) }.give();
        assert!(abstains_for() <= Some(ABSTINENCE));
        ABSTAINS.set(Some(Instant::now()));
        assert!(is_due(), "some time it is over");
    }
}
