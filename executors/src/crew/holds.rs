//! What keeps a crew in memory: its handles, and the futures that were spawned on it, which may be woken when workers
//! and handles are gone.
//!
//! A [`Hold`] is an `Arc` of the crew whose references each worker counts for itself ([`SharedCount`]). When nothing is
//! left, the crew loses the reference that all holds have together.
//!
//! [`SharedCount`]: super::shared_count::SharedCount

use super::{Crew, shared_count::Credit};
use crate::{parker::Parker, source::Source};
use std::{mem::ManuallyDrop, ops::Deref, ptr, sync::Arc};

/// A reference to a crew. See the [module](self).
pub(super) struct Hold<S: Source, P: Parker + 'static> {
    /// The one reference of all holds.
    crew: ManuallyDrop<Arc<Crew<S, P>>>,
}

impl<S: Source, P: Parker + 'static> Hold<S, P> {
    /// The only hold of a crew that is not a clone.
    pub(super) fn first(crew: Arc<Crew<S, P>>) -> Self {
        crew.holds.begin();
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
        if !is_counted_out && self.holds.subtract(1) {
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

/// What a worker has of both counts: credit of holds, which it gives back when it leaves, and of stakes.
pub(super) struct Account<'a, S: Source, P: Parker + 'static> {
    crew: &'a Crew<S, P>,
    holds: Credit,
    stakes: Credit,
}

impl<'a, S: Source, P: Parker + 'static> Account<'a, S, P> {
    pub(super) fn new(crew: &'a Crew<S, P>) -> Self {
        Account { crew, holds: Credit::default(), stakes: Credit::default() }
    }

    #[inline]
    fn spend(&self) {
        self.holds.spend(&self.crew.holds);
    }

    #[inline]
    fn gain(&self) {
        self.holds.gain(&self.crew.holds);
    }

    pub(super) fn stakes(&self) -> &Credit {
        &self.stakes
    }

    /// Gives back the credit of stakes, and closes the crew if no handle is left.
    pub(super) fn settle(&self) {
        if self.stakes.end(&self.crew.stakes) {
            // The hold of all stakes is dropped.
            self.gain();
            self.crew.lose_handles();
        }
    }
}

impl<S: Source, P: Parker + 'static> Drop for Account<'_, S, P> {
    fn drop(&mut self) {
        if self.holds.end(&self.crew.holds) {
            let own = Arc::into_raw(self.crew.myself());
            // SAFETY: no hold is left, so the reference that all holds had together has no owner. The owner from which
            // this account borrows the crew has another one, and so does this function until its end.
            unsafe { Arc::decrement_strong_count(own) };
            // SAFETY: it is what `into_raw` has just given.
            drop(unsafe { Arc::from_raw(own) });
        }
    }
}
