//! What keeps a crew in memory: its handles, and the futures that were spawned on it, which may be woken when workers
//! and handles are gone.
//!
//! A [`Hold`] is an `Arc` of the crew whose references each worker counts for itself (`shared_count.rs`). When nothing
//! is left, the crew loses the reference that all holds have together.

use super::{Crew, shared_count::subtract};
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
            Some(worker) => worker.account().holds().spend(&self.holds),
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
        let is_counted_out = self.with_this_worker(|worker| {
            let credit = worker.map(|worker| worker.account().holds());
            credit.map(|credit| credit.gain(&self.holds)).is_some()
        });
        // Not inside the closure: as soon as this hold is not counted, another thread may drop the crew, and nothing of
        // the crew but the count itself may be borrowed then.
        if !is_counted_out && subtract(self.holds.word(), 1) {
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
