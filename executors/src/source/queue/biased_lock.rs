//! A lock that one thread may have for itself.
//!
//! Mostly one thread brings jobs to a lane for a long time. Then it *reserves* the lock of that end, and goes in and
//! out without a locked instruction, until somebody *recalls* it. (The biased locking of Dice, Moir and Scherer,
//! 2003, and its revocation by an [asymmetric fence](crate::barrier).)
//!
//! | the holder is | who may go in | who ends that |
//! |---|---|---|
//! | nobody | who exchanges it for *somebody* | the same |
//! | somebody | who did that | the same |
//! | reserved, for one thread | that thread | anybody, who recalls it |
//! | recalled, from one thread | nobody | that thread; or who has recalled it, if that thread is not in |
//!
//! - **O1** The thread says that it is in, at a place of its own ([`Presence`]). **O2** Light fence. **O3** It looks
//!   whether the lock is still reserved for it. If not, it says that it is out, and goes in as others do; if the lock
//!   is recalled, it may take it, as it knows that it is not in. (So may who has seen the recall before O1.)
//! - **R1** Somebody exchanges *reserved* for *recalled*. **R2** Heavy fence. **R3** It looks whether the thread is
//!   in. If not, it exchanges *recalled* for *nobody*. If so, it leaves it at that.
//!
//! *One at a time.* If O3 sees *reserved*, R2 comes after O2, and R3 sees what O1 has stored, or that the thread has
//! come out since (Release, and Acquire). If O3 sees something else, the thread is not in. Nobody else goes in before
//! R3. And R3 cannot end the recall of another time, for which it has issued no fence: the holder that it expects says
//! how often the lock has been reserved (by a count of 31 bits, which would have to come round while the thread is
//! suspended: two thousand million recalls, each with its fence). A thread that is suspended before O1, and goes on
//! when the lock is reserved for another, says what it says where only those look who have recalled a lock from it.
//!
//! *Nobody waits for a suspended thread*, as long as there is another lock to go to: who finds one reserved or recalled
//! takes it for one that somebody holds. A thread that ends may leave its lock reserved, until somebody recalls it.
//!
//! What is done inside shares that fence: see [`order`](BiasedLock::order).

#[cfg(all(test, executors_loom))]
mod model;

use super::presence::Presence;
use crate::{
    barrier::{LightSide, Recalled},
    sync::atomic::{
        AtomicPtr, AtomicU32, AtomicU64,
        Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
        fence,
    },
};
use std::ptr;

/// The order of the fields is that in which they are used most, here and in what it is a part of.
#[repr(C)]
pub(super) struct BiasedLock {
    /// A [`Holder`].
    holder: AtomicU64,
    /// Of the thread for which it was reserved last; null before the first. Relaxed, as the next: written by who has
    /// the lock, and published with the holder.
    presence: AtomicPtr<Presence>,
    /// How often it has been reserved.
    times: AtomicU32,
}

/// In the lower half the number of the thread for which the lock is reserved, with one bit more if it is recalled: so
/// that thread sees by one comparison that it still has it. In the upper half how often it has been reserved, or
/// *somebody*.
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

    fn recalled(self) -> Self {
        Holder(self.0 | u64::from(Self::RECALLED))
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

    fn is_recalled(self) -> bool {
        self.0 as u32 & Self::RECALLED != 0
    }

    fn is_reserved(self) -> bool {
        self.is_for_one() && !self.is_recalled()
    }

    /// Whether it is reserved, or was until somebody recalled it.
    fn is_for_one(self) -> bool {
        self.0 as u32 != 0
    }
}

/// How a thread is in.
#[must_use = "who is in has to come out"]
pub(super) enum Entry<'a> {
    Locked,
    /// The lock is reserved for it.
    Privileged(&'a Presence),
}

impl BiasedLock {
    pub(super) fn new() -> Self {
        BiasedLock {
            holder: AtomicU64::new(Holder::NOBODY.0),
            presence: AtomicPtr::new(ptr::null_mut()),
            times: AtomicU32::new(0),
        }
    }

    #[inline(always)]
    fn holder(&self) -> Holder {
        // Relaxed: who goes in makes an exchange, or has done so, or has the presence of one who did.
        Holder(self.holder.load(Relaxed))
    }

    #[inline(always)]
    fn exchange(&self, before: Holder, after: Holder) -> bool {
        self.holder.compare_exchange(before.0, after.0, AcqRel, Relaxed).is_ok()
    }

    /// Goes in, unless somebody else is, or has it reserved.
    #[inline(always)]
    pub(super) fn enter<'a>(&self) -> Option<Entry<'a>> {
        let is_free = self.holder() == Holder::NOBODY && self.exchange(Holder::NOBODY, Holder::SOMEBODY);
        is_free.then_some(Entry::Locked)
    }

