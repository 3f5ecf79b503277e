//! What both ends of a lane have: a count, and a place in the blocks.

use crate::{
    job::{IntoJob, record::Record},
    source::queue::{
        block::{Block, STRETCH},
        privilege::{LEAST_FOR_SUBMITTERS, Privilege},
    },
    sync::{
        atomic::{AtomicUsize, Ordering::Release},
        cell::{UnsafeCell, Watch},
    },
};
use std::ptr;

#[repr(C)]
pub(super) struct End {
    /// How many jobs have passed this end. Written under the lock, read by all.
    pub(super) passed: AtomicUsize,
    pub(super) cursor: UnsafeCell<Cursor>,
}

/// Where the next record is written or read. The block is null before the first.
#[repr(C)]
pub(super) struct Cursor {
    pub(super) block: *mut Block,
    pub(super) at: usize,
    /// Where the stretch that is written ends.
    pub(super) end: usize,
    /// The value of `passed`, so that this end never has to load it.
    pub(super) passed: usize,
    /// What had passed the back when the front last looked.
    pub(super) seen: usize,
    /// For the back: for which thread it was last asked whether it should have the back to itself, and the state of
    /// that.
    pub(super) giver: u32,
    pub(super) privilege: Privilege,
}

impl End {
    pub(super) fn new() -> Self {
        End {
            passed: AtomicUsize::new(0),
            cursor: UnsafeCell::new(Cursor {
                block: ptr::null_mut(),
                at: 0,
                end: 0,
                passed: 0,
                seen: 0,
                giver: 0,
                privilege: Privilege::new(LEAST_FOR_SUBMITTERS),
            }),
        }
    }

    /// Counts that `jobs` more jobs have passed. The cursor is that of this end.
    #[inline]
    pub(super) fn pass(&self, cursor: &mut Cursor, jobs: usize) {
        cursor.passed = cursor.passed.wrapping_add(jobs);
        self.passed.store(cursor.passed, Release);
    }
}

impl Cursor {
    pub(super) fn begin(&mut self, block: *mut Block) {
        (self.block, self.at, self.end) = (block, 0, STRETCH);
    }

    /// Whether a record of this many `words` can be written after the last one. One word must remain for the end mark.
    #[inline(always)]
    pub(super) fn has_room(&self, words: usize) -> bool {
        self.at + words < self.end
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
