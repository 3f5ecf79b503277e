//! A worker's own queue: a ring, first in first out, that others may steal from.
//!
//! After the local queue of tokio's multi-threaded scheduler (Lerche, 2019), itself after that of Go: a thief first
//! claims jobs, then copies them, then gives their slots free, so that no slot is ever read while it may be written. In
//! addition, the owner [runs](Owner::run_first) its jobs where they lie; and the ring grows, up to a limit.
//!
//! Three counts run through the ring, `free <= next <= tail <= free + size`:
//!
//! - From `next` to `tail` are jobs that nobody has taken.
//! - From `free` to `next` are jobs that are held: a thief has claimed them and is copying, or the owner has taken them
//!   meanwhile. There is at most one such thief.
//! - Everything else is the owner's to write.
//!
//! `next` and how many are held share a word, the [head](Head), that is only changed by compare-and-exchange; `tail` is
//! written by the owner only. Mostly the owner is alone with its jobs for a long time, though. Then it *reserves* the
//! ring, and takes them without an exchange, until somebody *recalls* it; that is told [below](#a-reserved-ring). The
//! orderings of an open ring:
//!
//! - *A slot is written before it is read.* The owner stores `tail` (Release) behind its write; a thief loads it
//!   (Acquire).
//! - *A slot is read before it is written again.* The thief moves `free` (Release) behind its reads; the owner loads
//!   the head (Acquire) before it writes to what has become free. All writes to the head are read-modify-writes, so the
//!   owner synchronises with the thief even if it reads what somebody else has made of the head since.
//! - *A thief never sees `tail` behind `next`.* The owner takes jobs by an exchange (Release) behind its stores of
//!   `tail`, and the thief loads the head (Acquire) before `tail`.
//! - *Who finds the ring empty knows who took the last job.* It loads the head (Acquire) that the other has written
//!   (Release): what that one did before, such as being counted as active, precedes what who looks does next.
//! - *A claim is for what was there.* A thief's exchange succeeds only if the head is as it was; `tail` can only have
//!   grown since. (Unless the counts, of 32 bits, came round to the very same values while the thief was suspended.)
//! - *A claimed job is in the slots that the thief sees.* The ring has no slots before its first job, and grows when
//!   most are in use: the owner copies the bits of all of them to the same counts of twice as many slots, stores
//!   where these are (Release), and never writes to the former ones again, which stay until the ring is dropped. A
//!   thief that has claimed a job loads where the slots are (Acquire). If it sees former ones, the job was in them; it
//!   has been there since the thief loaded a `tail` behind it, which the owner stored after the slots of that job. If
//!   it sees newer ones, the job was copied, as `free` cannot pass it before the thief allows that.
//!
//! # A reserved ring
//!
//! While the head says *reserved* nobody but the owner takes jobs, nothing is held, and `taken`, which the owner
//! alone writes, stands for `free` and `next`. Who wants a job, or to know that it sees all of them, has to open the
//! ring first (the biased locking of Dice, Moir and Scherer, 2003, and its revocation by an asymmetric fence):
//!
//! - **O1** The owner stores in `taken` that it takes the job. **O2** Light [fence](crate::barrier). **O3** It looks
//!   whether the head still says *reserved*. If so, the job is its own.
//! - **R1** Somebody exchanges *reserved* for *recalled* in the head. **R2** Heavy fence. **R3** It loads `taken`, and
//!   exchanges *recalled* for *open*, with that as `next`. If this fails, somebody else has opened the ring.
//!
//! What makes that safe:
//!
//! - *Nobody takes a job that the owner has.* If O3 sees *reserved*, R2 comes after O2, and R3 sees what O1 has stored.
//! - *If O3 sees something else, both agree on whose the job is.* R3 may have seen the store of O1, or not. If the
//!   ring is still *recalled*, the owner opens it itself behind its job, so that R3 fails; nobody waits for a
//!   suspended thread. If it is open, `next` was behind the job or at it when it was opened, and the head tells which
//!   by one bit: where it was, modulo 2, which thieves leave as it is. The job is the owner's, or it takes the first
//!   that is left.
//! - *R3 cannot open the ring of another time*, for which it has issued no fence: the head that it expects says how
//!   often the ring has been reserved before.
//! - *Several may recall it.* Who finds it recalled goes on with R2, on its own account, and not before: the fence of
//!   another one may be yet to come.
//! - *A slot is read before it is written again.* The owner reserves the ring when no thief is at it, having loaded the
//!   head (Acquire) since.
//! - *Who sees that a job is gone sees what was pushed before that*, as in an open ring: `taken` is stored Release, and
//!   loaded Acquire, before `tail`.
//! - *The ring may seem to be empty for a moment* while the owner is between O1 and O3, though the job it wants will
//!   turn out not to be its own: then it takes one, if that is still there, at once.
//!
//! The owner's pushes share that fence. Who announces that it falls asleep, issues a fence, and does R1 to R3 before it
//! looks for jobs, sees each push, or the owner sees the announcement, without a fence of its own
//! ([`order_pushes`](Owner::order_pushes)).

