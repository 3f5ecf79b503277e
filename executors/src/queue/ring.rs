//! A worker's own queue: a ring of fixed size, first in first out, that others may steal from.
//!
//! After the local queue of tokio's multi-threaded scheduler (Lerche, 2019), itself after that of Go: a thief first
//! claims jobs, then copies them, then gives their slots free, so that no slot is ever read while it may be written. In
//! addition, the owner may use a job where it lies, see [`Claim`].
//!
//! Three counts run through the ring, `free <= next <= tail <= free + SIZE`:
//!
//! - From `next` to `tail` are jobs that nobody has taken.
//! - From `free` to `next` are jobs that a thief has claimed and is copying, or that the owner has taken meanwhile.
//!   There is at most one such thief.
//! - Everything else is the owner's to write.
//!
//! `free` and `next` share a word, the head, that is only changed by compare-and-exchange; `tail` is written by the
//! owner only. The orderings:
//!
//! - *A slot is written before it is read.* The owner stores `tail` (Release) behind its write; a thief loads it
//!   (Acquire).
//! - *A slot is read before it is written again.* The thief moves `free` (Release) behind its reads; the owner loads
//!   the head (Acquire) before it writes to what has become free. All writes to the head are read-modify-writes, so the
//!   owner synchronises with the thief even if it reads what somebody else has made of the head since.
//! - *A thief never sees `tail` behind `next`.* The owner takes jobs by an exchange (Release) behind its stores of
//!   `tail`, and the thief loads the head (Acquire) before `tail`.
//! - *Who finds the ring empty knows who took the last job.* The owner loads the head (Acquire) that the thief has
//!   written (Release): what the thief did before, such as being counted as active, precedes what the owner does next.
//! - *A claim is for what was there.* A thief's exchange succeeds only if the head is as it was; `tail` can only have
//!   grown since. (Unless the counts, of 32 bits, came round to the very same values while the thief was suspended.)

#[cfg(all(test, executors_loom))]
mod model;

use crate::{
    containment::discard,
    job::{Job, Run},
    queue::Busy,
    sync::{
        Arc,
        atomic::{
            AtomicU32, AtomicU64,
            Ordering::{AcqRel, Acquire, Relaxed, Release},
        },
        cell::UnsafeCell,
    },
};
use crossbeam_utils::CachePadded;
use std::{array, cell::Cell, mem, mem::MaybeUninit, ops::Range};

/// Jobs that fit into a ring.
pub(crate) const SIZE: usize = if cfg!(executors_loom) { 4 } else { 256 };

struct Ring<T> {
    head: CachePadded<AtomicU64>,
    tail: CachePadded<AtomicU32>,
    slots: [UnsafeCell<MaybeUninit<T>>; SIZE],
}

// SAFETY: values move from thread to thread through the ring, and are never shared. Who may touch a slot is said above.
unsafe impl<T: Send> Sync for Ring<T> {}

/// The counts in a head.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Head {
    free: u32,
    next: u32,
}

impl Head {
    fn unpack(word: u64) -> Self {
        Head { free: (word >> 32) as u32, next: word as u32 }
    }

    fn pack(self) -> u64 {
        u64::from(self.free) << 32 | u64::from(self.next)
    }

    fn no_thief(self) -> bool {
        self.free == self.next
    }
}

/// The owner's end of a ring. There is one, and it stays on one thread.
pub(crate) struct Owner<T> {
    ring: Arc<Ring<T>>,
    tail: Cell<u32>,
    /// The owner may write up to here: what it has last seen of `free`, and the size of the ring.
    limit: Cell<u32>,
}

/// The end of a ring that is for everybody.
pub(crate) struct Stealer<T>(Arc<Ring<T>>);

/// A new ring.
pub(crate) fn ring<T>() -> (Owner<T>, Stealer<T>) {
    let ring = Arc::new(Ring {
        head: CachePadded::new(AtomicU64::new(0)),
        tail: CachePadded::new(AtomicU32::new(0)),
        slots: array::from_fn(|_| UnsafeCell::new(MaybeUninit::uninit())),
    });
    (Owner { ring: Arc::clone(&ring), tail: Cell::new(0), limit: Cell::new(SIZE as u32) }, Stealer(ring))
}

impl<T> Owner<T> {
    /// Puts a job at the end, or gives it back if the ring is full.
    #[inline(always)]
    pub(crate) fn push(&self, job: T) -> Result<(), T> {
        if self.tail.get() == self.limit.get() && self.room() == 0 {
            return Err(job);
        }
        // SAFETY: the slot is below the limit, and so the owner's to write.
        unsafe { self.ring.write(self.tail.get(), job) };
        self.tail.set(self.tail.get().wrapping_add(1));
        self.ring.tail.store(self.tail.get(), Release);
        Ok(())
    }

