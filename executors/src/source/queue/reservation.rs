//! A word that says whether a thread has a part of a queue to itself.
//!
//! It is *open*, *reserved* for one thread, or *recalled* from that thread by another ([recalls](crate::recall)). What
//! else it says, and what a thread may do in each state, differs: see [rings](super::ring), [stacks](super::stack) and
//! [locks](super::biased_lock).

use crate::sync::atomic::{
    AtomicU64, Ordering,
    Ordering::{AcqRel, Acquire},
};
use std::marker::PhantomData;

/// What such a word says. The two highest bits are for its state, unless a type says otherwise.
pub(super) trait Reservation: Copy + PartialEq {
    fn of(word: u64) -> Self;

    fn word(self) -> u64;

    #[inline(always)]
    fn is_open(self) -> bool {
        self.word() < RECALLED
    }

    #[inline(always)]
    fn is_reserved(self) -> bool {
        self.word() >= RESERVED
    }

    /// What it says once it is recalled; for one that is reserved.
    fn recalled(self) -> Self {
        Self::of(self.word() & !RESERVED | RECALLED)
    }
}

pub(super) const RESERVED: u64 = 1 << 63;
pub(super) const RECALLED: u64 = 1 << 62;

/// The word. Where it is reserved or recalled, it is changed by exchanges only.
pub(super) struct Reservable<R>(AtomicU64, PhantomData<R>);

impl<R: Reservation> Reservable<R> {
    pub(super) fn new(state: R) -> Self {
        Reservable(AtomicU64::new(state.word()), PhantomData)
    }

    #[inline(always)]
    pub(super) fn load(&self, order: Ordering) -> R {
        R::of(self.0.load(order))
    }

    /// For a word that is open, and that no other thread changes: a lock that the calling thread has locked.
    #[inline(always)]
    pub(super) fn store(&self, state: R, order: Ordering) {
        self.0.store(state.word(), order);
    }

    /// Changes it to `after` if it is `before`; returns what it is otherwise.
    #[inline(always)]
    pub(super) fn exchange(&self, before: R, after: R) -> Result<(), R> {
        let outcome = self.0.compare_exchange(before.word(), after.word(), AcqRel, Acquire);
        outcome.map(drop).map_err(R::of)
    }

    /// R1, if it is reserved: returns what it is then, unless that is open. So what another thread has recalled is to
    /// be ended as well: that one may not have issued its fence yet.
    ///
    /// Acquire: if it is open, the caller sees what was done while it was not. Otherwise the heavy fence orders what
    /// the caller looks at next, or the load by which it sees that the recall is over.
    pub(super) fn recall(&self) -> Option<R> {
        let mut state = self.load(Acquire);
        while state.is_reserved() {
            match self.exchange(state, state.recalled()) {
                Ok(()) => state = state.recalled(),
                Err(now) => state = now,
            }
        }
        (!state.is_open()).then_some(state)
    }
}
