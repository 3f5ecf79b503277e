//! A semaphore: the bound on jobs that have been admitted and have not ended.

#[cfg(all(test, executors_loom))]
mod model;

use crate::{
    bell::{self, Bell},
    sync::atomic::{
        AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
    },
};
use std::{sync::Arc, time::Duration};

/// Counts slots. Acquire and Release: a thread that takes a slot sees what the jobs that had it before have done. For
/// the wait alone Relaxed would do, because the bell's fences show waiters each slot that is given back.
#[derive(Debug)]
pub(super) struct Semaphore {
    slots: usize,
    taken: AtomicUsize,
    /// Rung for one waiter when a slot is given back, and for all when they may wait in vain.
    bell: Bell,
}

impl Semaphore {
    pub(super) fn new(slots: usize) -> Arc<Self> {
        Arc::new(Semaphore { slots, taken: AtomicUsize::new(0), bell: Bell::default() })
    }

    pub(super) fn take(self: &Arc<Self>) -> Option<Slot> {
        let one_more = |taken| (taken < self.slots).then_some(taken + 1);
        self.taken.fetch_update(Acquire, Relaxed, one_more).ok().map(|_| Slot(Arc::clone(self)))
    }

    /// The slot of a job that is to be dropped before it has begun, for the job that takes its place. (Through the
    /// source that one sees what the jobs that had the slot before have done.)
    pub(super) fn take_over(self: &Arc<Self>) -> Slot {
        Slot(Arc::clone(self))
    }

    /// [`take`](Self::take), or waits for a slot, for at most `timeout` and as long as `in_vain` does not hold.
    pub(super) fn take_within(self: &Arc<Self>, timeout: Option<Duration>, in_vain: impl Fn() -> bool) -> Option<Slot> {
        self.bell.wait_for(timeout.and_then(bell::deadline), in_vain, || self.take())
    }

    /// Lets waiters check again whether they wait in vain.
    pub(super) fn ring(&self) {
        self.bell.ring();
    }
}

/// The right of one job to be in the pool. A job that is dropped before it has begun does not give it back: either
/// another job has [taken it over](Semaphore::take_over), or the pool has been closed for good. So it matters to no
/// other job how long that drop takes, or whether it is put off.
#[derive(Debug)]
#[must_use = "a slot that no job gets is lost to the pool"]
pub(super) struct Slot(Arc<Semaphore>);

impl Slot {
    /// For the job, when it begins: dropping what this returns gives the slot back.
    pub(super) fn occupy(self) -> Occupied {
        Occupied(self.0)
    }
}

/// The slot of a job that has begun.
#[derive(Debug)]
pub(super) struct Occupied(Arc<Semaphore>);

impl Drop for Occupied {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Release);
        self.0.bell.ring_for_one();
    }
}