    /// How many jobs can be pushed now.
    #[cold]
    pub(crate) fn room(&self) -> usize {
        let free = Head::unpack(self.ring.head.load(Acquire)).free;
        self.limit.set(free.wrapping_add(SIZE as u32));
        self.limit.get().wrapping_sub(self.tail.get()) as usize
    }

    /// Takes the first job.
    #[inline(always)]
    pub(crate) fn pop(&self) -> Option<Claim<'_, T>> {
        let mut seen = self.ring.head.load(Acquire);
        loop {
            let head = Head::unpack(seen);
            if head.next == self.tail.get() {
                return None;
            }
            let next = head.next.wrapping_add(1);
            let free = if head.no_thief() { next } else { head.free };
            match self.ring.head.compare_exchange_weak(seen, Head { free, next }.pack(), AcqRel, Acquire) {
                Ok(_) => return Some(Claim { owner: self, count: head.next, used: false }),
                Err(now) => seen = now,
            }
        }
    }

    /// How many jobs nobody has taken.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        // Relaxed: the owner knows the tail; what thieves have taken meanwhile need not be seen.
        let next = Head::unpack(self.ring.head.load(Relaxed)).next;
        self.tail.get().wrapping_sub(next) as usize
    }
}

/// A job that the owner has taken and that still lies in its slot. Only the owner writes slots, so there it is safe
/// until the owner has gone round the ring; using it later than that panics.
#[must_use = "a claimed job must be used"]
pub(crate) struct Claim<'a, T> {
    owner: &'a Owner<T>,
    count: u32,
    used: bool,
}

impl<T> Claim<'_, T> {
    /// Moves the job out.
    pub(crate) fn take(mut self) -> T {
        self.used = true;
        self.assert_still_there();
        // SAFETY: `pop` has taken this count for us, it is used once, and the slot has not been written again.
        unsafe { self.owner.ring.read(self.count) }
    }

    #[inline]
    fn assert_still_there(&self) {
        assert!(self.owner.tail.get().wrapping_sub(self.count) <= SIZE as u32, "the claimed job was overwritten");
    }
}

/// In its slot, without moving the job as a whole.
impl Run for Claim<'_, Job> {
    #[inline]
    fn run(&mut self) {
        if !mem::replace(&mut self.used, true) {
            self.assert_still_there();
            // SAFETY: `pop` has taken this count for us, it is used once, and the slot has not been written again. The
            // job is moved out before its code, which may push to this ring, begins.
            unsafe { Job::run_at(self.owner.ring.slot(self.count)) };
        }
    }
}

impl<T> Drop for Claim<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if !self.used {
            self.assert_still_there();
            // SAFETY: as in `take`.
            drop(unsafe { self.owner.ring.read(self.count) });
        }
    }
}

impl<T> Stealer<T> {
    /// Moves half of the jobs, rounded up, to the ring of another worker, but for the first, which is returned.
    ///
    /// # Errors
    ///
    /// [`Busy`] if another thief is at it, or was faster.
    pub(crate) fn steal_half(&self, thief: &Owner<T>) -> Result<Option<T>, Busy> {
        let room = thief.room() as u32;
        let Some(mut claimed) = self.0.claim(|jobs| (jobs - jobs / 2).min(room + 1))? else { return Ok(None) };
        // SAFETY: claimed by this thread, and read once.
        let mut loot = claimed.by_ref().map(|count| unsafe { self.0.read(count) });
        let first = loot.next();
        for job in loot {
            thief.push(job).unwrap_or_else(|_| unreachable!("only as many were claimed as there is room for"));
        }
        self.0.give_free();
        Ok(first)
    }

    /// Takes one job.
    ///
    /// # Errors
    ///
    /// [`Busy`] if another thief is at it, or was faster.
    pub(crate) fn steal(&self) -> Result<Option<T>, Busy> {
        let Some(claimed) = self.0.claim(|_| 1)? else { return Ok(None) };
        // SAFETY: claimed by this thread, and read once.
        let job = unsafe { self.0.read(claimed.start) };
        self.0.give_free();
        Ok(Some(job))
    }

    /// How many jobs nobody has taken; exact when nobody puts in or takes out.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl<T> Ring<T> {
    /// Claims as many jobs as `wanted` says of those that are there.
    fn claim(&self, wanted: impl Fn(u32) -> u32) -> Result<Option<Range<u32>>, Busy> {
        let seen = self.head.load(Acquire);
        let Head { free, next } = Head::unpack(seen);
        let jobs = self.tail.load(Acquire).wrapping_sub(next);
        if jobs == 0 {
            return Ok(None);
        }
        // What is far behind is out of date, and the exchange will say so.
        let end = next.wrapping_add(wanted(jobs.min(SIZE as u32)));
        if free == next && self.head.compare_exchange(seen, Head { free, next: end }.pack(), AcqRel, Relaxed).is_ok() {
            Ok(Some(next..end))
        } else {
            Err(Busy)
        }
    }

