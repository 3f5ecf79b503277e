//! The end of a lane where jobs are taken out.

use super::{
    Lane,
    cursor::{Cursor, End},
};
use crate::{
    job::{hand::Hand, record::Record},
    source::queue::block::Block,
    sync::atomic::{
        AtomicBool, AtomicPtr,
        Ordering::{Acquire, Relaxed, Release},
    },
};
use std::ptr;

pub(super) struct FrontEnd {
    locked: AtomicBool,
    pub(super) end: End<Reader>,
    /// The first block of all, once there is one.
    pub(super) first: AtomicPtr<Block>,
    /// A block that has been read and can be written again, or null. Here because the back comes for it only once in a
    /// block.
    pub(super) spare: AtomicPtr<Block>,
}

/// What the holder of the front has.
pub(super) struct Reader {
    cursor: Cursor,
    /// What had passed the back when this end last looked.
    seen: usize,
}

impl FrontEnd {
    pub(super) fn new() -> Self {
        FrontEnd {
            locked: AtomicBool::new(false),
            end: End::new(Reader { cursor: Cursor::new(), seen: 0 }),
            first: AtomicPtr::new(ptr::null_mut()),
            spare: AtomicPtr::new(ptr::null_mut()),
        }
    }
}

/// How many jobs a thread comes for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Portion {
    /// As long as there are known to be more, the producer's cache line is left alone.
    One,
    /// Worth a look at how many there are by now.
    Batch,
}

/// Counts what has been taken, after all of it has been passed on: jobs are seen here until they are seen where they
/// go. Also if the code to which they were passed has panicked.
struct Visit<'a> {
    end: &'a End<Reader>,
    cursor: &'a mut Cursor,
    taken: usize,
}

impl Drop for Visit<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.end.pass(self.cursor, self.taken);
    }
}

/// The front of a lane, which is the holder's for as long as this lives.
#[must_use = "no other thread can take jobs out while this lives"]
pub(in crate::source::queue) struct Front<'a>(&'a Lane);

impl<'a> Front<'a> {
    /// Locks it, unless it is held.
    #[inline]
    pub(super) fn enter(lane: &'a Lane) -> Option<Self> {
        let locked = &lane.front.locked;
        let is_free = !locked.load(Relaxed) && locked.compare_exchange(false, true, Acquire, Relaxed).is_ok();
        is_free.then(|| Front(lane))
    }

    /// Takes out the first job, if there is one.
    #[inline]
    pub(in crate::source::queue) fn take_first(self, hand: &mut Hand) {
        // SAFETY: this thread holds the lock of the front.
        unsafe { self.0.take_locked(Portion::One, |_| 1, |record| hand.put(record)) };
    }

    /// Takes out as many jobs as `most` says, given how many there are, and passes them to `sink` one by one. Returns
    /// how many.
    #[inline]
    pub(super) fn take(self, most: impl FnOnce(usize) -> usize, sink: impl FnMut(Record<'_>)) -> usize {
        // SAFETY: this thread holds the lock of the front.
        unsafe { self.0.take_locked(Portion::Batch, most, sink) }
    }
}

impl Drop for Front<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.front.locked.store(false, Release);
    }
}

impl Lane {
    /// See [`Front::take`].
    ///
    /// # Safety
    ///
    /// The caller holds the lock of the front.
    #[inline]
    pub(super) unsafe fn take_locked(
        &self,
        portion: Portion,
        most: impl FnOnce(usize) -> usize,
        mut sink: impl FnMut(Record<'_>),
    ) -> usize {
        self.front.end.own.with_mut(|reader| {
            // SAFETY: the lock makes the reader this thread's.
            let Reader { cursor, seen } = unsafe { &mut *reader };
            if portion == Portion::Batch || *seen == cursor.passed {
                *seen = self.back.end.passed.load(Acquire);
            }
            let there = seen.wrapping_sub(cursor.passed);
            let jobs = if there > 0 { most(there).min(there) } else { 0 };
            let mut visit = Visit { end: &self.front.end, cursor, taken: 0 };
            while visit.taken < jobs {
                // SAFETY: the count says that there is another record. The lock is held for longer than the cursor is
                // borrowed.
                let record = unsafe { self.read(visit.cursor) };
                visit.taken += 1;
                sink(record);
            }
            jobs
        })
    }

    /// Reads the next record. The next call may recycle its block, and needs the cursor back.
    ///
    /// # Safety
    ///
    /// There is another record. The cursor is that of the front, whose lock the caller holds while it is borrowed.
    #[inline]
    unsafe fn read<'a>(&self, cursor: &'a mut Cursor) -> Record<'a> {
        if cursor.block.is_null() {
            cursor.begin(self.front.first.load(Relaxed));
        }
        // SAFETY: there is a record or, after the last one of a block, the end mark and a block with a record. No
        // record of the block that is left is in use: the last one was borrowed from the cursor, which is here. That of
        // the new one is borrowed likewise, and the producer gets to no block that was not recycled.
        unsafe {
            cursor.read().unwrap_or_else(|| {
                self.leave_block(cursor);
                cursor.read().expect("no block is empty")
            })
        }
    }

    /// # Safety
    ///
    /// The cursor is that of the front, and has reached the end mark of its block. None of the block's records is in
    /// use.
    #[cold]
    unsafe fn leave_block(&self, cursor: &mut Cursor) {
        // SAFETY: as promised, and after an end mark there is another block.
        unsafe {
            let next = Block::next(cursor.block);
            self.recycle(cursor.block);
            cursor.begin(next);
        }
    }

    /// # Safety
    ///
    /// The block is not used any more.
    unsafe fn recycle(&self, block: *mut Block) {
        // SAFETY: alive until it is passed on or freed, and as promised.
        unsafe {
            if Block::is_large(block)
                || self.front.spare.compare_exchange(ptr::null_mut(), block, Release, Relaxed).is_err()
            {
                Block::free(block);
            }
        }
    }
}
