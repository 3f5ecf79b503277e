//! What keeps a crew in memory: its handles, and the futures that were spawned on it, which may be woken when workers
//! and handles are gone.
//!
//! A [`Hold`] is an `Arc` of the crew whose references each worker counts for itself, so that futures that are spawned
//! on one thread and end on another do not move the cache line of one count back and forth. The common count is that of
//! all holds that exist, plus all workers' *credit*: a worker spends one of its credit on each hold that it makes, and
//! gains one for each that it drops. When nothing is left, the crew loses the reference that all holds have together.
//! `crew/README.md` says why that is never too early.

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

/// What a worker buys, or gives back, at a time. The common count's cache line then moves so rarely that it costs
/// nothing: for one of this many futures.
const LOT: usize = if cfg!(executors_loom) { 1 } else { 1024 };

/// A reference to a crew. See the [module](self).
pub(super) struct Hold<S: Source, P: Parker + 'static> {
    /// The one reference of all holds.
    crew: ManuallyDrop<Arc<Crew<S, P>>>,
}

impl<S: Source, P: Parker + 'static> Hold<S, P> {
    /// The only hold of a crew that is not a clone.
    pub(super) fn first(crew: Arc<Crew<S, P>>) -> Self {
        assert_eq!(crew.holds.0.swap(1, Relaxed), 0, "a crew has one first hold");
        Hold { crew: ManuallyDrop::new(crew) }
    }
}

impl<S: Source, P: Parker + 'static> Clone for Hold<S, P> {
    #[inline]
    fn clone(&self) -> Self {
        self.with_this_worker(|worker| match worker {
            Some(worker) => worker.account().spend(),
            None => self.holds.add(1),
        });
        // SAFETY: the reference that all copies of this pointer stand for is dropped when no hold is counted any more,
        // by `drop` or by a worker's account, and not before.
        Hold { crew: unsafe { ptr::read(&raw const self.crew) } }
    }
}

impl<S: Source, P: Parker + 'static> Drop for Hold<S, P> {
    #[inline]
    fn drop(&mut self) {
        let is_counted_out = self.with_this_worker(|worker| worker.map(|worker| worker.account().gain()).is_some());
        // Not inside the closure: as soon as this hold is not counted, another thread may drop the crew, and nothing of
        // the crew but the count itself may be borrowed then.
        if !is_counted_out && subtract(&self.holds.0, 1) {
            // SAFETY: no hold is left, and so no copy of this pointer is in use.
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

/// How many holds there are, and how much credit. On a cache line of its own: threads that spawn futures from outside
/// write it.
pub(super) struct Holds(Apart<AtomicUsize>);

impl Holds {
    /// There is no hold yet.
    pub(super) fn new() -> Self {
        Holds(Apart::new(AtomicUsize::new(0)))
    }

    /// To be called by a thread that has a hold.
    ///
    /// The count cannot overflow, unlike that of an `Arc`: a hold can be forgotten only within an allocation of its
    /// own.
    #[inline]
    fn add(&self, number: usize) {
        // Relaxed: the crew is there, as for `Arc`.
        self.0.fetch_add(number, Relaxed);
    }
}

/// Returns whether nothing is left then. The crew may be gone when this returns.
#[inline]
#[must_use]
fn subtract(holds: &AtomicUsize, number: usize) -> bool {
    // Release and Acquire, as for `Arc`: whatever was done with a hold happens before the crew is dropped.
    holds.fetch_sub(number, AcqRel) == number
}

/// The credit of a worker, which it counts by itself.
#[derive(Default)]
struct Credit(Cell<usize>);

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

    /// For a hold that is dropped.
    #[inline]
    fn gain(&self, holds: &Holds) {
        self.0.update(|credit| credit + 1);
        if self.0.get() > 2 * LOT {
            self.0.update(|credit| credit - LOT);
            let is_last = subtract(&holds.0, LOT);
            debug_assert!(!is_last, "the rest of the credit still counts");
        }
    }

    /// Gives all of it back. Returns whether nothing is left then.
    #[must_use]
    fn end(&self, holds: &Holds) -> bool {
        match self.0.take() {
            0 => false,
            credit => subtract(&holds.0, credit),
        }
    }
}

/// A worker's credit, which it gives back when it leaves.
pub(super) struct Account<'a, S: Source, P: Parker + 'static> {
    crew: &'a Crew<S, P>,
    credit: Credit,
}

impl<'a, S: Source, P: Parker + 'static> Account<'a, S, P> {
    pub(super) fn new(crew: &'a Crew<S, P>) -> Self {
        Account { crew, credit: Credit::default() }
    }

    #[inline]
    fn spend(&self) {
        self.credit.spend(&self.crew.holds);
    }

    #[inline]
    fn gain(&self) {
        self.credit.gain(&self.crew.holds);
    }
}

impl<S: Source, P: Parker + 'static> Drop for Account<'_, S, P> {
    fn drop(&mut self) {
        if self.credit.end(&self.crew.holds) {
            let own = Arc::into_raw(self.crew.myself());
            // SAFETY: no hold is left, so the reference that all holds had together has no owner. The owner from which
            // this account borrows the crew has another one, and so does this function until its end.
            unsafe { Arc::decrement_strong_count(own) };
            // SAFETY: it is what `into_raw` has just given.
            drop(unsafe { Arc::from_raw(own) });
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
        holds.add(1); // as the first
        (0..MANY).for_each(|_| credit.spend(&holds));
        assert_eq!(count(), 1 + MANY, "no more credit than was needed");
        holds.add(MANY); // made by others
        (0..2 * MANY).for_each(|_| credit.gain(&holds));
        assert_eq!(count(), 1 + 2 * LOT, "as much credit as it keeps");
        assert!(!credit.end(&holds), "the first is left");
        assert!(subtract(&holds.0, 1));
    }
}