mod head;
#[cfg(all(test, executors_loom))]
mod model;

use super::Busy;
use crate::{
    apart::Apart,
    barrier::{self, LightSide, Recalled},
    containment::discard,
    job::{IntoJob, Job},
    sync::{
        Arc,
        atomic::{
            AtomicPtr, AtomicU32, AtomicU64, Ordering,
            Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
            fence,
        },
        cell::UnsafeCell,
    },
};
use head::Head;
use std::{cell::Cell, mem::MaybeUninit, ops::Range, ptr};

/// Jobs that fit into a ring at first.
const FIRST_SIZE: usize = if cfg!(executors_loom) { 4 } else { 64 };

/// Jobs that fit into a ring that has grown as far as it may: 192 KiB, which most second-level caches hold.
pub(crate) const MAX_SIZE: usize = if cfg!(executors_loom) { 8 } else { 4096 };

struct Ring<T> {
    /// A [`Head`].
    head: Apart<AtomicU64>,
    owners: Apart<Owners<T>>,
}

/// What only the owner writes.
struct Owners<T> {
    tail: AtomicU32,
    /// In the place of `next` while the ring is reserved.
    taken: AtomicU32,
    /// Null until there is a first job.
    buffer: AtomicPtr<Buffer<T>>,
    side: LightSide,
}

/// Slots, as many as a power of two.
struct Buffer<T> {
    slots: Box<[Slot<T>]>,
    /// What this one has replaced, or null. Thieves may still be at it.
    former: *mut Buffer<T>,
}

type Slot<T> = UnsafeCell<MaybeUninit<T>>;

/// Where the slots of a ring are, for as long as that lives.
struct Slots<T> {
    first: *const Slot<T>,
    mask: u32,
}

// SAFETY: values move from thread to thread through the ring, and are never shared. Who may touch a slot is said above.
unsafe impl<T: Send> Send for Ring<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Ring<T> {}
// SAFETY: as above; the slots belong to the ring, which the owner keeps alive.
unsafe impl<T: Send> Send for Owner<T> {}

/// The owner's end of a ring. There is one, and it stays on one thread.
pub(crate) struct Owner<T> {
    ring: Arc<Ring<T>>,
    slots: Cell<Slots<T>>,
    tail: Cell<u32>,
    /// The owner may write up to here: what `free` was when it last looked, and the size of the ring.
    limit: Cell<u32>,
    /// How often the ring was reserved.
    times: Cell<u32>,
}

/// The end of a ring that is for everybody.
pub(crate) struct Stealer<T>(Arc<Ring<T>>);

