//! What both ends of a lane have: a count, and a place in the blocks.

use crate::{
    job::{IntoJob, record::Record},
    source::queue::block::Block,
    sync::{
        atomic::{AtomicUsize, Ordering::Release},
        cell::{UnsafeCell, Watch},
    },
};
use std::ptr;

#[repr(C)]
pub(super) struct End<T> {
    /// How many jobs have passed this end. Written under the lock, read by all.
    pub(super) passed: AtomicUsize,
    /// What the holder of the lock has to itself: a [`Cursor`], and what else this end needs.
    pub(super) own: UnsafeCell<T>,
}

impl<T> End<T> {
    pub(super) fn new(own: T) -> Self {
        End { passed: AtomicUsize::new(0), own: UnsafeCell::new(own) }
    }

    /// Counts that `jobs` more jobs have passed. The cursor is that of this end.
    #[inline]
    pub(super) fn pass(&self, cursor: &mut Cursor, jobs: usize) {
        cursor.passed = cursor.passed.wrapping_add(jobs);
        self.passed.store(cursor.passed, Release);
    }
}

/// Where the next record is written or read. The block is null before the first.
#[repr(C)]
pub(super) struct Cursor {
    pub(super) block: *mut Block,
    pub(super) at: usize,
    /// The value of [`End::passed`], so that this end never has to load it.
    pub(super) passed: usize,
}

impl Cursor {
    pub(super) fn new() -> Self {
        Cursor { block: ptr::null_mut(), at: 0, passed: 0 }
    }

    pub(super) fn begin(&mut self, block: *mut Block) {
        (self.block, self.at) = (block, 0);
    }

    /// # Safety
    ///
    /// The block is alive, has room for the record, and no thread reads there.
    #[inline(always)]
    pub(super) unsafe fn write(&mut self, job: impl IntoJob) {
        let words = job.record_words();
        // SAFETY: as promised.
        unsafe {
            Block::watch(self.block, self.at, words, Watch::write);
            job.write_record(Block::word(self.block, self.at));
        }
        self.at += words;
    }

    /// Reads the next record, or `None` if there is the end mark.
    ///
    /// # Safety
    ///
    /// The block is alive, there is a record or the end mark, and no thread writes there; all this while `'a` lasts,
    /// for which the caller has to find a bound.
    #[inline]
    pub(super) unsafe fn read<'a>(&mut self) -> Option<Record<'a>> {
        // SAFETY: as promised. A record is asked for once, because the cursor moves past it.
        unsafe {
            Block::watch(self.block, self.at, 1, Watch::read);
            let record = Record::at(Block::word(self.block, self.at))?;
            Block::watch(self.block, self.at, record.record_words(), Watch::read);
            self.at += record.record_words();
            Some(record)
        }
    }
}
