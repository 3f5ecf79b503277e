//! The shared end of a ring: for thieves, and for threads that check whether there are jobs.

use super::{Owner, RecalledRing, Ring};
use crate::{
    source::queue::{Busy, Span, reservation::Reservation},
    sync::{Arc, atomic::Ordering::Acquire},
};

/// The shared end of a ring.
pub(crate) struct Stealer<T>(Arc<Ring<T>>);

impl<T> Stealer<T> {
    pub(super) fn new(ring: Arc<Ring<T>>) -> Self {
        Stealer(ring)
    }

    /// Moves half of the jobs, rounded up, to the ring of another worker, except the first, which is returned. If there
    /// is more than one, `make_room` is asked for how many others the thief has room.
    ///
    /// # Errors
    ///
    /// [`Busy`] if another thief is at it, or was faster.
    pub(crate) fn steal_half(&self, thief: &Owner<T>, make_room: impl Fn() -> usize) -> Result<Option<T>, Busy> {
        let most = |jobs: u32| if jobs > 1 { (jobs - jobs / 2).min(make_room() as u32 + 1) } else { 1 };
        let Some(mut claimed) = self.0.claim(most)? else { return Ok(None) };
        // SAFETY: this thread has claimed jobs.
        let slots = unsafe { self.0.slots() };
        // SAFETY: claimed by this thread, before it asked where the slots are, and read once. The ring lives as long as
        // this end of it.
        let mut loot = claimed.by_ref().map(|count| unsafe { slots.read(count) });
        let first = loot.next();
        for job in loot {
            thief.push(job).unwrap_or_else(|_| unreachable!("only as many were claimed as there is room for"));
        }
        self.0.give_free();
        Ok(first)
    }

    /// Takes one job.
    ///
    /// # Errors
    ///
    /// [`Busy`] if another thief is at it, or was faster.
    pub(crate) fn steal(&self) -> Result<Option<T>, Busy> {
        let Some(mut claimed) = self.0.claim(|_| 1)? else { return Ok(None) };
        // SAFETY: this thread has claimed a job.
        let slots = unsafe { self.0.slots() };
        // SAFETY: as in `steal_half`.
        let job = claimed.next().map(|count| unsafe { slots.read(count) });
        self.0.give_free();
        Ok(job)
    }

    /// Where the jobs that have not been taken begin and end; exact while no thread puts any in or takes any out.
    pub(crate) fn jobs(&self) -> Span {
        self.0.jobs()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.jobs().len()
    }

    /// Whether neither the owner has it reserved nor any thread is about to open it. Acquire pairs with the exchange
    /// that has opened it: a thread that has no recall to make sees what was pushed before that.
    pub(crate) fn is_open(&self) -> bool {
        self.0.head.load(Acquire).is_open()
    }

    /// R1, unless the ring is open. The result is to be [ended](crate::recall::end), by R2 and R3.
    pub(crate) fn recall(&self) -> Option<RecalledRing<'_, T>> {
        self.0.recall()
    }
}