/// A new ring. It has no slots until the owner needs some.
pub(crate) fn ring<T>() -> (Owner<T>, Stealer<T>) {
    let ring = Arc::new(Ring {
        head: Apart::new(AtomicU64::new(0)),
        owners: Apart::new(Owners {
            tail: AtomicU32::new(0),
            taken: AtomicU32::new(0),
            buffer: AtomicPtr::new(ptr::null_mut()),
            side: LightSide::default(),
        }),
    });
    let (slots, [tail, limit, times]) = (Cell::new(Slots::NONE), Default::default());
    (Owner { ring: Arc::clone(&ring), slots, tail, limit, times }, Stealer(ring))
}

impl<T> Owner<T> {
    /// A place at the end, if the owner knows of one; [`make_room`](Self::make_room) may find others. It must be filled
    /// before the next is asked for: two may be the same, and to fill the second one panics if there is no other.
    ///
    /// Apart from filling it, so that a job is written once, to its slot: moving it as a whole costs more than a small
    /// job does.
    #[inline(always)]
    pub(crate) fn place(&self) -> Option<Place<'_, T>> {
        (self.tail.get() != self.limit.get()).then_some(Place(self))
    }

    /// Puts a job at the end, or gives it back if the ring is full and as large as it may be.
    pub(crate) fn push(&self, job: T) -> Result<(), T> {
        match self.place().or_else(|| (self.make_room() > 0).then_some(Place(self))) {
            // SAFETY: this writes a job.
            Some(place) => unsafe { place.fill(|slot| slot.write(job)) },
            None => return Err(job),
        }
        Ok(())
    }

    /// Looks how many jobs can be pushed now, and makes the ring larger if there is room for few: otherwise an owner
    /// that takes one and pushes one, again and again, would come here each time.
    #[cold]
    pub(crate) fn make_room(&self) -> usize {
        let head = self.ring.head(Acquire);
        // If it is opened meanwhile, nobody else has taken what is before.
        let free = if head.is_open() { head.free() } else { self.taken() };
        self.limit.set(free.wrapping_add(self.slots.get().size()));
        let room = || self.limit.get().wrapping_sub(self.tail.get());
        if room() <= self.slots.get().size() / 4 {
            self.grow();
        }
        room() as usize
    }

    /// Makes the ring twice as large, or gives it its first slots, unless it is as large as it may be. Free slots are
    /// copied, too.
    #[cold]
    fn grow(&self) {
        let former = self.slots.get();
        let former_size = former.size();
        if former_size as usize == MAX_SIZE {
            return;
        }
        let size = (2 * former_size as usize).max(FIRST_SIZE);
        // Relaxed: written by the owner only.
        let buffer = Buffer::new(size, self.ring.owners.buffer.load(Relaxed));
        let slots = buffer.slots();
        for back in 1..=former_size {
            // SAFETY: the former slots are those of the ring, which keeps them until it is dropped, and there are some,
            // as many as `former_size`. The new ones are in `buffer`, which is kept likewise, and here until then. Only
            // the owner writes slots, and no thief knows the new ones yet.
            unsafe { slots.copy(self.tail.get().wrapping_sub(back), former) };
        }
        self.ring.owners.buffer.store(Box::into_raw(buffer), Release);
        self.slots.set(slots);
        self.limit.set(self.limit.get().wrapping_add(slots.size() - former_size));
    }

    /// Takes the first job.
    pub(crate) fn pop(&self) -> Option<T> {
        let (slots, count) = self.take_first()?;
        // SAFETY: these are the slots in which the job is, of a ring that lives as long as the owner, borrowed here. It
        // was taken for this read, and nobody writes the slot before the owner's next push.
        Some(unsafe { slots.read(count) })
    }

    /// Takes the first job, and says where it is: there it stays until the owner's next push.
    #[inline(always)]
    fn take_first(&self) -> Option<(Slots<T>, u32)> {
        let head = self.ring.head(Acquire);
        let count = if head.is_reserved() { self.take_reserved() } else { self.take_open(head) };
        Some((self.slots.get(), count?))
    }

    /// Takes the first job of a ring that is open, or was recalled.
    #[inline(always)]
    fn take_open(&self, mut head: Head) -> Option<u32> {
        loop {
            let (next, after) =
                if head.is_open() { (head.next(), head.behind_next()) } else { self.open_behind_next() };
            if next == self.tail.get() {
                return None;
            }
            match self.ring.exchange(head, after) {
                Ok(()) => return Some(next),
                Err(now) => head = now,
            }
        }
    }

    /// Nobody has opened the ring yet who recalled it. The owner does, with the first job taken.
    #[cold]
    fn open_behind_next(&self) -> (u32, Head) {
        let next = self.taken();
        (next, Head::opened_at(next.wrapping_add(1)))
    }

    /// Takes the first job of a ring that was reserved when the owner looked.
    #[inline(always)]
    fn take_reserved(&self) -> Option<u32> {
        let count = self.taken();
        if count == self.tail.get() {
            return None;
        }
        self.ring.owners.taken.store(count.wrapping_add(1), Release);
        // O2, which pairs with R2.
        self.ring.owners.side.fence();
        if self.ring.head(Relaxed).is_reserved() { Some(count) } else { self.take_recalled(count) }
    }

    /// The ring was recalled while the owner was taking the job at `count`. Takes that job, or another.
    #[cold]
    #[inline(never)]
    fn take_recalled(&self, count: u32) -> Option<u32> {
        let behind = count.wrapping_add(1);
        let mut head = self.ring.head(Acquire);
        if !head.is_open() {
            match self.ring.exchange(head, Head::opened_at(behind)) {
                Ok(()) => return Some(count),
                Err(now) => head = now,
            }
        }
        if head.was_opened_at(behind) { Some(count) } else { self.take_open(head) }
    }

    /// Has an open ring be the owner's only, until somebody recalls it. Returns whether it has.
    ///
    /// Not before that is [ready](barrier::is_ready).
    #[cold]
    pub(crate) fn reserve(&self) -> bool {
        let head = self.ring.head(Acquire);
        if !head.is_open() || head.held() > 0 {
            return false;
        }
        // Relaxed: published by the exchange.
        self.ring.owners.taken.store(head.next(), Relaxed);
        self.times.update(|before| before.wrapping_add(1));
        let is_reserved = self.ring.exchange(head, Head::reserved(self.times.get())).is_ok();
        // Pairs with the fence of who finds that it is not: see `order_pushes`.
        fence(SeqCst);
        is_reserved
    }

    pub(crate) fn is_reserved(&self) -> bool {
        self.ring.head(Relaxed).is_reserved()
    }

    /// What a fence between its pushes and what it reads next would be for all who issue a fence between what they
    /// write and a [recall](Stealer::recall), and then look into this ring: they see the pushes, or the owner sees what
    /// they have written.
    ///
    /// If the ring is not reserved, it is a fence indeed. If it is, as the owner sees it here, there are three ways
    /// of coming to look: who has not issued its heavy fence yet will see the push; who has opened the ring, or found
    /// it opened by another's, before this, would have had the owner see that here; and who found that it was not
    /// reserved yet did so before the fence in [`reserve`](Self::reserve), behind which the owner sees what that one
    /// has written.
    #[inline(always)]
    pub(crate) fn order_pushes(&self) {
        let side = &self.ring.owners.side;
        side.fence();
        if !self.ring.head(Relaxed).is_reserved() {
            fence(SeqCst);
        }
        side.fence();
    }

    /// How many jobs it has taken, if the ring is reserved, or was when somebody recalled it.
    #[inline(always)]
    fn taken(&self) -> u32 {
        // Relaxed: written by the owner only.
        self.ring.owners.taken.load(Relaxed)
    }

    /// How many jobs nobody has taken.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        // Relaxed: the owner knows the tail; what thieves have taken meanwhile need not be seen.
        let head = self.ring.head(Relaxed);
        let next = if head.is_open() { head.next() } else { self.taken() };
        self.tail.get().wrapping_sub(next) as usize
    }
}

