//! When a subpool's next job is that of the queue whose turn it is, rather than one of the highest level.

use crate::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::cell::Cell;

/// How many jobs of each subpool a worker may still begin by priority, before it has to begin one by turns.
///
/// Each worker counts for itself, and for each subpool separately: what it has begun in one is not forgotten while it
/// works for others.
pub(super) struct Aging {
    period: u32,
    /// How many are left in the subpool whose token the worker holds.
    left: Cell<u32>,
    /// How many are left in each other subpool.
    left_elsewhere: Box<[Cell<u32>]>,
}

impl Aging {
    pub(super) fn new(period: u32, subpools: usize) -> Self {
        let period = period.max(1);
        let left_elsewhere = (0..subpools).map(|_| Cell::new(period)).collect();
        Aging { period, left: Cell::new(0), left_elsewhere }
    }

    /// Whether the next job is one by turns, if it is of the subpool whose token is held.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.left.get() == 0
    }

    /// The same for a subpool whose token is not held.
    pub(super) fn is_due_at(&self, other: usize) -> bool {
        self.left_elsewhere[other].get() == 0
    }

    /// A job begins by priority.
    #[inline]
    pub(super) fn count_one(&self) {
        self.left.set(self.left.get().saturating_sub(1));
    }

    /// A job begins by turns, or no other queue of the subpool has any.
    pub(super) fn begin_period(&self) {
        self.left.set(self.period);
    }

    /// The worker has exchanged one token for another. A number beyond the last subpool's stands for no token.
    pub(super) fn go_on(&self, from: usize, to: usize) {
        if let Some(left) = self.left_elsewhere.get(from) {
            left.set(self.left.get());
        }
        self.left.set(self.left_elsewhere.get(to).map_or(0, Cell::get));
    }
}

/// Whose turn it was last, of up to 64.
///
/// Relaxed: nothing follows from the number. It is changed by compare-and-exchange, so that it skips none of those that
/// its reader saw.
#[derive(Default)]
pub(super) struct RoundRobin(AtomicU32);

impl RoundRobin {
    /// Passes the turn on to the next one of those that are `among` the set, and returns it.
    pub(super) fn pass(&self, among: u64) -> Option<u32> {
        let mut last = self.0.load(Relaxed);
        loop {
            let next = next_one(among, last)?;
            match self.0.compare_exchange(last, next, Relaxed, Relaxed) {
                Ok(_) => return Some(next),
                Err(now) => last = now,
            }
        }
    }
}

/// The first of `bits` after the `last` one, or else the first of all.
pub(super) fn next_one(bits: u64, last: u32) -> Option<u32> {
    let behind = bits & u64::MAX.checked_shl(last + 1).unwrap_or(0);
    (bits != 0).then(|| if behind == 0 { bits.trailing_zeros() } else { behind.trailing_zeros() })
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    #[test]
    fn turns_go_round_the_members_of_the_set() {
        let turn = RoundRobin::default();
        let turns: Vec<_> = [0b1011, 0b1011, 0b1001, 0b1011, 1 << 63, 1 << 63, 0b10].map(|set| turn.pass(set)).into();
        assert_eq!(turns, [1, 3, 0, 1, 63, 63, 1].map(Some));
        assert_eq!(turn.pass(0), None);
    }

    #[test]
    fn each_subpool_is_counted_separately() {
        let aging = Aging::new(2, 2);
        aging.go_on(usize::MAX, 0);
        aging.count_one();
        assert!(!aging.is_due());
        aging.go_on(0, 1);
        assert!(!aging.is_due() && !aging.is_due_at(0));
        aging.count_one();
        aging.count_one();
        assert!(aging.is_due());
        aging.go_on(1, 0);
        assert!(!aging.is_due() && aging.is_due_at(1));
        aging.count_one();
        assert!(aging.is_due());
        aging.begin_period();
        assert!(!aging.is_due());
    }
}
