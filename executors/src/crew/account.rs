//! What a worker counts by itself: its credit of holds and of stakes.
//!
//! A worker keeps credit of holds until it leaves. Credit of stakes, which keeps the crew open, it has from when it
//! begins to run jobs until it *settles*, when it has run out of them. What is done with handles after that, by a
//! user's parker, say, changes the common count at once.

use super::{Crew, shared_count::Credit};
use crate::{
    containment::{contain, discard_payload, tell},
    parker::Parker,
    source::Source,
};
use std::{cell::Cell, sync::Arc, thread};

pub(super) struct Account<'a, S: Source, P: Parker + 'static> {
    crew: &'a Crew<S, P>,
    holds: Credit,
    stakes: Credit,
    /// Whether the worker may have credit of stakes: it runs jobs, and has not settled since.
    has_stakes: Cell<bool>,
}

impl<'a, S: Source, P: Parker + 'static> Account<'a, S, P> {
    pub(super) fn new(crew: &'a Crew<S, P>) -> Self {
        Account { crew, holds: Credit::default(), stakes: Credit::default(), has_stakes: Cell::new(false) }
    }

    /// The worker begins to run jobs.
    #[inline]
    pub(super) fn begin(&self) {
        self.has_stakes.set(!S::WITHHOLDS);
    }

    pub(super) fn holds(&self) -> &Credit {
        &self.holds
    }

    /// The credit of stakes, if the worker may have some now.
    #[inline]
    pub(super) fn stakes(&self) -> Option<&Credit> {
        self.has_stakes.get().then_some(&self.stakes)
    }

    /// The worker has run out of jobs: it has no credit of stakes until it runs others. Closes the crew if no handle is
    /// left.
    pub(super) fn settle(&self) {
        self.has_stakes.set(false);
        if self.stakes.give_back(&self.crew.stakes) {
            self.close_crew();
        }
    }

    /// A panic of a user's parker is contained: no job runs that it could be taken for. Sleepers that were not called
    /// because of it are called when the crew is over, which it is not yet, because this worker is active.
    #[cold]
    fn close_crew(&self) {
        // The hold of all stakes is dropped.
        self.holds.gain(&self.crew.holds);
        if let Err(payload) = contain(|| self.crew.lose_handles()) {
            discard_payload(payload);
            tell(|| log::error!("The parker of {} panicked while a worker closed the pool.", self.crew.name()));
        }
    }
}

impl<S: Source, P: Parker + 'static> Drop for Account<'_, S, P> {
    fn drop(&mut self) {
        debug_assert!(self.stakes.is_empty() || thread::panicking(), "it has settled");
        if self.holds.give_back(&self.crew.holds) {
            let own = Arc::into_raw(self.crew.myself());
            // SAFETY: no hold is left, so the reference that all holds had together has no owner. The owner from which
            // this account borrows the crew has another one, and so does this function until its end.
            unsafe { Arc::decrement_strong_count(own) };
            // SAFETY: it is what `into_raw` has just given.
            drop(unsafe { Arc::from_raw(own) });
        }
    }
}