/// A free slot at the end of a ring.
pub(crate) struct Place<'a, T>(&'a Owner<T>);

impl<T> Place<'_, T> {
    /// Makes what `write` puts there the last job.
    ///
    /// # Safety
    ///
    /// `write` must initialise the slot, and not use the ring.
    #[inline(always)]
    pub(crate) unsafe fn fill(self, write: impl FnOnce(*mut T)) {
        let Place(owner) = self;
        let (tail, slots) = (owner.tail.get(), owner.slots.get());
        // Costs nothing: who has just asked for the place has compared these two.
        assert_ne!(tail, owner.limit.get(), "a place is filled before the next is asked for");
        // SAFETY: the slots are those of the owner's ring, which lives as long as the owner, borrowed here; and it has
        // some, for without any the limit is the tail.
        let cell = unsafe { slots.cell(tail) };
        // The slot is below the limit, and so the owner's to write.
        cell.with_mut(|slot| write(slot.cast()));
        owner.tail.set(tail.wrapping_add(1));
        owner.ring.owners.tail.store(tail.wrapping_add(1), Release);
    }
}

/// In place, as a closure or as a whole.
impl Place<'_, Job> {
    #[inline(always)]
    pub(crate) fn put(self, job: impl IntoJob) {
        // SAFETY: this writes a job, and does nothing else.
        unsafe { self.fill(|slot| job.write_job(slot)) };
    }
}

