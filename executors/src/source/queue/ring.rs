//! A worker's own queue: a ring, first in, first out, that other workers may steal from.
//!
//! After the local queue of tokio's multi-threaded scheduler (Lerche, 2019), itself after that of Go: a thief first
//! claims jobs, then copies them, then frees their slots, so that no slot is ever read while it may be written. In
//! addition, the owner [runs](Owner::run_first) its jobs where they lie; and the ring grows, up to a limit.
//!
//! Three counts run through the ring, `free <= next <= tail <= free + size`:
//!
//! - From `next` to `tail` are jobs that have not been taken.
//! - From `free` to `next` are jobs that are held: a thief has claimed them and is copying, or the owner has taken them
//!   meanwhile. There is at most one such thief.
//! - Everything else is the owner's to write.
//!
//! `next` and how many are held share a word, the [head](Head), that is only changed by compare-and-exchange; `tail` is
//! written by the owner only. Mostly the owner is alone with its jobs for a long time, though. Then it *reserves* the
//! ring, and takes jobs without an exchange, until another thread *recalls* it: see [below](#a-reserved-ring). The
//! orderings of an open ring:
//!
//! - *A slot is written before it is read.* The owner stores `tail` (Release) after its write; a thief loads it
//!   (Acquire).
//! - *A slot is read before it is written again.* The thief moves `free` (Release) after its reads; the owner loads the
//!   head (Acquire) before it writes to what has become free. All writes to the head are read-modify-writes, so the
//!   owner synchronises with the thief even if it reads a head that another thread has changed since.
//! - *A thief never sees a `tail` smaller than `next`.* The owner takes jobs by an exchange (Release) after its stores
//!   of `tail`, and the thief loads the head (Acquire) before `tail`.
//! - *A thread that finds the ring empty synchronises with the thread that took the last job.* It loads the head
//!   (Acquire) that the other has written (Release): what the other did before, such as being counted as active,
//!   precedes what the looking thread does next.
//! - *A claim is for what was there.* A thief's exchange succeeds only if the head is as it was; `tail` can only have
//!   grown since. (Unless the counts, of 32 bits, wrapped around to the very same values while the thief was
//!   suspended.)
//! - *A claimed job is in the slots that the thief sees.* The ring has no slots before its first job, and grows when
//!   most are in use: the owner copies the bits of all of them to the same counts of twice as many slots, stores where
//!   these are (Release), and never writes to the former ones again, which stay until the ring is dropped. A thief that
//!   has claimed a job loads where the slots are (Acquire). If it sees former ones, the job was in them: it has been
//!   there since the thief loaded a `tail` beyond it, which the owner stored after it had stored where the slots of
//!   that job are. If it sees newer ones, the job was copied, because `free` cannot pass it before the thief allows
//!   that.
//!
//! # A reserved ring
//!
//! While the head says *reserved*, only the owner takes jobs, nothing is held, and `taken`, which only the owner
//! writes, stands for `free` and `next`. A thread that wants a job, or wants to know that it sees all of them, has to
//! open the ring first (the biased locking of Dice, Moir and Scherer, 2003, and its revocation by an asymmetric fence):
//!
//! - **O1** The owner stores in `taken` that it takes the job. **O2** Light [fence](crate::asymmetric_fence). **O3** It
//!   checks whether the head still says *reserved*. If so, the job is its own.
//! - **R1** Another thread exchanges *reserved* for *recalled* in the head. **R2** Heavy fence. **R3** It loads
//!   `taken`, and exchanges *recalled* for *open*, with that as `next`. If this fails, another thread has opened the
//!   ring.
//! - An owner that sees *recalled* opens the ring itself: when it takes a job, when it puts one in, or when it looks
//!   outside. One that runs out of jobs, or blocks and says so, does so unasked. After R1 a recaller [waits a
//!   moment](recall) for that, and leaves out R2 and R3 if it happens.
//!
//! What makes that safe:
//!
//! - *No other thread takes a job that the owner has.* If O3 sees *reserved*, and R2 is issued, that comes after O2,
//!   and R3 sees what O1 has stored. If the owner opened the ring itself, `next` is behind all that it has taken.
//! - *If O3 sees something else, both agree on whose the job is.* R3 may or may not have seen the store of O1. If the
//!   ring is still *recalled*, the owner opens it with `next` after its job, so that R3 fails. If it is open, `next`
//!   was after the job or at the job when it was opened, and one bit of the head tells which: where `next` was, modulo
//!   2, which thieves leave as it is. In the first case the job is the owner's; otherwise the owner takes the first
//!   that is left.
//! - *R3 cannot end another recall of the ring*, for which it has issued no fence: the head that it expects says how
//!   often the ring has been reserved. (That count has 61 bits, and does not wrap around.)
//! - *Several threads may recall it.* One that finds it recalled waits likewise, and then issues an R2 of its own: the
//!   fence of the other one may be yet to come.
//! - *A slot is read before it is written again.* The owner reserves the ring when no thief is at it, having loaded the
//!   head (Acquire) after the last one left.
//! - *A thread that sees that a job is gone sees what was pushed before that*, as in an open ring: `taken` is stored
//!   with Release, and loaded with Acquire, before `tail`.
//! - *The ring may seem to be empty for a moment* while the owner is between O1 and O3, although the job it wants will
//!   turn out not to be its own: the owner then takes at once the first that is left, if there is one.
//!
//! The owner's pushes share that fence. A thread that announces that it falls asleep, issues a fence, and does R1 to R3
//! before it looks for jobs, sees each push; or the owner sees the announcement, without a fence of its own
//! ([`fence_pushes`](Owner::fence_pushes)).

