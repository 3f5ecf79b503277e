//! The end of a lane where jobs are put in.

use super::{
    Lane,
    cursor::{Cursor, End},
};
use crate::{
    job::IntoJob,
    source::queue::{
        biased_lock::{BiasedLock, Entry},
        block::{Block, STRETCH},
        presence::Presence,
        privilege::{self, LEAST_FOR_SUBMITTERS, Privilege},
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
    pub(super) end: End<Writer>,
}

/// What the holder of the back has.
#[repr(C)]
pub(super) struct Writer {
    pub(super) cursor: Cursor,
    /// Where the stretch that is written ends.
    end: usize,
    /// For which thread it was last asked whether it should have the back to itself, and the state of that.
    giver: u32,
    privilege: Privilege,
}

// Locking it, and putting in a job, touch no field from `giver` on. (In a model all fields are larger.)
const _: () = assert!(
    cfg!(executors_loom) || offset_of!(BackEnd, end) + offset_of!(End<Writer>, own) + offset_of!(Writer, giver) <= 64
);

impl BackEnd {
    pub(super) fn new() -> Self {
        let privilege = Privilege::new(LEAST_FOR_SUBMITTERS);
        let writer = Writer { cursor: Cursor::new(), end: 0, giver: 0, privilege };
        BackEnd { lock: BiasedLock::new(), end: End::new(writer) }
    }
}

impl Writer {
    fn begin(&mut self, block: *mut Block) {
        self.cursor.begin(block);
        self.end = STRETCH;
    }

    /// Whether a record of this many `words` can be written after the last one. One word must remain for the end mark.
    #[inline(always)]
    fn has_room(&self, words: usize) -> bool {
        self.cursor.at + words < self.end
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
        let is_room = self.with_writer(|writer| writer.has_room(job.record_words()));
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
        // SAFETY: the lock makes the writer this thread's, and it is not changed meanwhile.
        let passed = self.lane.back.end.own.with(|writer| unsafe { (*writer).cursor.passed });
        passed.wrapping_add(1).is_multiple_of(privilege::INTERVAL)
    }

    /// Whether `thread`, which has locked the back to put in a job, should have it to itself: if, for long enough, it
    /// was the one that did so each time that this was asked.
    pub(in crate::source::queue) fn check_privilege_due(&mut self, thread: u32) -> bool {
        debug_assert!(!self.is_privileged(), "it would not have locked it");
        let was_interrupted = self.lane.back.lock.take_interruption();
        self.with_writer(|Writer { cursor: Cursor { passed, .. }, giver, privilege, .. }| {
            if mem::replace(giver, thread) != thread {
                privilege.begin_anew(*passed);
            }
            if privilege.is_held() {
                let privileged = privilege.count(*passed);
                privilege.lose(*passed, privileged, was_interrupted);
            }
            privilege.check_due(*passed)
        })
    }

    /// Whether the next job goes into a large block. That goes back to the system when more jobs have come than it has
    /// room for, or a few hundred where few wait.
    pub(in crate::source::queue) fn is_in_large_block(&mut self) -> bool {
        // SAFETY: the block is alive until a reader has passed the end mark, which is yet to be written.
        self.with_writer(|Writer { cursor, .. }| !cursor.block.is_null() && unsafe { Block::is_large(cursor.block) })
    }

    /// The privilege is due, but not to be given.
    #[cold]
    pub(in crate::source::queue) fn refuse_privilege(&mut self) {
        self.with_writer(|writer| writer.privilege.refuse(writer.cursor.passed));
    }

    /// Leaves the back, which is locked, and reserves it for the calling thread.
    #[cold]
    pub(in crate::source::queue) fn reserve(mut self) {
        debug_assert!(!self.is_privileged());
        let Some(thread) = Presence::make() else { return };
        self.with_writer(|writer| writer.privilege.grant(writer.cursor.passed));
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
    fn with_writer<R>(&mut self, f: impl FnOnce(&mut Writer) -> R) -> R {
        // SAFETY: the lock makes the writer this thread's.
        self.lane.back.end.own.with_mut(|writer| f(unsafe { &mut *writer }))
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
        self.back.end.own.with_mut(|writer| {
            // SAFETY: the lock makes the writer this thread's.
            let writer = unsafe { &mut *writer };
            if !writer.has_room(job.record_words()) {
                self.go_on(writer);
            }
            // SAFETY: there is room, and no reader gets here before the count says so.
            unsafe { writer.cursor.write(job) };
            self.back.end.pass(&mut writer.cursor, 1);
        });
    }

    /// Moves the writer to the next stretch of its block, or to another block.
    #[cold]
    fn go_on(&self, writer: &mut Writer) {
        let Cursor { block, at, passed } = writer.cursor;
        if block.is_null() {
            let first = Block::allocate(0);
            self.front.first.store(first, Relaxed); // published by the count
            return writer.begin(first);
        }
        // A model has no room for many jobs.
        let waiting = if cfg!(executors_loom) { 0 } else { passed.wrapping_sub(self.taken()) };
        // SAFETY: the block is alive until a reader has passed the end mark.
        if let Some(end) = unsafe { Block::next_stretch(block, writer.end, waiting) } {
            writer.end = end;
            return;
        }
        let mut next = self.front.spare.swap(ptr::null_mut(), Acquire);
        if next.is_null() {
            next = Block::allocate(waiting);
        }
        // SAFETY: as above, and the mark is not visible before the next job is; a word was kept for it.
        unsafe { Block::close(block, at, next) };
        writer.begin(next);
    }
}