/// In place, without moving the job as a whole.
impl Owner<Job> {
    /// Takes the first job and runs it; what it throws passes through. Returns whether there was one.
    #[inline(always)]
    pub(crate) fn run_first(&self) -> bool {
        let Some((slots, count)) = self.take_first() else { return false };
        // SAFETY: these are the slots in which the job is, of a ring that lives as long as the owner, borrowed here.
        let slot = unsafe { slots.slot(count) };
        // SAFETY: it was taken for this run, and nobody writes the slot before the owner's next push. The job is moved
        // out before its code, which may push to this ring, begins.
        unsafe { Job::run_at(slot) };
        true
    }
}

impl<T> Stealer<T> {
    /// Moves half of the jobs, rounded up, to the ring of another worker, except the first, which is returned.
    ///
    /// # Errors
    ///
    /// [`Busy`] if another thief is at it, or was faster.
    pub(crate) fn steal_half(&self, thief: &Owner<T>) -> Result<Option<T>, Busy> {
        let most = |jobs: u32| if jobs > 1 { (jobs - jobs / 2).min(thief.make_room() as u32 + 1) } else { 1 };
        let Some(mut claimed) = self.0.claim(most)? else { return Ok(None) };
        // SAFETY: this thread has claimed jobs.
        let slots = unsafe { self.0.slots() };
        // SAFETY: claimed by this thread, before it asked where the slots are, and read once. The ring lives as long as
        // this end of it.
        let mut loot = claimed.by_ref().map(|count| unsafe { slots.read(count) });
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
        // SAFETY: this thread has claimed a job.
        let slots = unsafe { self.0.slots() };
        // SAFETY: as in `steal_half`.
        let job = unsafe { slots.read(claimed.start) };
        self.0.give_free();
        Ok(Some(job))
    }

    /// Where the jobs begin and end that nobody has taken; exact when nobody puts in or takes out.
    pub(crate) fn jobs(&self) -> Jobs {
        self.0.jobs()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.jobs().len()
    }

    /// Whether neither the owner has it reserved nor anybody is about to open it.
    pub(crate) fn is_open(&self) -> bool {
        self.0.head(Acquire).is_open()
    }

    /// R1, unless the ring is open. What comes of it is to be [ended](barrier::end_recalls), by R2 and R3.
    pub(crate) fn recall(&self) -> Option<RecalledRing<'_, T>> {
        self.0.recall()
    }
}

