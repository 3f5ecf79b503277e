//! A lock that one thread may have to itself.
//!
//! Mostly one thread puts jobs into a lane for a long time. Then it *reserves* the lock of that end, and enters and
//! leaves without a locked instruction, until another thread *recalls* it. (The biased locking of Dice, Moir and
//! Scherer, 2003, and its revocation by an [asymmetric fence](crate::asymmetric_fence).)
//!
//! | the holder is | who may enter | who ends that state |
//! |---|---|---|
//! | nobody | the thread that exchanges it for *somebody* | the same |
//! | somebody | the thread that did that | the same |
//! | reserved, for one thread | that thread | any thread, by recalling it |
//! | recalled, from one thread | no thread | that thread; or a recaller, if that thread is not inside |
//!
//! - **O1** The thread records that it is inside, at a place of its own ([`Presence`]). **O2** Light fence. **O3** It
//!   checks whether the lock is still reserved for it. If not, it records that it is outside, and enters as others do;
//!   if the lock is recalled from it, it may take it, because it knows that it is not inside. (It may do so, too, if it
//!   saw the recall before O1.)
//! - **R1** Another thread exchanges *reserved* for *recalled*. **R2** Heavy fence. **R3** It checks whether the thread
//!   is inside. If not, it exchanges *recalled* for *nobody*. If so, it does no more. (A thread that is inside another
//!   lock counts as inside, too: then the lock stays recalled until that thread, or the next recaller, ends this.)
//! - After R1 a recaller [waits a moment](crate::recall) for the thread to take the lock, and leaves out R2 and R3 if
//!   it does: a thread that has jobs to put in does so soon.
//!
//! *One at a time.* If O3 sees *reserved*, and R2 is issued, that comes after O2, and R3 sees what O1 has stored, or
//! that the thread has left since (Release, and Acquire). If O3 sees something else, the thread is not inside. No other
//! thread enters before R3, or before the thread itself has ended the recall. And R3 cannot end another recall, for
//! which it has issued no fence: the holder that it expects says how often the lock has been reserved (by a count of 31
//! bits, which would have to wrap around while the thread is suspended: two thousand million recalls). If a thread is
//! suspended before O1, and goes on when the lock is reserved for another, what it records is read only by threads that
//! have recalled a lock from it.
//!
//! *No thread waits for a suspended one*, as long as there is another lock to go to: a thread that finds a lock
//! reserved or recalled treats it as held. A thread that ends may leave its lock reserved, until another thread recalls
//! it.
//!
//! What is done inside is ordered by that fence, too: see [`fence_after`](BiasedLock::fence_after).

#[cfg(all(test, executors_loom))]
mod model;

use super::{
    presence::Presence,
    reservation::{Reservable, Reservation},
};
use crate::{
    asymmetric_fence::LightSide,
    recall::{Interruption, Recalled},
    sync::atomic::{
        AtomicPtr, AtomicU32,
        Ordering::{Acquire, Relaxed, Release, SeqCst},
        fence,
    },
};
use std::ptr;

/// The fields are ordered by how much they are used, here and in the structs that contain this one.
#[repr(C)]
pub(super) struct BiasedLock {
    holder: Reservable<Holder>,
    /// The presence of the thread for which the lock was reserved last; null before the first. Relaxed, like the next:
    /// written by the thread that has the lock, and published with the holder.
    presence: AtomicPtr<Presence>,
    /// How often it has been reserved.
    times: AtomicU32,
    interruption: Interruption,
}

/// The lower half has the number of the thread for which the lock is reserved, and one more bit if it is recalled: so
/// that thread sees by one comparison that it still has the lock. The upper half says how often the lock has been
/// reserved, or *somebody*.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Holder(u64);

impl Holder {
    const NOBODY: Self = Holder(0);
    const SOMEBODY: Self = Holder(1 << 63);
    const RECALLED: u32 = 1 << 31;

    fn reserved(thread: &Presence, times: u32) -> Self {
        debug_assert!(thread.number < Self::RECALLED);
        Holder(u64::from(times) << 32 & !Self::SOMEBODY.0 | u64::from(thread.number))
    }