    /// The same for the calling thread, which may have it reserved.
    #[inline(always)]
    pub(super) fn enter_as<'a>(&self, thread: Option<&'a Presence>) -> Option<Entry<'a>> {
        self.enter_at_once(thread).or_else(|| self.enter_recalled(thread?))
    }

    /// The same, but not if the lock has been recalled from the thread. Calls nothing: see [`Lanes::push_at_once`].
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
        // Whoever allocates memory inside may come here again.
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

    /// The thread takes the lock, if that was recalled from it, unless it is in; or goes in as others do.
    #[cold]
    fn enter_recalled<'a>(&self, thread: &Presence) -> Option<Entry<'a>> {
        if thread.knows_it_is_in() {
            return None;
        }
        let holder = self.holder();
        let is_taken = holder.is_recalled_from(thread) && self.exchange(holder, Holder::SOMEBODY);
        if is_taken { Some(Entry::Locked) } else { self.enter() }
    }

    /// Leaves, for a thread that has come in so.
    #[inline(always)]
    pub(super) fn leave(&self, entry: &Entry<'_>) {
        match entry {
            Entry::Locked => self.holder.store(Holder::NOBODY.0, Release),
            Entry::Privileged(thread) => thread.is_in.store(false, Release),
        }
    }

    /// [Leaves](Self::leave), and [orders](Self::order) what was done inside.
    #[inline(always)]
    pub(super) fn leave_in_order(&self, entry: &Entry<'_>) {
        self.leave(entry);
        match entry {
            // As for a thread that has reserved nothing.
            Entry::Locked => self.order(None),
            Entry::Privileged(thread) => self.order_of(thread),
        }
    }

    /// Reserves the lock for the calling `thread`, which has it locked, and leaves. Not before that is
    /// [ready](crate::barrier::is_ready).
    #[cold]
    pub(super) fn leave_reserved(&self, thread: &'static Presence) {
        let times = self.times.load(Relaxed).wrapping_add(1);
        self.times.store(times, Relaxed);
        self.presence.store(ptr::from_ref(thread).cast_mut(), Relaxed);
        self.holder.store(Holder::reserved(thread, times).0, Release);
        // Pairs with the fence of who finds that it is not: see `order`.
        fence(SeqCst);
    }

    /// What a fence between what the calling `thread` has done inside and what it reads next would be for all who issue
    /// a fence between what they write and a [recall](Self::recall), and then look at what is done here: they see that,
    /// or it sees what they have written. Who recalls has to recall all locks that threads may have reserved of what it
    /// looks at: so it is all one whether the thread has done it in this lock or in another.
    ///
    /// If it has not reserved the lock, or somebody has recalled it, it is a fence indeed. If it has, as it sees here:
    /// who has not issued its heavy fence yet will see what was done; who has issued it before this would have the
    /// thread see the recall here, and so would who found that it had been ended; and who found that the lock was not
    /// reserved yet did so before the fence in [`leave_reserved`](Self::leave_reserved), behind which the thread sees
    /// what that one has written.
    #[inline(always)]
    pub(super) fn order(&self, thread: Option<&Presence>) {
        match thread {
            None => fence(SeqCst),
            Some(thread) => self.order_of(thread),
        }
    }

    #[inline(always)]
    fn order_of(&self, thread: &Presence) {
        thread.side.fence();
        if !self.holder().is_for(thread) {
            fence(SeqCst);
        }
        thread.side.fence();
    }

    /// Whether it is reserved, or recalled. If it is neither, who asks sees what was done inside while it was.
    pub(super) fn is_reserved(&self) -> bool {
        Holder(self.holder.load(Acquire)).is_for_one()
    }

    /// R1, if the lock is reserved. What comes of it is to be [ended](crate::barrier::end_recalls), also if somebody
    /// else has recalled it: the fence of that one may be yet to come.
    pub(super) fn recall(&self) -> Option<RecalledLock<'_>> {
        let mut holder = Holder(self.holder.load(Acquire));
        while holder.is_reserved() {
            match self.holder.compare_exchange(holder.0, holder.recalled().0, AcqRel, Acquire) {
                Ok(_) => holder = holder.recalled(),
                Err(now) => holder = Holder(now),
            }
        }
        // SAFETY: if the holder says *recalled*, which was loaded with Acquire, or by an exchange, the lock was
        // reserved for a thread, whose presence was stored before that. What may have been stored since is one, too;
        // and none is ever freed.
        let presence = || unsafe { &*self.presence.load(Relaxed) };
        holder.is_recalled().then(|| RecalledLock { lock: self, holder, presence: presence() })
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

    fn end(&self) {
        if !self.presence.is_in.load(Acquire) {
            // If this fails, somebody else has ended it. (Also if that was before the presence was looked up.)
            self.lock.exchange(self.holder, Holder::NOBODY);
        }
    }
}
