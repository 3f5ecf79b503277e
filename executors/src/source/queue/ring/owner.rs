//! The end of a ring at which jobs are put in, and taken out first in, first out.

use super::{
    FIRST_COUNT, FIRST_SIZE, Head, MAX_SIZE, Ring,
    slots::{Buffer, Slots},
};
use crate::{
    job::{IntoJob, Job},
    source::queue::{privilege::Earnings, reservation::Reservation},
    sync::{
        Arc,
        atomic::{
            Ordering::{Acquire, Relaxed, Release, SeqCst},
            fence,
        },
    },
};
use std::cell::Cell;

/// The owner's end of a ring. There is one, and it stays on one thread.
pub(crate) struct Owner<T> {
    ring: Arc<Ring<T>>,
    slots: Cell<Slots<T>>,
    tail: Cell<u32>,
    /// The owner may write up to here: what `free` was when it last looked, plus the size of the ring; or no further
    /// than `tail`, if it has [forgotten](Self::forget_room) that.
    limit: Cell<u32>,
    /// How often the ring was reserved.
    times: Cell<u64>,
    /// The jobs that it has taken, as far as they are [counted](Self::earn), and the privilege for that.
    earnings: Earnings,
    /// What `taken` was when the ring was reserved.
    reserved_at: Cell<u32>,
}

// SAFETY: as for the ring; the slots belong to the ring, which the owner keeps alive.
unsafe impl<T: Send> Send for Owner<T> {}

impl<T> Owner<T> {
    pub(super) fn new(ring: Arc<Ring<T>>) -> Self {
        let (slots, [tail, limit]) = (Cell::new(Slots::NONE), [FIRST_COUNT; 2].map(Cell::new));
        Owner {
            ring,
            slots,
            tail,
            limit,
            times: Cell::default(),
            earnings: Earnings::new(),
            reserved_at: Cell::new(FIRST_COUNT),
        }
    }

    /// A place at the end, if the owner knows of one; [`make_room`](Self::make_room) may find others. It must be filled
    /// before the next is asked for: two may be the same, and filling the second one panics if there is no other.
    ///
    /// Separate from filling it, so that a job is written once, to its slot: moving it as a whole costs more than a
    /// small job does.
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

    /// Returns how many jobs can be pushed now, having made the ring larger if there was room for few: otherwise an
    /// owner that takes one and pushes one, again and again, would come here each time.
    #[cold]
    pub(crate) fn make_room(&self) -> usize {
        let head = self.ring.head.load(Acquire);
        // Also if it is opened meanwhile: what is before `taken` was taken by the owner, and by no other thread.
        let free = if head.is_open() { head.free() } else { self.taken() };
        self.limit.set(free.wrapping_add(self.slots.get().size()));
        let room = || self.limit.get().wrapping_sub(self.tail.get());
        if room() <= self.slots.get().size() / 4 {
            self.grow();
        }
        room() as usize
    }

