//! A count of references to a crew, of which each worker counts its own share.
//!
//! References that are made on one thread and dropped on another do not move the cache line of one count back and forth
//! then. The common count is that of all references that exist, plus all workers' *credit*: a worker spends one of its
//! credit on each reference that it makes, and gains one for each that it drops. `crew/README.md` says why the count is
//! zero when no reference is left, and never too early.

#[cfg(all(test, executors_loom))]
mod model;

use crate::{
    apart::Apart,
    sync::atomic::{
        AtomicUsize,
        Ordering::{AcqRel, Relaxed},
    },
};
use std::{cell::Cell, process};

/// What a worker buys, or gives back, at a time. The common count's cache line then moves so rarely that it costs
/// nothing: for one of this many references.
const LOT: usize = if cfg!(executors_loom) { 1 } else { 1024 };

/// How many references there are, and how much credit. On a cache line of its own: threads that are no workers write
/// it.
pub(super) struct SharedCount(Apart<AtomicUsize>);

impl SharedCount {
    /// There is no reference yet.
    pub(super) fn new() -> Self {
        SharedCount(Apart::new(AtomicUsize::new(0)))
    }

    /// For the one reference that is not made from another.
    pub(super) fn begin(&self) {
        assert_eq!(self.0.swap(1, Relaxed), 0, "one reference comes first");
    }

    /// For references that are made, by a thread that has one.
    #[inline]
    pub(super) fn add(&self, number: usize) {
        // Relaxed: the crew is there, as for `Arc`; and as there, a program that forgets so many references is aborted.
        if self.0.fetch_add(number, Relaxed) > isize::MAX as usize {
            process::abort();
        }
    }

    /// For [`subtract`].
    pub(super) fn word(&self) -> &AtomicUsize {
        &self.0
    }
}

/// For references that are dropped, from a [`SharedCount`]. Returns whether nothing is left.
///
/// The crew may be gone when this returns, unless the caller has other means to keep it. So it borrows no more than
/// what is atomic.
#[inline]
#[must_use]
pub(super) fn subtract(count: &AtomicUsize, number: usize) -> bool {
    // Release and Acquire, as for `Arc`: whatever was done with a reference happens before what is done when none is
    // left.
    count.fetch_sub(number, AcqRel) == number
}

/// The credit of a worker, which it counts by itself.
#[derive(Default)]
pub(super) struct Credit(Cell<usize>);

impl Credit {
    /// For a reference that is made.
    #[inline]
    pub(super) fn spend(&self, count: &SharedCount) {
        if self.0.get() == 0 {
            count.add(LOT);
            self.0.set(LOT);
        }
        self.0.update(|credit| credit - 1);
    }

    /// For a reference that is dropped.
    #[inline]
    pub(super) fn gain(&self, count: &SharedCount) {
        self.0.update(|credit| credit + 1);
        if self.0.get() > 2 * LOT {
            self.0.update(|credit| credit - LOT);
            let is_last = subtract(count.word(), LOT);
            debug_assert!(!is_last, "the rest of the credit still counts");
        }
    }

    /// Gives all of it back. Returns whether nothing is left then.
    #[inline]
    #[must_use]
    pub(super) fn give_back(&self, count: &SharedCount) -> bool {
        match self.0.take() {
            0 => false,
            credit => subtract(count.word(), credit),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.get() == 0
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_worker_buys_and_gives_back_in_lots() {
        const MANY: usize = 10 * LOT;
        let (shared, credit) = (SharedCount::new(), Credit::default());
        let count = || shared.0.load(Relaxed);
        shared.begin();
        (0..MANY).for_each(|_| credit.spend(&shared));
        assert_eq!(count(), 1 + MANY, "no more credit than was needed");
        shared.add(MANY); // made by others
        (0..2 * MANY).for_each(|_| credit.gain(&shared));
        assert_eq!(count(), 1 + 2 * LOT, "as much credit as it keeps");
        assert!(!credit.give_back(&shared), "the first is left");
        assert!(credit.is_empty() && !credit.give_back(&shared));
        assert!(subtract(shared.word(), 1));
    }
}
