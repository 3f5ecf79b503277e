//! The end of a lane where jobs are put in.

use super::{
    Lane,
    cursor::{Cursor, End},
};
use crate::{
    job::IntoJob,
    source::queue::{
        biased_lock::{BiasedLock, Entry},
        block::Block,
        presence::Presence,
        privilege,
    },
    sync::atomic::Ordering::{Acquire, Relaxed},
};
use std::{
    marker::PhantomData,
    mem::{self, offset_of},
    ptr,
};

/// Locking it, and putting in a job, uses the first cache line.
#[repr(C)]
pub(super) struct BackEnd {
    pub(super) lock: BiasedLock,
    pub(super) end: End,
}

// `seen` is the first field that neither of these touches.
#[cfg(not(executors_loom))]
const _: () = assert!(offset_of!(BackEnd, end) + offset_of!(End, cursor) + offset_of!(Cursor, seen) <= 64);

impl BackEnd {
    pub(super) fn new() -> Self {
        BackEnd { lock: BiasedLock::new(), end: End::new() }
    }
}

/// The back of a lane, which is the holder's for as long as this lives.
#[must_use = "no other thread can put jobs in while this lives"]
pub(in crate::source::queue) struct Back<'a> {
    lane: &'a Lane,
    /// How this thread has entered.
    entry: Entry<'a>,
    stays_here: PhantomData<*const ()>,
}

impl<'a> Back<'a> {
    #[inline(always)]
    pub(super) fn new(lane: &'a Lane, entry: Option<Entry<'a>>) -> Option<Self> {
        Some(Back { lane, entry: entry?, stays_here: PhantomData })
    }

    #[inline(always)]
    pub(in crate::source::queue) fn push(&mut self, job: impl IntoJob) {
        // SAFETY: this thread holds the lock of the back.
        unsafe { self.lane.push_locked(job) };
    }

    /// The same, if the block has room; gives the job back otherwise.
    #[inline(always)]
    pub(in crate::source::queue) fn push_at_once<J: IntoJob>(&mut self, job: J) -> Result<(), J> {
        let is_room = self.with_cursor(|cursor| cursor.has_room(job.record_words()));
        if !is_room {
            return Err(job);
        }
        self.push(job);
        Ok(())
    }

    #[inline(always)]
    pub(in crate::source::queue) fn is_privileged(&self) -> bool {
        matches!(self.entry, Entry::Privileged(_))
    }

    /// Whether to ask, after the next push, [whether a privilege is due](Self::check_privilege_due): only now and then,
    /// because it takes a thousand jobs.
    #[inline(always)]
    pub(in crate::source::queue) fn is_to_be_asked(&self) -> bool {
        // SAFETY: the lock makes the cursor this thread's, and it is not changed meanwhile.
        let passed = self.lane.back.end.cursor.with(|cursor| unsafe { (*cursor).passed });
        passed.wrapping_add(1).is_multiple_of(privilege::INTERVAL)
    }

    /// Whether `thread`, which has locked the back to put in a job, should have it to itself: if, for long enough, it
    /// was the one that did so each time that this was asked.
    pub(in crate::source::queue) fn check_privilege_due(&mut self, thread: u32) -> bool {
        debug_assert!(!self.is_privileged(), "it would not have locked it");
        let was_interrupted = self.lane.back.lock.take_interruption();
        self.with_cursor(|cursor| {
            if mem::replace(&mut cursor.giver, thread) != thread {
                cursor.privilege.begin_anew(cursor.passed);
            }
            if cursor.privilege.is_held() {
                let privileged = cursor.privilege.count(cursor.passed);
                cursor.privilege.lose(cursor.passed, privileged, was_interrupted);
            }
            cursor.privilege.check_due(cursor.passed)
        })
    }

    /// Whether the next job goes into a large block. That goes back to the system when more jobs have come than it has
    /// room for, or a few hundred where few wait.
    pub(in crate::source::queue) fn is_in_large_block(&mut self) -> bool {
        // SAFETY: the block is alive until a reader has passed the end mark, which is yet to be written.
        self.with_cursor(|cursor| !cursor.block.is_null() && unsafe { Block::is_large(cursor.block) })
    }

    /// The privilege is due, but not to be given.
    #[cold]
    pub(in crate::source::queue) fn refuse_privilege(&mut self) {
        self.with_cursor(|cursor| cursor.privilege.refuse(cursor.passed));
    }

    /// Leaves the back, which is locked, and reserves it for the calling thread.
    #[cold]
    pub(in crate::source::queue) fn reserve(mut self) {
        debug_assert!(!self.is_privileged());
        let Some(thread) = Presence::make() else { return };
        self.with_cursor(|cursor| cursor.privilege.grant(cursor.passed));
        self.lane.back.lock.leave_reserved(thread);
        mem::forget(self);
    }

    /// Leaves the back, with a fence after what was put in: see [`BiasedLock::leave_fenced`].
    #[inline(always)]
    pub(in crate::source::queue) fn leave_fenced(self) {
        self.lane.back.lock.leave_fenced(&self.entry);
        mem::forget(self);
    }

    #[inline(always)]
    fn with_cursor<R>(&mut self, f: impl FnOnce(&mut Cursor) -> R) -> R {
        // SAFETY: the lock makes the cursor this thread's.
        self.lane.back.end.cursor.with_mut(|cursor| f(unsafe { &mut *cursor }))
    }
}

impl Drop for Back<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.lane.back.lock.leave(&self.entry);
    }
}

impl Lane {
    /// # Safety
    ///
    /// The caller holds the lock of the back.
    #[inline(always)]
    unsafe fn push_locked(&self, job: impl IntoJob) {
        self.back.end.cursor.with_mut(|cursor| {
            // SAFETY: the lock makes the cursor this thread's.
            let cursor = unsafe { &mut *cursor };
            if !cursor.has_room(job.record_words()) {
                self.go_on(cursor);
            }
            // SAFETY: there is room, and no reader gets here before the count says so.
            unsafe { cursor.write(job) };
            self.back.end.pass(cursor, 1);
        });
    }

    /// Moves the cursor to the next stretch of its block, or to another block.
    #[cold]
    fn go_on(&self, cursor: &mut Cursor) {
        if cursor.block.is_null() {
            let first = Block::allocate(0);
            self.front.first.store(first, Relaxed); // published by the count
            return cursor.begin(first);
        }
        // A model has no room for many jobs.
        let waiting = if cfg!(executors_loom) { 0 } else { cursor.passed.wrapping_sub(self.taken()) };
        // SAFETY: the block is alive until a reader has passed the end mark.
        if let Some(end) = unsafe { Block::next_stretch(cursor.block, cursor.end, waiting) } {
            cursor.end = end;
            return;
        }
        let mut next = self.front.spare.swap(ptr::null_mut(), Acquire);
        if next.is_null() {
            next = Block::allocate(waiting);
        }
        // SAFETY: as above, and the mark is not visible before the next job is; a word was kept for it.
        unsafe { Block::close(cursor.block, cursor.at, next) };
        cursor.begin(next);
    }
}