    /// From now on the owner knows of no free place, until it [makes room](Self::make_room).
    pub(crate) fn forget_room(&self) {
        self.limit.set(self.tail.get());
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
        let mut buffer = Buffer::new((2 * former_size as usize).max(FIRST_SIZE));
        if self.slots.get().size() != former_size {
            // The allocator has pushed a job, for which the ring has become larger.
            return;
        }
        // Relaxed: written by the owner only.
        buffer.former = self.ring.owners.buffer.load(Relaxed);
        let slots = buffer.slots();
        for back in 1..=former_size {
            // SAFETY: the former slots are those of the ring, which keeps them until it is dropped, and there are as
            // many as `former_size`. The new ones are in `buffer`, which is here now, and will be kept likewise. Only
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
        // SAFETY: these are the slots in which the job is, of a ring that lives as long as the owner, borrowed here.
        // The job was taken for this read, and the slot is not written before the owner's next push.
        Some(unsafe { slots.read(count) })
    }

    /// Takes the first job, and returns where it is: it stays there until the owner's next push.
    #[inline(always)]
    fn take_first(&self) -> Option<(Slots<T>, u32)> {
        let head = self.ring.head.load(Acquire);
        let count = if head.is_reserved() { self.take_reserved() } else { self.take_open(head) };
        Some((self.slots.get(), count?))
    }

    /// Takes the first job of a ring that is open, or was recalled.
    #[inline(always)]
    fn take_open(&self, mut head: Head) -> Option<u32> {
        loop {
            if !head.is_open() {
                head = self.open();
            }
            let next = head.next();
            if next == self.tail.get() {
                return None;
            }
            match self.ring.head.exchange(head, head.behind_next()) {
                Ok(()) => return Some(next),
                Err(now) => head = now,
            }
        }
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
        if self.ring.head.load(Relaxed).is_reserved() { Some(count) } else { self.take_recalled(count) }
    }

    /// The ring was recalled while the owner was taking the job at `count`. Takes that job, or another.
    #[cold]
    #[inline(never)]
    fn take_recalled(&self, count: u32) -> Option<u32> {
        let behind = count.wrapping_add(1);
        let mut head = self.ring.head.load(Acquire);
        if !head.is_open() {
            match self.ring.head.exchange(head, Head::opened_at(behind)) {
                Ok(()) => return Some(count),
                Err(now) => head = now,
            }
        }
        if head.was_opened_at(behind) { Some(count) } else { self.take_open(head) }
    }

    /// The owner has taken this many more `jobs`, and so may have earned the privilege to have the ring to itself.
    #[cold]
    pub(crate) fn earn(&self, jobs: usize) {
        self.earnings.add(jobs);
        if !self.is_reserved() {
            self.give_back();
        }
        if self.earnings.check_due() {
            self.reserve();
        }
    }

    /// Gives the privilege back, if the owner has it, so that no other thread has to take it away; and notes if it was
    /// lost before.
    pub(crate) fn give_back(&self) {
        if self.earnings.is_held() {
            let asked = !self.is_reserved();
            self.open();
            let privileged = self.taken().wrapping_sub(self.reserved_at.get()) as usize;
            self.earnings.lose(privileged, asked, &self.ring.owners.interruption);
        }
    }

    /// Opens the ring, unless another thread does. Returns its head.
    #[cold]
    fn open(&self) -> Head {
        let mut head = self.ring.head.load(Acquire);
        while !head.is_open() {
            let opened = Head::opened_at(self.taken());
            match self.ring.head.exchange(head, opened) {
                Ok(()) => return opened,
                Err(now) => head = now,
            }
        }
        head
    }

    /// Reserves an open ring for the owner, until another thread recalls it. Returns whether it did.
    ///
    /// Not to be called before heavy fences are [ready](crate::asymmetric_fence::is_ready).
    #[cold]
    pub(crate) fn reserve(&self) -> bool {
        let head = self.ring.head.load(Acquire);
        if !head.is_open() || head.held() > 0 {
            return false;
        }
        // Release, like all stores of `taken`: see the ring.
        self.ring.owners.taken.store(head.next(), Release);
        self.times.update(|before| before.wrapping_add(1));
        self.ring.owners.interruption.forget();
        let is_reserved = self.ring.head.exchange(head, Head::reserved(self.times.get())).is_ok();
        // Pairs with the fence of a thread that finds it not reserved: see `fence_pushes`.
        fence(SeqCst);
        if is_reserved {
            self.reserved_at.set(head.next());
            self.earnings.grant();
        }
        is_reserved
    }

    pub(crate) fn is_reserved(&self) -> bool {
        self.ring.head.load(Relaxed).is_reserved()
    }

    /// Acts as a fence between the owner's pushes and what it reads next, with respect to all threads that issue a
    /// fence between what they write and a [recall](super::Stealer::recall), and then look into this ring: they see the
    /// pushes, or the owner sees what they have written.
    ///
    /// If the ring is not reserved, this is a real fence. If it is, the module of [recalls](crate::recall) says why
    /// none is needed. (If the ring is not always looked at, the code that [shows](crate::source::stealing) it makes
    /// the owner see what those that did not look have written.)
    #[inline(always)]
    pub(crate) fn fence_pushes(&self) {
        let side = &self.ring.owners.side;
        side.fence();
        let head = self.ring.head.load(Relaxed);
        if !head.is_reserved() {
            if !head.is_open() {
                // An owner that only puts in jobs sees the recall nowhere else.
                self.open();
            }
            fence(SeqCst);
        }
        side.fence();
    }

    /// How many jobs the owner has taken: valid if the ring is reserved, or was when it was recalled.
    #[inline(always)]
    fn taken(&self) -> u32 {
        // Relaxed: written by the owner only.
        self.ring.owners.taken.load(Relaxed)
    }

    /// How many jobs have not been taken.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        // Relaxed: the owner knows the tail; what thieves have taken meanwhile need not be seen.
        let head = self.ring.head.load(Relaxed);
        let next = if head.is_open() { head.next() } else { self.taken() };
        self.tail.get().wrapping_sub(next) as usize
    }
}

/// A free slot at the end of a ring.
pub(crate) struct Place<'a, T>(&'a Owner<T>);

impl<T> Place<'_, T> {
    /// Makes what `write` writes there the last job.
    ///
    /// # Safety
    ///
    /// `write` must initialise the slot, and not use the ring.
    #[inline(always)]
    pub(crate) unsafe fn fill(self, write: impl FnOnce(*mut T)) {
        let Place(owner) = self;
        let (tail, slots) = (owner.tail.get(), owner.slots.get());
        // Costs nothing: asking for the place has just compared these two.
        assert_ne!(tail, owner.limit.get(), "a place is filled before the next is asked for");
        // SAFETY: the slots are those of the owner's ring, which lives as long as the owner, borrowed here; and it has
        // some, because without any the limit is the tail.
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
        debug_assert!(!job.allocates(), "the allocator may re-enter");
        // SAFETY: this writes a job, and does nothing else.
        unsafe { self.fill(|slot| job.write_job(slot)) };
    }
}

/// In place, without moving the job as a whole.
impl Owner<Job> {
    /// Takes the first job and runs it; a panic of the job passes through. Returns whether there was one.
    #[inline(always)]
    pub(crate) fn run_first(&self) -> bool {
        let Some((slots, count)) = self.take_first() else { return false };
        // SAFETY: these are the slots in which the job is, of a ring that lives as long as the owner, borrowed here.
        let slot = unsafe { slots.slot(count) };
        // SAFETY: it was taken for this run, and the slot is not written before the owner's next push. The job is moved
        // out before its code, which may push to this ring, begins.
        unsafe { Job::run_at(slot) };
        true
    }
}
