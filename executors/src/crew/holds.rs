//! Who keeps a crew in memory: its handles, and its suspended futures, which may be woken when workers and handles have
//! gone.
//!
//! A [`Hold`] is an `Arc` of the crew whose references each worker counts for itself, so that futures that are spawned
//! on one thread and end on another do not send the line of one count to and fro. The common count is that of all holds
//! there are, and of the *credit* of all workers: what they may count without it. Who makes a hold spends one of its
//! credit, who drops one gains one; and a worker buys credit when it has none, and gives it back when it has much or
//! leaves. So the count is zero only when there is no hold at all, and then the crew loses the reference that all holds
//! have together. (Workers have references of their own.)

#[cfg(all(test, executors_loom))]
mod model;

use super::Crew;
use crate::{
    apart::Apart,
    parker::Parker,
    source::Source,
    sync::atomic::{
        AtomicUsize,
        Ordering::{AcqRel, Relaxed},
    },
};
use std::{cell::Cell, mem::ManuallyDrop, ops::Deref, ptr, sync::Arc};

/// What a worker buys, or gives back, at a time.
const LOT: usize = if cfg!(executors_loom) { 1 } else { 1024 };

/// A reference to a crew. See the [module](self).
pub(super) struct Hold<S: Source, P: Parker + 'static> {
    /// The one reference of all holds, dropped by the last.
    crew: ManuallyDrop<Arc<Crew<S, P>>>,
}

impl<S: Source, P: Parker + 'static> Hold<S, P> {
    /// The only one for each crew that is not a clone.
    pub(super) fn first(crew: Arc<Crew<S, P>>) -> Self {
        Hold { crew: ManuallyDrop::new(crew) }
    }
}

impl<S: Source, P: Parker + 'static> Clone for Hold<S, P> {
    #[inline]
    fn clone(&self) -> Self {
        let Crew { holds, .. } = &***self;
        self.with_this_worker(|worker| match worker {
            Some(worker) => worker.credit().spend(holds),
            None => holds.add(1),
        });
        // SAFETY: as long as a hold is counted, the reference that all copies of this pointer stand for is not dropped:
        // `drop` drops it through the last one only.
        Hold { crew: unsafe { ptr::read(&raw const self.crew) } }
    }
}

impl<S: Source, P: Parker + 'static> Drop for Hold<S, P> {
    #[inline]
    fn drop(&mut self) {
        let Crew { holds, .. } = &***self;
        let is_last = self.with_this_worker(|worker| match worker {
            Some(worker) => {
                worker.credit().gain(holds);
                false
            }
            None => holds.subtract(1),
        });
        if is_last {
            // SAFETY: nobody has a hold any more, and so nobody uses a copy of this pointer.
            unsafe { ManuallyDrop::drop(&mut self.crew) }
        }
    }
}

impl<S: Source, P: Parker + 'static> Deref for Hold<S, P> {
    type Target = Arc<Crew<S, P>>;

    #[inline(always)]
    fn deref(&self) -> &Arc<Crew<S, P>> {
        &self.crew
    }
}

impl<S: Source, P: Parker + 'static> Crew<S, P> {
    /// Takes back the credit of a worker that leaves, and borrows the crew from a reference of its own.
    pub(super) fn end_credit(&self, credit: &Credit) {
        if credit.end(&self.holds) {
            // SAFETY: nobody has a hold any more, so the reference that they had together is nobody's. The pointer is
            // that of the `Arc`, and the worker's reference keeps the crew.
            unsafe { Arc::decrement_strong_count(self.this.as_ptr()) }
        }
    }
}

/// How many holds there are, and how much credit. Beside nothing else: who spawns futures from outside writes it.
pub(super) struct Holds(Apart<AtomicUsize>);

impl Holds {
    /// One, which is the first.
    pub(super) fn new() -> Self {
        Holds(Apart::new(AtomicUsize::new(1)))
    }

    /// To be called by who has a hold.
    fn add(&self, number: usize) {
        // Relaxed: the crew is there, as for `Arc`.
        self.0.fetch_add(number, Relaxed);
    }

    /// Whether there are none any more.
    #[must_use]
    fn subtract(&self, number: usize) -> bool {
        // Release and Acquire, as for `Arc`: whatever was done with a hold happens before the crew is dropped. What a
        // worker has done with one, or who handed it one to drop, happens before it gives its credit back.
        self.0.fetch_sub(number, AcqRel) == number
    }
}

/// What a worker may count for itself.
#[derive(Default)]
pub(super) struct Credit(Cell<usize>);

impl Credit {
    /// For a hold that is made.
    #[inline]
    fn spend(&self, holds: &Holds) {
        if self.0.get() == 0 {
            holds.add(LOT);
            self.0.set(LOT);
        }
        self.0.update(|credit| credit - 1);
    }

    /// Of a hold that is dropped.
    #[inline]
    fn gain(&self, holds: &Holds) {
        self.0.update(|credit| credit + 1);
        if self.0.get() > 2 * LOT {
            self.0.update(|credit| credit - LOT);
            let is_last = holds.subtract(LOT);
            debug_assert!(!is_last, "the rest of the credit still counts");
        }
    }

    /// Gives all of it back. Whether there are no holds any more.
    #[must_use]
    fn end(&self, holds: &Holds) -> bool {
        match self.0.take() {
            0 => false,
            credit => holds.subtract(credit),
        }
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_worker_buys_and_gives_back_in_lots() {
        const MANY: usize = 10 * LOT;
        let (holds, credit) = (Holds::new(), Credit::default());
        let count = || holds.0.load(Relaxed);
        (0..MANY).for_each(|_| credit.spend(&holds));
        assert_eq!(count(), 1 + MANY, "no more credit than was needed");
        holds.add(MANY); // made by others
        (0..2 * MANY).for_each(|_| credit.gain(&holds));
        assert_eq!(count(), 1 + 2 * LOT, "as much credit as it keeps");
        assert!(!credit.end(&holds), "the first is left");
        assert!(holds.subtract(1));
    }
}