/// The jobs in a ring that nobody has taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Jobs {
    next: u32,
    tail: u32,
}

impl Jobs {
    pub(crate) fn len(self) -> usize {
        (self.tail.wrapping_sub(self.next) as usize).min(MAX_SIZE)
    }

    /// Whether the first of these is also the first of those.
    pub(crate) fn begin_as(self, others: Self) -> bool {
        self.len() > 0 && self.next == others.next
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

    /// R3.
    fn end(&self) {
        let taken = self.ring.owners.taken.load(Acquire);
        // If this fails, somebody else has opened the ring.
        let _ = self.ring.exchange(self.head, Head::opened_at(taken));
    }
}

impl<T> Ring<T> {
    #[inline(always)]
    fn head(&self, order: Ordering) -> Head {
        Head::of(self.head.load(order))
    }

    /// Has the head be `after` if it is `before`; gives what it is otherwise.
    #[inline(always)]
    fn exchange(&self, before: Head, after: Head) -> Result<(), Head> {
        let outcome = self.head.compare_exchange(before.word(), after.word(), AcqRel, Acquire);
        outcome.map(drop).map_err(Head::of)
    }

    /// Claims as many jobs as `wanted` says of those that are there.
    fn claim(&self, wanted: impl Fn(u32) -> u32) -> Result<Option<Range<u32>>, Busy> {
        barrier::end_recalls(self.recall().iter().map(|ring| ring as &dyn Recalled));
        let head = self.head(Acquire);
        if !head.is_open() {
            return Err(Busy);
        }
        let next = head.next();
        let jobs = self.owners.tail.load(Acquire).wrapping_sub(next);
        if jobs == 0 {
            return Ok(None);
        }
        // What is far behind is out of date, and the exchange will say so.
        let jobs = wanted(jobs.min(MAX_SIZE as u32));
        if head.held() == 0 && self.exchange(head, head.with_claimed(jobs)).is_ok() {
            Ok(Some(next..next.wrapping_add(jobs)))
        } else {
            Err(Busy)
        }
    }

    /// Gives the claimed slots back to the owner, and with them what it has taken since.
    fn give_free(&self) {
        let mut head = self.head(Relaxed);
        while let Err(now) = self.exchange(head, head.with_all_free()) {
            head = now;
        }
    }

    fn recall(&self) -> Option<RecalledRing<'_, T>> {
        let mut head = self.head(Acquire);
        while head.is_reserved() {
            match self.exchange(head, head.recalled()) {
                Ok(()) => head = head.recalled(),
                Err(now) => head = now,
            }
        }
        (!head.is_open()).then_some(RecalledRing { ring: self, head })
    }

    fn jobs(&self) -> Jobs {
        // In this order, see the module.
        let head = self.head(Acquire);
        let next = if head.is_open() { head.next() } else { self.owners.taken.load(Acquire) };
        let tail = self.owners.tail.load(Acquire);
        Jobs { next, tail }
    }

    /// Where the slots are now. Acquire: see the module.
    ///
    /// # Safety
    ///
    /// The caller has claimed a job, or nobody else uses the ring and there is one: so it sees slots.
    unsafe fn slots(&self) -> Slots<T> {
        // SAFETY: made by `Box::into_raw`, and kept until the ring is dropped, also when it is replaced; never borrowed
        // uniquely meanwhile. The caller vouches for it that it is not null.
        unsafe { &*self.owners.buffer.load(Acquire) }.slots()
    }
}

impl<T> Buffer<T> {
    fn new(size: usize, former: *mut Self) -> Box<Self> {
        debug_assert!(size.is_power_of_two());
        let slots = (0..size).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect();
        Box::new(Buffer { slots, former })
    }

    fn slots(&self) -> Slots<T> {
        Slots { first: self.slots.as_ptr(), mask: self.slots.len() as u32 - 1 }
    }
}

impl<T> Slots<T> {
    /// Of a ring that has none yet: its limit says that there is no place, and no job is in it.
    const NONE: Self = Slots { first: ptr::null(), mask: u32::MAX };

