//! A distributed count of outstanding jobs, which tells when there are none, without a cache line that all workers
//! write.
//!
//! Each thread counts the jobs that it accepts and those that end on it, workers on pages of their own. The pages
//! cannot all be read at one moment, but both counts only grow, and a job ends after it was accepted. So a reader that
//! adds up the ends first and the acceptances afterwards, and finds the sums equal, has proof of a moment in between at
//! which nothing was outstanding:
//!
//! - At that moment there were no fewer ends and no more acceptances than were read, and there are never more ends than
//!   acceptances.
//! - No acceptance that matters is overlooked: a job that submits a job accepts it before its own end, so a reader that
//!   reads that end (Acquire, from a Release) reads the acceptance, too. A job whose acceptance is not seen was
//!   therefore submitted by a job whose own acceptance is not seen, and so on, up to a thread outside that submitted
//!   one while the reader read.
//!
//! The models in `ledger/model.rs` fail if the sums are read in the other order, if these reads, or the counting of
//! ends and of outside jobs, are Relaxed, and if a job that is struck does not ring. The models have a fence that the
//! code does without (see [`Ledger::end`]), and so do not notice if the one in `ring_if_last` is missing.

#[cfg(all(test, executors_loom))]
mod model;

use crate::{
    bell::{self, Bell},
    local::place,
    sync::{
        atomic::{
            AtomicU64,
            Ordering::{self, Relaxed, Release, SeqCst},
            fence,
        },
        fence_of_models,
    },
};
use crossbeam_utils::CachePadded;
use std::time::Duration;

pub(super) struct Ledger {
    /// For threads that are not workers: each uses one of these, so that two threads seldom write to the same page.
    outside: Box<[CachePadded<Page>]>,
    workers: Box<[CachePadded<Page>]>,
    /// Rung when nothing is outstanding any more.
    bell: Bell,
}

/// Pages for threads that are not workers.
const OUTSIDE_PAGES: usize = if cfg!(executors_loom) { 1 } else { 8 };

/// In 64 bits on every platform: what has ended is reported, and that number must never decrease.
#[derive(Default)]
struct Page {
    accepted: AtomicU64,
    ended: AtomicU64,
}

impl Ledger {
    pub(super) fn new(workers: usize) -> Self {
        let pages = |number| (0..number).map(|_| CachePadded::default()).collect();
        Ledger { outside: pages(OUTSIDE_PAGES), workers: pages(workers), bell: Bell::default() }
    }

    /// Counts a job that a thread other than a worker submits. It is outstanding before anything that follows this
    /// call: a thread that closes the pool and then sees nothing outstanding has closed it to this job, too.
    #[inline]
    pub(super) fn accept_outside(&self) {
        // SeqCst, like the swap of `closed` and the loads in `outstanding`.
        self.outside().accepted.fetch_add(1, SeqCst);
        fence_of_models();
    }

    /// Counts out a job that will not run: one that [`accept_outside`](Self::accept_outside) has counted but that is
    /// not accepted after all, or one that is discarded.
    pub(super) fn strike(&self) {
        // Release, as in `end`, is enough: the bell has a fence of its own.
        self.outside().ended.fetch_add(1, SeqCst);
        self.bell.ring();
    }

    #[inline]
    fn outside(&self) -> &Page {
        &self.outside[place::current().number as usize % OUTSIDE_PAGES]
    }

    /// Counts a job that the calling worker submits to its own pool, from within a job that has not ended.
    #[inline]
    pub(super) fn accept_inside(&self, worker: usize) {
        // Relaxed: the end of the running job publishes it.
        add_one(&self.workers[worker].accepted, Relaxed);
    }

    /// Counts a job that has run and ended on the calling worker. `more_to_come` may know that there are jobs that no
    /// worker has begun yet; asking that is cheaper than reading all pages.
    #[inline]
    pub(super) fn end(&self, worker: usize, more_to_come: impl FnOnce() -> bool) {
        // The Release that the module's documentation speaks of. A fence after it would make sure that either we see
        // the waiter, or the waiter sees this end; it would take a tenth of the time of a small job. Without it the
        // waiter may look a moment before this end becomes visible, while we look a moment before the waiter does: that
        // is why waiters look again after a while.
        add_one(&self.workers[worker].ended, Release);
        fence_of_models();
        if self.bell.is_awaited() {
            self.ring_if_last(more_to_come);
        }
    }

    #[cold]
    fn ring_if_last(&self, more_to_come: impl FnOnce() -> bool) {
        // If `more_to_come` still counts a job that another worker has just taken, that worker's fence here comes after
        // ours, so its sums include our end, and it rings.
        fence(SeqCst);
        if !more_to_come() && self.outstanding() == 0 {
            self.bell.ring();
        }
    }

    /// Jobs accepted and not ended, or a few more; 0 only if there was a moment during this call without any.
    pub(super) fn outstanding(&self) -> usize {
        // SeqCst: for the bell, and for the thread that closes the pool. It is also the Acquire that the module's
        // documentation speaks of.
        let ended = self.sum(|page| &page.ended);
        let accepted = self.sum(|page| &page.accepted);
        accepted.wrapping_sub(ended) as usize
    }

    /// How many workers are counted.
    pub(super) fn workers(&self) -> usize {
        self.workers.len()
    }

    /// How many jobs the worker has run.
    pub(super) fn ended_on(&self, worker: usize) -> u64 {
        self.workers[worker].ended.load(Relaxed)
    }

    /// How many jobs have run.
    pub(super) fn ended(&self) -> u64 {
        (0..self.workers.len()).fold(0, |sum, worker| sum.wrapping_add(self.ended_on(worker)))
    }

    /// Wrapping, as the counts do; their difference is exact nevertheless.
    fn sum(&self, count: impl Fn(&Page) -> &AtomicU64) -> u64 {
        let pages = self.workers.iter().chain(&self.outside);
        pages.fold(0, |sum, page| sum.wrapping_add(count(page).load(SeqCst)))
    }

    /// Blocks until nothing is outstanding and then `met` holds, at most for `timeout`. Returns whether that was so.
    pub(super) fn await_quiet(&self, timeout: Option<Duration>, met: impl Fn() -> bool) -> bool {
        let deadline = timeout.and_then(bell::deadline);
        loop {
            let next_look = bell::deadline(SECOND_LOOK);
            let is_last = deadline.is_some_and(|deadline| next_look.is_none_or(|next| deadline <= next));
            let until = if is_last { deadline } else { next_look };
            if self.bell.wait_until(until, || self.outstanding() == 0 && met()) {
                return true;
            }
            if is_last {
                return false;
            }
        }
    }
}

/// A waiter looks again after this time, in case it has missed the bell. Not in a model, where no time may pass.
const SECOND_LOOK: Duration = if cfg!(executors_loom) { Duration::MAX } else { Duration::from_millis(10) };

/// Counts on the caller's own page, to which no other thread writes: no read-modify-write is needed.
#[inline]
fn add_one(count: &AtomicU64, ordering: Ordering) {
    if cfg!(executors_loom) {
        // Loom takes the load to be the only access with which another thread's could race.
        count.fetch_add(1, ordering);
    } else {
        count.store(count.load(Relaxed).wrapping_add(1), ordering);
    }
}
