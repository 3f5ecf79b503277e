//! Where the pool's futures go on when they are woken.

use super::{records::Records, wrapped::Wrapped};
use crate::errand::{By, Site};
use std::sync::{Arc, Weak};

/// The pool, for a future that is not to keep its threads alive.
pub(super) struct PoolSite(Weak<Wrapped>);

impl PoolSite {
    pub(super) fn of(wrapped: &Arc<Wrapped>) -> Self {
        PoolSite(Arc::downgrade(wrapped))
    }

    /// Gives a step of a future to the pool, or drops it.
    pub(super) fn give(&self, step: impl FnOnce() + Send + 'static, by: By) {
        let refused = match self.0.upgrade() {
            Some(wrapped) => wrapped.deliver(step, Records::accept_while_draining).err(),
            None => Some(step),
        };
        if let Some(step) = refused {
            by.let_go(step);
        }
    }
}

// SAFETY: no thread is here, so the site is valid until `put` returns.
unsafe impl Site for PoolSite {
    fn is_here(&self) -> bool {
        false
    }

    unsafe fn put(site: *const Self, step: impl FnOnce() + Send + 'static, by: By) {
        // SAFETY: the caller vouches for it.
        unsafe { &*site }.give(step, by);
    }
}
