//! What keeps a crew open: the user's handles.
//!
//! A [`Stake`] is a handle's reference to the crew. Stakes are counted as holds are (`shared_count.rs`), because a job
//! that submits others may own a handle. But credit of stakes keeps the crew open, so a worker gives it back when it
//! has run out of jobs (`account.rs`). When no handle is left, the crew closes at once, or as soon as the workers that
//! have dropped some have run out of jobs; it could not have ended before that, because one of them is active. Where
//! closing lets jobs run that are withheld until then, a running job may wait for one of these: there workers have no
//! credit.

use super::{Crew, account::Account, holds::Hold, shared_count::subtract, worker::Worker};
use crate::{parker::Parker, source::Source};
use std::{mem::ManuallyDrop, ops::Deref, ptr, sync::Arc};

/// A reference to a crew, which is open as long as there is one. See the [module](self).
pub(super) struct Stake<S: Source, P: Parker + 'static> {
    /// The one hold of all stakes.
    hold: ManuallyDrop<Hold<S, P>>,
}

impl<S: Source, P: Parker + 'static> Stake<S, P> {
    /// The only stake in a crew that is not a clone.
    pub(super) fn first(crew: Arc<Crew<S, P>>) -> Self {
        crew.stakes.begin();
        Stake { hold: ManuallyDrop::new(Hold::first(crew)) }
    }
}

impl<S: Source, P: Parker + 'static> Clone for Stake<S, P> {
    #[inline]
    fn clone(&self) -> Self {
        self.with_this_worker(|worker| match worker.map(Worker::account).and_then(Account::stakes) {
            Some(credit) => credit.spend(&self.stakes),
            None => self.stakes.add(1),
        });
        // SAFETY: the hold that all copies stand for is dropped when no stake is counted any more, by `drop`, or by a
        // worker that settles; and not before.
        Stake { hold: unsafe { ptr::read(&raw const self.hold) } }
    }
}

impl<S: Source, P: Parker + 'static> Drop for Stake<S, P> {
    #[inline]
    fn drop(&mut self) {
        let is_counted_out = self.with_this_worker(|worker| {
            let credit = worker.map(Worker::account).and_then(Account::stakes);
            credit.map(|credit| credit.gain(&self.stakes)).is_some()
        });
        // Not inside the closure: as soon as this stake is not counted, another thread may drop the crew, and nothing
        // of the crew but the count itself may be borrowed then.
        if !is_counted_out && subtract(self.stakes.word(), 1) {
            // SAFETY: no stake is left, so no copy of this hold is in use; and as only one subtraction comes to zero,
            // no worker that settles counts this hold out, too.
            unsafe { ManuallyDrop::take(&mut self.hold) }.lose_handles();
        }
    }
}

impl<S: Source, P: Parker + 'static> Deref for Stake<S, P> {
    type Target = Hold<S, P>;

    #[inline(always)]
    fn deref(&self) -> &Hold<S, P> {
        &self.hold
    }
}

impl<S: Source, P: Parker + 'static> Crew<S, P> {
    /// No handle is left: no thread can submit a job from outside, or wait for the end.
    #[cold]
    pub(super) fn lose_handles(&self) {
        self.unjoined.last_waiter_left();
        // Before the close, in which a user's parker may panic.
        self.give_up_if_deserted();
        self.close();
    }
}