mod head;
#[cfg(all(test, executors_loom))]
mod model;
mod owner;
mod slots;
mod stealer;
#[cfg(all(test, not(executors_loom)))]
mod tests;

pub(crate) use owner::Owner;
pub(crate) use stealer::Stealer;

use super::{
    Busy, Span,
    reservation::{Reservable, Reservation},
};
use crate::{
    apart::Apart,
    asymmetric_fence::LightSide,
    containment::discard,
    recall::{self, Interruption, Recalled},
    sync::{
        Arc,
        atomic::{
            AtomicPtr, AtomicU32,
            Ordering::{Acquire, Relaxed},
        },
    },
};
use head::Head;
use slots::{Buffer, Slots};
use std::ptr;

/// Jobs that fit into a ring at first.
const FIRST_SIZE: usize = if cfg!(executors_loom) { 4 } else { 64 };

/// Jobs that fit into a ring that has grown as far as it may: 192 KiB, which most second-level caches hold.
pub(crate) const MAX_SIZE: usize = if cfg!(executors_loom) { 8 } else { 4096 };

/// Where the counts begin: they soon wrap around, so that nothing can rely on their not doing so.
const FIRST_COUNT: u32 = if cfg!(executors_loom) { u32::MAX - 1 } else { u32::MAX - 999 };

struct Ring<T> {
    head: Apart<Reservable<Head>>,
    owners: Apart<Owners<T>>,
}

/// What only the owner writes; but with a heavy fence another thread notes an interruption.
struct Owners<T> {
    tail: AtomicU32,
    /// Takes the place of `next` while the ring is reserved.
    taken: AtomicU32,
    /// Null until there is a first job.
    buffer: AtomicPtr<Buffer<T>>,
    side: LightSide,
    interruption: Interruption,
}

// SAFETY: values move from thread to thread through the ring, and are never shared. The module says which thread may
// touch a slot.
unsafe impl<T: Send> Send for Ring<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Ring<T> {}

