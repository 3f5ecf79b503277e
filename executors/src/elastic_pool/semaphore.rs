//! A semaphore: the bound on jobs that have been admitted and have not ended.

use crate::{
    bell::Bell,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};
use std::{sync::Arc, time::Duration};

/// Counts slots. All accesses are SeqCst, as the bell asks it of those that its listeners look at; what follows from a
/// slot is ordered by the queue.
#[derive(Debug)]
pub(super) struct Semaphore {
    slots: usize,
    taken: AtomicUsize,
    /// Rung when a slot is given back.
    bell: Bell,
}

impl Semaphore {
    pub(super) fn new(slots: usize) -> Arc<Self> {
        Arc::new(Semaphore { slots, taken: AtomicUsize::new(0), bell: Bell::default() })
    }

    pub(super) fn take(self: &Arc<Self>) -> Option<Slot> {
        let one_more = |taken| (taken < self.slots).then_some(taken + 1);
        self.taken.fetch_update(SeqCst, SeqCst, one_more).ok().map(|_| Slot(Arc::clone(self)))
    }

    /// [`take`](Self::take), or wait for that, for at most `timeout` and as long as `in_vain` does not hold.
    pub(super) fn take_within(self: &Arc<Self>, timeout: Option<Duration>, in_vain: impl Fn() -> bool) -> Option<Slot> {
        self.bell.wait_for(timeout, in_vain, || self.take())
    }

    /// Lets those who wait look at what is in vain again.
    pub(super) fn ring(&self) {
        self.bell.ring();
    }
}

/// The right of one job to be in the pool. Given back when it is dropped.
#[derive(Debug)]
pub(super) struct Slot(Arc<Semaphore>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, SeqCst);
        self.0.bell.ring();
    }
}