    #[inline]
    fn size(self) -> u32 {
        self.mask.wrapping_add(1)
    }

    /// # Safety
    ///
    /// These must not be [`NONE`](Self::NONE), and the ring must live for as long as the result is used.
    #[inline(always)]
    unsafe fn cell(&self, count: u32) -> &Slot<T> {
        // SAFETY: there are `mask + 1` slots, and the ring, which lives, frees none before it is dropped.
        unsafe { &*self.first.add((count & self.mask) as usize) }
    }

    /// # Safety
    ///
    /// As for [`cell`](Self::cell), and nobody else may use the slot meanwhile.
    #[inline]
    unsafe fn slot(self, count: u32) -> *mut T {
        // SAFETY: the caller vouches for it.
        unsafe { self.cell(count) }.with_mut(|slot| slot.cast())
    }

    /// # Safety
    ///
    /// As for [`cell`](Self::cell). The job was taken or claimed by the caller, who must not use it again.
    #[inline]
    unsafe fn read(self, count: u32) -> T {
        // SAFETY: the caller vouches for it.
        unsafe { self.cell(count) }.with(|slot| unsafe { slot.cast::<T>().read() })
    }

    /// Copies the bits of a job, maybe one that somebody takes meanwhile, from `former` slots.
    ///
    /// # Safety
    ///
    /// As for [`cell`](Self::cell), for both. Nobody writes the former slot any more; the new one is the caller's to
    /// write.
    unsafe fn copy(self, count: u32, former: Self) {
        // SAFETY: the caller vouches for it.
        let bits = unsafe { former.cell(count) }.with(|slot| unsafe { slot.read() });
        // SAFETY: as above.
        unsafe { self.cell(count) }.with_mut(|slot| unsafe { slot.write(bits) });
    }
}