/// A new ring. It has no slots until the owner needs some.
pub(crate) fn ring<T>() -> (Owner<T>, Stealer<T>) {
    let ring = Arc::new(Ring {
        head: Apart::new(Reservable::new(Head::opened_at(FIRST_COUNT))),
        owners: Apart::new(Owners {
            tail: AtomicU32::new(FIRST_COUNT),
            taken: AtomicU32::new(FIRST_COUNT),
            buffer: AtomicPtr::new(ptr::null_mut()),
            side: LightSide::default(),
            interruption: Interruption::default(),
        }),
    });
    (Owner::new(Arc::clone(&ring)), Stealer::new(ring))
}

impl<T> Ring<T> {
    /// Claims as many jobs as `wanted` says, given how many there are, and at least one. Returns their counts one by
    /// one: a range from the first to the last would be empty if these wrap around in between.
    fn claim(&self, wanted: impl Fn(u32) -> u32) -> Result<Option<impl Iterator<Item = u32>>, Busy> {
        self.recall().iter().for_each(recall::end);
        let head = self.head.load(Acquire);
        if !head.is_open() {
            return Err(Busy);
        }
        let next = head.next();
        let jobs = self.owners.tail.load(Acquire).wrapping_sub(next);
        if jobs == 0 {
            return Ok(None);
        }
        // If there seem to be more, the head is out of date, and the exchange will fail.
        let jobs = wanted(jobs.min(MAX_SIZE as u32));
        if head.held() == 0 && self.head.exchange(head, head.with_claimed(jobs)).is_ok() {
            Ok(Some((0..jobs).map(move |job| next.wrapping_add(job))))
        } else {
            Err(Busy)
        }
    }

    /// Gives the claimed slots back to the owner, and with them those of what it has taken since.
    fn give_free(&self) {
        let mut head = self.head.load(Relaxed);
        while let Err(now) = self.head.exchange(head, head.with_all_free()) {
            head = now;
        }
    }

    fn recall(&self) -> Option<RecalledRing<'_, T>> {
        self.head.recall().map(|head| RecalledRing { ring: self, head })
    }

    fn jobs(&self) -> Span {
        // In this order, see the module.
        let head = self.head.load(Acquire);
        let next = if head.is_open() { head.next() } else { self.owners.taken.load(Acquire) };
        let tail = self.owners.tail.load(Acquire);
        Span { next, tail }
    }

    /// Where the slots are now. Acquire: see the module.
    ///
    /// # Safety
    ///
    /// The caller has claimed a job, or no other thread uses the ring and there is one: so it sees slots.
    unsafe fn slots(&self) -> Slots<T> {
        // SAFETY: made by `Box::into_raw`, and kept until the ring is dropped, even when it is replaced; never borrowed
        // uniquely meanwhile. The caller vouches that it is not null.
        unsafe { &*self.owners.buffer.load(Acquire) }.slots()
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        let jobs = self.jobs();
        for count in 0..jobs.tail.wrapping_sub(jobs.next) {
            // SAFETY: there is a job, and no other thread uses the ring any more.
            let slots = unsafe { self.slots() };
            // SAFETY: this job has not been taken, and no thread is left to do so. The ring lives until this returns.
            discard(unsafe { slots.read(jobs.next.wrapping_add(count)) });
        }
        let mut buffer = self.owners.buffer.load(Relaxed);
        while !buffer.is_null() {
            // SAFETY: made by `Box::into_raw`, once in this list, and no thread is left that might use it.
            buffer = unsafe { Box::from_raw(buffer) }.former;
        }
    }
}

/// A ring whose recall is to be ended, and what its head was.
pub(crate) struct RecalledRing<'a, T> {
    ring: &'a Ring<T>,
    head: Head,
}

impl<T> Recalled for RecalledRing<'_, T> {
    fn side(&self) -> &LightSide {
        &self.ring.owners.side
    }

    fn interruption(&self) -> &Interruption {
        &self.ring.owners.interruption
    }

    fn is_over(&self) -> bool {
        self.ring.head.load(Acquire) != self.head
    }

    /// R3.
    fn end(&self) {
        let taken = self.ring.owners.taken.load(Acquire);
        // If this fails, another thread has opened the ring.
        let _ = self.ring.head.exchange(self.head, Head::opened_at(taken));
    }
}