    /// Whether the lock is reserved for `thread`, and not recalled.
    #[inline(always)]
    fn is_for(self, thread: &Presence) -> bool {
        self.0 as u32 == thread.number
    }

    #[inline(always)]
    fn is_recalled_from(self, thread: &Presence) -> bool {
        self.0 as u32 == thread.number | Self::RECALLED
    }
}

impl Reservation for Holder {
    #[inline(always)]
    fn of(word: u64) -> Self {
        Holder(word)
    }

    #[inline(always)]
    fn word(self) -> u64 {
        self.0
    }

    /// Any thread may enter when none is inside.
    fn is_open(self) -> bool {
        self.0 as u32 == 0
    }

    fn is_reserved(self) -> bool {
        !self.is_open() && self.0 as u32 & Self::RECALLED == 0
    }

    fn recalled(self) -> Self {
        Holder(self.0 | u64::from(Self::RECALLED))
    }
}

/// How a thread has entered.
#[must_use = "a lock that was entered has to be left"]
pub(super) enum Entry<'a> {
    Locked,
    /// The lock is reserved for it.
    Privileged(&'a Presence),
}

impl BiasedLock {
    pub(super) fn new() -> Self {
        BiasedLock {
            holder: Reservable::new(Holder::NOBODY),
            presence: AtomicPtr::new(ptr::null_mut()),
            times: AtomicU32::new(0),
            interruption: Interruption::default(),
        }
    }

    #[inline(always)]
    fn holder(&self) -> Holder {
        // Relaxed: a thread that enters makes an exchange, or has made one, or has the presence of a thread that did.
        self.holder.load(Relaxed)
    }

    /// Acquire pairs with the Release of the thread that has left, or has reserved the lock, and of a recaller, which
    /// has seen that the owner was outside: what was done inside is seen by the next thread that is. Release: a
    /// recaller passes on what it has seen of the owner.
    #[inline(always)]
    fn exchange(&self, before: Holder, after: Holder) -> bool {
        self.holder.exchange(before, after).is_ok()
    }

    /// Enters, unless another thread is inside, or has the lock reserved.
    #[inline(always)]
    pub(super) fn enter<'a>(&self) -> Option<Entry<'a>> {
        let is_free = self.holder() == Holder::NOBODY && self.exchange(Holder::NOBODY, Holder::SOMEBODY);
        is_free.then_some(Entry::Locked)
    }