impl<T> Clone for Slots<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slots<T> {}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        let jobs = self.jobs();
        for count in 0..jobs.tail.wrapping_sub(jobs.next) {
            // SAFETY: there is a job, and nobody else uses the ring any more.
            let slots = unsafe { self.slots() };
            // SAFETY: nobody has taken this one, and nobody is left to do so. The ring lives until this returns.
            discard(unsafe { slots.read(jobs.next.wrapping_add(count)) });
        }
        let mut buffer = self.owners.buffer.load(Relaxed);
        while !buffer.is_null() {
            // SAFETY: made by `Box::into_raw`, once in this list, and nobody is left who might use it.
            buffer = unsafe { Box::from_raw(buffer) }.former;
        }
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    fn drain(owner: &Owner<Box<usize>>) -> Vec<usize> {
        std::iter::from_fn(|| owner.pop().map(|job| *job)).collect()
    }

    #[test]
    fn what_comes_first_goes_first() {
        let (owner, stealer) = ring();
        for round in 0..3 * FIRST_SIZE {
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
        for job in 0..MAX_SIZE {
            assert_eq!(owner.push(Box::new(job)), Ok(()));
        }
        assert_eq!(owner.push(Box::new(7)), Err(Box::new(7)));
        assert_eq!(stealer.steal(), Ok(Some(Box::new(0))));
        assert_eq!(owner.push(Box::new(MAX_SIZE)), Ok(()));
        assert_eq!(owner.push(Box::new(9)), Err(Box::new(9)));
        assert_eq!(drain(&owner), (1..=MAX_SIZE).collect::<Vec<_>>());
    }

    #[test]
    fn jobs_keep_their_order_while_the_ring_grows() {
        let (owner, stealer) = ring();
        let (mut jobs, mut taken) = (0.., 0..);
        while owner.len() < MAX_SIZE / 2 {
            for job in jobs.by_ref().take(3) {
                assert_eq!(owner.push(Box::new(job)), Ok(()));
            }
            assert_eq!(stealer.steal(), Ok(taken.next().map(Box::new)));
            assert_eq!(owner.pop().map(|job| *job), taken.next());
        }
        assert_eq!(drain(&owner), (taken.start..jobs.start).collect::<Vec<_>>());
    }

    /// A job that pushes as many as there is room for, and more, before it looks at what it owns.
    #[test]
    fn a_job_runs_in_its_slot_while_it_pushes() {
        let (owner, _stealer) = ring::<Job>();
        let owner = Arc::new(Confined(owner));
        let ran = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        for weight in [0, 3] {
            let (inner, ran) = (Arc::clone(&owner), Arc::clone(&ran));
            let captured = [vec![7; 5]; 1];
            let large = [weight; 4];
            owner.push(Job::new(move || {
                for _ in 0..2 * FIRST_SIZE {
                    let ran = Arc::clone(&ran);
                    inner.push(Job::new(move || _ = ran.fetch_add(1, std::sync::atomic::Ordering::Relaxed)));
                }
                assert_eq!((&captured[0][..], large), (&[7; 5][..], [weight; 4]));
                assert!(weight == 0, "as the test wants it");
            }));
        }
        let run = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| owner.0.run_first()));
        assert!(run().is_ok_and(|ran| ran));
        assert!(run().is_err());
        while owner.0.run_first() {}
        assert_eq!(ran.load(std::sync::atomic::Ordering::Relaxed), 4 * FIRST_SIZE);
    }

    /// For jobs, which must be `Send`, that stay on the thread of the test.
    struct Confined(Owner<Job>);

    // SAFETY: the test has one thread.
    unsafe impl Sync for Confined {}

    impl Confined {
        fn push(&self, job: Job) {
            assert!(self.0.push(job).is_ok(), "there is room");
        }
    }

    #[test]
    fn an_owner_that_takes_one_and_pushes_one_has_room_ahead() {
        let (owner, _stealer) = ring();
        (0..FIRST_SIZE).for_each(|job| assert_eq!(owner.push(job), Ok(())));
        owner.make_room();
        for job in FIRST_SIZE..2 * FIRST_SIZE {
            assert_eq!(owner.pop(), Some(job - FIRST_SIZE));
            assert!(owner.place().is_some(), "without another look");
            assert_eq!(owner.push(job), Ok(()));
        }
    }

    #[test]
    #[should_panic = "a place is filled before the next"]
    fn the_last_place_is_filled_once() {
        let (owner, _stealer) = ring();
        for job in 1..FIRST_SIZE {
            assert_eq!(owner.push(job), Ok(()));
        }
        for place in [owner.place(), owner.place()].into_iter().flatten() {
            // SAFETY: this writes a job.
            unsafe { place.fill(|slot| slot.write(0)) };
        }
    }

    #[test]
    fn a_thief_takes_half_rounded_up() {
        let (owner, stealer) = ring();
        let (thief, _) = ring();
        for (jobs, taken) in [(0, 0), (1, 1), (2, 1), (5, 3), (FIRST_SIZE, FIRST_SIZE / 2)] {
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
        for job in 0..FIRST_SIZE {
            assert_eq!(owner.push(Box::new(job)), Ok(()));
        }
        for job in 1..MAX_SIZE {
            assert_eq!(thief.push(Box::new(job)), Ok(()));
        }
        assert_eq!(stealer.steal_half(&thief), Ok(Some(Box::new(0))));
        assert_eq!((owner.len(), thief.len()), (FIRST_SIZE - 2, MAX_SIZE));
    }

    #[test]
    fn jobs_that_nobody_takes_are_dropped() {
        let witness = Arc::new(());
        let (owner, stealer) = ring();
        for _ in 0..5 {
            assert_eq!(owner.push(Arc::clone(&witness)), Ok(()));
        }
        drop(owner.pop());
        assert_eq!(Arc::strong_count(&witness), 5);
        drop((owner, stealer));
        assert_eq!(Arc::strong_count(&witness), 1);
    }
}