    /// Gives the claimed slots back to the owner, and with them what it has taken since.
    fn give_free(&self) {
        let mut seen = self.head.load(Relaxed);
        loop {
            let Head { next, .. } = Head::unpack(seen);
            match self.head.compare_exchange_weak(seen, Head { free: next, next }.pack(), AcqRel, Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    fn len(&self) -> usize {
        // In this order, see the module.
        let next = Head::unpack(self.head.load(Acquire)).next;
        let tail = self.tail.load(Acquire);
        (tail.wrapping_sub(next) as usize).min(SIZE)
    }

    #[inline]
    fn slot(&self, count: u32) -> *mut T {
        self.slots[count as usize % SIZE].with_mut(|slot| slot.cast())
    }

    /// # Safety
    ///
    /// The slot is the caller's to write, and holds no job.
    #[inline(always)]
    unsafe fn write(&self, count: u32, job: T) {
        // SAFETY: the caller vouches for it.
        self.slots[count as usize % SIZE].with_mut(|slot| unsafe { slot.cast::<T>().write(job) });
    }

    /// # Safety
    ///
    /// The job was taken or claimed by the caller, who must not use it again.
    #[inline]
    unsafe fn read(&self, count: u32) -> T {
        // SAFETY: the caller vouches for it.
        self.slots[count as usize % SIZE].with(|slot| unsafe { slot.cast::<T>().read() })
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        let Head { next, .. } = Head::unpack(self.head.load(Acquire));
        let jobs = self.tail.load(Acquire).wrapping_sub(next);
        for count in 0..jobs {
            // SAFETY: nobody has taken these, and nobody is left to do so.
            discard(unsafe { self.read(next.wrapping_add(count)) });
        }
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    fn drain(owner: &Owner<Box<usize>>) -> Vec<usize> {
        std::iter::from_fn(|| owner.pop().map(|claim| *claim.take())).collect()
    }

    #[test]
    fn what_comes_first_goes_first() {
        let (owner, stealer) = ring();
        for round in 0..3 * SIZE {
            assert_eq!(owner.push(Box::new(round)), Ok(()));
            assert_eq!(owner.push(Box::new(round + 1)), Ok(()));
            assert_eq!(stealer.len(), 2);
            assert_eq!(drain(&owner), [round, round + 1]);
            assert_eq!(owner.len(), 0);
        }
    }

    #[test]
    fn a_full_ring_gives_the_job_back() {
        let (owner, stealer) = ring();
        for job in 0..SIZE {
            assert_eq!(owner.push(Box::new(job)), Ok(()));
        }
        assert_eq!(owner.push(Box::new(7)), Err(Box::new(7)));
        assert_eq!(stealer.steal(), Ok(Some(Box::new(0))));
        assert_eq!(owner.push(Box::new(8)), Ok(()));
        assert_eq!(owner.push(Box::new(9)), Err(Box::new(9)));
        assert_eq!(drain(&owner).len(), SIZE);
    }

    #[test]
    fn a_thief_takes_half_rounded_up() {
        let (owner, stealer) = ring();
        let (thief, _) = ring();
        for (jobs, taken) in [(0, 0), (1, 1), (2, 1), (5, 3), (SIZE, SIZE / 2)] {
            for job in 0..jobs {
                assert_eq!(owner.push(Box::new(job)), Ok(()));
            }
            let first = stealer.steal_half(&thief).expect("nobody else is there");
            assert_eq!(first.map(|job| *job), (jobs > 0).then_some(0));
            assert_eq!(drain(&thief), (1..taken).collect::<Vec<_>>());
            assert_eq!(drain(&owner), (taken..jobs).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_thief_takes_no_more_than_it_has_room_for() {
        let ((owner, stealer), (thief, _)) = (ring(), ring());
        for job in 0..SIZE {
            assert_eq!(owner.push(Box::new(job)), Ok(()));
        }
        for job in 1..SIZE {
            assert_eq!(thief.push(Box::new(job)), Ok(()));
        }
        assert_eq!(stealer.steal_half(&thief), Ok(Some(Box::new(0))));
        assert_eq!((owner.ring.len(), thief.ring.len()), (SIZE - 2, SIZE));
    }

    #[test]
    fn jobs_that_nobody_takes_are_dropped() {
        let witness = Arc::new(());
        let (owner, stealer) = ring();
        for _ in 0..5 {
            assert_eq!(owner.push(Arc::clone(&witness)), Ok(()));
        }
        drop(owner.pop());
        drop(owner.pop().map(Claim::take));
        assert_eq!(Arc::strong_count(&witness), 4);
        drop((owner, stealer));
        assert_eq!(Arc::strong_count(&witness), 1);
    }
}