    /// The same for the calling thread, which may have the lock reserved.
    #[inline(always)]
    pub(super) fn enter_as<'a>(&self, thread: Option<&'a Presence>) -> Option<Entry<'a>> {
        self.enter_at_once(thread).or_else(|| self.enter_recalled(thread?))
    }

    /// The same, but fails if the lock has been recalled from the thread. Calls no function: see
    /// [`Lanes::push_at_once`].
    ///
    /// [`Lanes::push_at_once`]: super::lanes::Lanes::push_at_once
    #[inline(always)]
    pub(super) fn enter_at_once<'a>(&self, thread: Option<&'a Presence>) -> Option<Entry<'a>> {
        let holder = self.holder();
        match thread {
            Some(thread) if holder.is_for(thread) => self.enter_reserved(thread, holder),
            _ => self.enter(),
        }
    }

    #[inline(always)]
    fn enter_reserved<'a>(&self, thread: &'a Presence, holder: Holder) -> Option<Entry<'a>> {
        // An allocator that is called inside may re-enter.
        if thread.knows_it_is_in() {
            return None;
        }
        thread.is_in.store(true, Relaxed);
        // O2, which pairs with R2.
        thread.side.fence();
        if self.holder() == holder {
            return Some(Entry::Privileged(thread));
        }
        thread.is_in.store(false, Release);
        None
    }

    /// Takes the lock, if it was recalled from the thread, or enters as others do; fails if the thread is inside.
    #[cold]
    fn enter_recalled<'a>(&self, thread: &Presence) -> Option<Entry<'a>> {
        if thread.knows_it_is_in() {
            return None;
        }
        let holder = self.holder();
        let is_taken = holder.is_recalled_from(thread) && self.exchange(holder, Holder::SOMEBODY);
        if is_taken { Some(Entry::Locked) } else { self.enter() }
    }

    /// Leaves, for a thread that has entered in that way.
    #[inline(always)]
    pub(super) fn leave(&self, entry: &Entry<'_>) {
        match entry {
            // For the next exchange.
            Entry::Locked => self.holder.store(Holder::NOBODY, Release),
            // For R3.
            Entry::Privileged(thread) => thread.is_in.store(false, Release),
        }
    }

    /// [Leaves](Self::leave), with a [fence](Self::fence_after) after what was done inside.
    #[inline(always)]
    pub(super) fn leave_fenced(&self, entry: &Entry<'_>) {
        self.leave(entry);
        match entry {
            // As for a thread that has reserved nothing.
            Entry::Locked => self.fence_after(None),
            Entry::Privileged(thread) => self.fence_of(thread),
        }
    }

    /// Reserves the lock for the calling `thread`, which has it locked, and leaves. Not to be called before heavy
    /// fences are [ready](crate::asymmetric_fence::is_ready).
    #[cold]
    pub(super) fn leave_reserved(&self, thread: &'static Presence) {
        let times = self.times.load(Relaxed).wrapping_add(1);
        self.times.store(times, Relaxed);
        self.interruption.forget();
        self.presence.store(ptr::from_ref(thread).cast_mut(), Relaxed);
        self.holder.store(Holder::reserved(thread, times), Release);
        // Pairs with the fence of a thread that finds it not reserved: see `fence_after`.
        fence(SeqCst);
    }

    /// Whether a heavy fence was issued because the thread for which the lock was reserved was late to take it.
    pub(super) fn take_interruption(&self) -> bool {
        self.interruption.take()
    }

    /// Acts as a fence between what the calling `thread` has done inside and what it reads next, with respect to all
    /// threads that issue a fence between what they write and a [recall](Self::recall), and then look at what is done
    /// here: they see that, or it sees what they have written. A thread that recalls has to recall all locks that may
    /// be reserved of what it looks at: so it makes no difference whether the calling thread has done it in this lock
    /// or in another.
    ///
    /// If the thread has not reserved the lock, or the lock was recalled, this is a real fence. If it has, the module
    /// of [recalls](crate::recall) says why none is needed.
    #[inline(always)]
    pub(super) fn fence_after(&self, thread: Option<&Presence>) {
        match thread {
            None => fence(SeqCst),
            Some(thread) => self.fence_of(thread),
        }
    }

    #[inline(always)]
    fn fence_of(&self, thread: &Presence) {
        thread.side.fence();
        if !self.holder().is_for(thread) {
            fence(SeqCst);
        }
        thread.side.fence();
    }

    /// Whether the lock is neither reserved nor recalled. If so, the caller sees what was done inside while it was:
    /// Acquire pairs with the exchange of the thread that has ended a recall.
    pub(super) fn is_open(&self) -> bool {
        self.holder.load(Acquire).is_open()
    }

    /// [R1](Reservable::recall). The result is to be [ended](crate::recall::end).
    pub(super) fn recall(&self) -> Option<RecalledLock<'_>> {
        let holder = self.holder.recall()?;
        // SAFETY: the holder, which was loaded with Acquire, or by an exchange, says *recalled*: so the lock was
        // reserved for a thread, whose presence was stored before that. What may have been stored since is a presence,
        // too; and none is ever freed.
        let presence = unsafe { &*self.presence.load(Relaxed) };
        Some(RecalledLock { lock: self, holder, presence })
    }
}

pub(crate) struct RecalledLock<'a> {
    lock: &'a BiasedLock,
    holder: Holder,
    presence: &'static Presence,
}

impl Recalled for RecalledLock<'_> {
    fn side(&self) -> &LightSide {
        &self.presence.side
    }

    fn interruption(&self) -> &Interruption {
        &self.lock.interruption
    }

    fn is_over(&self) -> bool {
        self.lock.holder.load(Acquire) != self.holder
    }

    fn end(&self) {
        if !self.presence.is_in.load(Acquire) {
            // If this fails, another thread has ended it. (Also if it did so before the presence was looked up.)
            self.lock.exchange(self.holder, Holder::NOBODY);
        }
    }
}
