//! A queue of packed records, first in, first out, for any number of threads.
//!
//! A thread that puts in or takes out locks that end; one that would have to wait may go on to another lane, if there
//! are several ([`Lanes`](super::lanes::Lanes)), or round the back ([`SingleLane`](super::single::SingleLane)). Jobs
//! lie one after the other in blocks, each in as many words as it needs; a batch is taken out under one lock.
//!
//! The two ends share two counts, of jobs put in and of jobs taken out, each written by one end only. A thread that
//! checks whether there are jobs reads the counts and takes no lock: a worker that was suspended while it held one
//! hides nothing.
//!
//! The orderings:
//!
//! - *A record is written before it is read.* The producer stores the count (Release) after its writes to the block,
//!   and to the links that lead to it; a consumer loads it (Acquire) and reads that many records and no more.
//! - *A block is read before it is written again.* The consumer passes it on by an exchange (Release) after its reads;
//!   the producer takes it by one (Acquire).
//! - *One at a time at each end.* The lock of the front is taken (Acquire) and given back (Release); that of the back
//!   may be [reserved](super::biased_lock::BiasedLock) for the thread that puts jobs in.

mod back;
mod cursor;
mod front;
#[cfg(all(test, not(executors_loom)))]
mod tests;

pub(super) use self::{back::Back, front::Front};

use self::{
    back::BackEnd,
    front::{FrontEnd, Portion},
};
use super::{Busy, biased_lock::RecalledLock, block::Block, presence::Presence};
use crate::{
    containment::discard,
    job::{IntoJob, Job, hand::Hand, record::Record},
    sync::atomic::Ordering::{Acquire, Relaxed},
};
use crossbeam_utils::CachePadded;
use std::panic::{RefUnwindSafe, UnwindSafe};

pub(crate) struct Lane {
    back: CachePadded<BackEnd>,
    front: CachePadded<FrontEnd>,
}

// SAFETY: the blocks, to which the cursors point, belong to the lane; jobs are `Send`. The module says which thread may
// touch what.
unsafe impl Send for Lane {}
// SAFETY: as above.
unsafe impl Sync for Lane {}

// A job is moved in as bytes; `front::Visit` says what a panic of the code to which jobs are passed leaves behind.
impl UnwindSafe for Lane {}
impl RefUnwindSafe for Lane {}

impl Lane {
    pub(crate) fn new() -> Self {
        Lane { back: CachePadded::new(BackEnd::new()), front: CachePadded::new(FrontEnd::new()) }
    }

    /// Puts a job in, behind all others. Gives it back if the back is held.
    pub(crate) fn push(&self, job: Job) -> Result<(), Job> {
        match self.back() {
            Some(mut back) => back.push(job),
            None => return Err(job),
        }
        Ok(())
    }

    /// The back, unless it is held.
    #[inline(always)]
    pub(super) fn back(&self) -> Option<Back<'_>> {
        Back::new(self, self.back.lock.enter())
    }

    /// The same for the calling thread, which may have it to itself.
    #[inline(always)]
    pub(super) fn own_back(&self) -> Option<Back<'_>> {
        Back::new(self, self.back.lock.enter_as(Presence::of_this_thread()))
    }

    /// The same, unless that takes more than a look: see [`Lanes::push_at_once`](super::lanes::Lanes::push_at_once).
    #[inline(always)]
    pub(super) fn own_back_at_once(&self) -> Option<Back<'_>> {
        Back::new(self, self.back.lock.enter_at_once(Presence::of_this_thread()))
    }

    /// A fence after what the calling thread has put in by its [own back](Self::own_back): see
    /// [`BiasedLock::fence_after`](super::biased_lock::BiasedLock::fence_after).
    #[inline(always)]
    pub(super) fn fence_pushes(&self) {
        self.back.lock.fence_after(Presence::of_this_thread());
    }

    /// Whether neither a thread has the back to itself nor that is about to end.
    pub(crate) fn is_open(&self) -> bool {
        self.back.lock.is_open()
    }

    /// Recalls the back, if a thread has it to itself; [`recall::end`](crate::recall::end) ends that.
    pub(crate) fn recall(&self) -> Option<RecalledLock<'_>> {
        self.back.lock.recall()
    }

    /// The front, unless it is held.
    #[inline]
    pub(super) fn front(&self) -> Option<Front<'_>> {
        Front::enter(self)
    }

    /// Takes out as many jobs as `most` says, given how many there are, if there are any, and passes them to `sink` one
    /// by one. Returns how many.
    ///
    /// # Errors
    ///
    /// [`Busy`] if there are jobs, but another thread is at the front.
    #[inline]
    pub(crate) fn take(&self, most: impl FnOnce(usize) -> usize, sink: impl FnMut(Record<'_>)) -> Result<usize, Busy> {
        if self.is_empty() {
            return Ok(0);
        }
        Ok(self.front().ok_or(Busy)?.take(most, sink))
    }

    /// Takes the first job.
    ///
    /// Unlike [`take`](Self::take) it does not look before it locks the front: as long as the front has seen that there
    /// are more jobs, the cache line that the producer writes to is left alone.
    ///
    /// # Errors
    ///
    /// [`Busy`] if another thread is at the front.
    #[inline]
    pub(crate) fn take_first(&self, hand: &mut Hand) -> Result<(), Busy> {
        self.front().ok_or(Busy)?.take_first(hand);
        Ok(())
    }

    /// Takes the first job, if there is one.
    ///
    /// # Errors
    ///
    /// As for [`take_first`](Self::take_first).
    pub(crate) fn pop(&self) -> Result<Option<Job>, Busy> {
        let mut hand = Hand::empty();
        self.take_first(&mut hand)?;
        Ok(hand.into_job())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many jobs have been put in, as far as has been seen here. Wraps around.
    pub(super) fn put_in(&self) -> usize {
        self.back.end.passed.load(Relaxed)
    }

    /// How many jobs have been taken out, as far as has been seen here. Wraps around.
    pub(crate) fn taken(&self) -> usize {
        self.front.end.passed.load(Relaxed)
    }

    /// How many jobs there are; exact while no thread puts any in or takes any out.
    pub(crate) fn len(&self) -> usize {
        // In this order: what was put in is never seen to be less than what was taken out.
        let out = self.front.end.passed.load(Acquire);
        self.back.end.passed.load(Acquire).wrapping_sub(out)
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // SAFETY: no other thread is left, so both ends are ours.
        unsafe { self.take_locked(Portion::Batch, |all| all, |record| discard(record.into_job())) };
        // SAFETY: as above.
        let last = self.back.end.own.with(|writer| unsafe { (*writer).cursor.block });
        for block in [last, self.front.spare.load(Relaxed)] {
            if !block.is_null() {
                // SAFETY: made by `allocate`, and freed here only: the reader has reached the block that was written
                // last, and has recycled all others.
                unsafe { Block::free(block) };
            }
        }
    }
}
