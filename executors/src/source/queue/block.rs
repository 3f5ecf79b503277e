//! The memory of a lane, block by block.

use super::huge_page;
use crate::{
    job::{Job, Word, record::RECORD_WORDS},
    sync::cell::Watch,
};
use std::{
    mem::offset_of,
    ptr::{self, NonNull},
};

/// Words that are written before the writer looks where to go on. A small block has no more: eight kilobytes, so that a
/// steady stream of jobs stays in the nearest cache. A large one is written as if it were many small ones.
pub(super) const STRETCH: usize = if cfg!(executors_loom) { 2 * RECORD_WORDS } else { 1024 };

/// Words in a large block, whose head takes up two more.
const LARGE: usize = huge_page::BYTES / size_of::<Word>() - 2;

/// With this many jobs in a lane its next block is a large one, unless one that has been read is at hand.
const JOBS_FOR_LARGE: usize = 1 << 16;

/// With fewer jobs its next one is small again, even if the large one has room left.
const JOBS_FOR_SMALL: usize = JOBS_FOR_LARGE / 8;

// So a large block adds no more than 32 bytes for each job that waits.
const _: () = assert!(huge_page::BYTES <= 32 * JOBS_FOR_LARGE);

/// The head of a block. Its words follow it.
#[repr(C)]
pub(super) struct Block {
    /// Set before the end mark after the last record is visible.
    next: *mut Block,
    words: usize,
    watch: [Watch; if cfg!(executors_loom) { STRETCH } else { 0 }],
}

#[repr(C)]
struct WithWords<const WORDS: usize> {
    head: Block,
    words: [Word; WORDS],
}

// Models have no large blocks. Elsewhere a record and the end mark fit into the last stretch, too.
const _: () = assert!(
    cfg!(executors_loom) || size_of::<WithWords<LARGE>>() == huge_page::BYTES && LARGE % STRETCH > RECORD_WORDS
);

// `Block::word` finds the words there, however many there are.
const _: () = assert!(offset_of!(WithWords<STRETCH>, words) == size_of::<Block>());
const _: () = assert!(offset_of!(WithWords<LARGE>, words) == size_of::<Block>());

impl Block {
    /// A new block for a lane in which this many jobs wait. The words are left as they are: clearing them would take
    /// longer than a first job does.
    pub(super) fn allocate(waiting: usize) -> *mut Block {
        let huge_page = if waiting >= JOBS_FOR_LARGE { huge_page::map() } else { None };
        let (block, words) = match huge_page {
            Some(page) => (page.as_ptr().cast::<Block>(), LARGE),
            None => (Box::into_raw(Box::<WithWords<STRETCH>>::new_uninit()).cast(), STRETCH),
        };
        let head = Block { next: ptr::null_mut(), words, watch: std::array::from_fn(|_| Default::default()) };
        // SAFETY: either memory is large enough for a head, aligned, and known to no other thread yet. The words may
        // hold anything.
        unsafe { block.write(head) };
        block
    }

    /// # Safety
    ///
    /// The block is from [`allocate`](Self::allocate), and is not used any more.
    pub(super) unsafe fn free(block: *mut Block) {
        // SAFETY: as promised; its number of words tells where it came from.
        unsafe {
            if Block::is_large(block) {
                huge_page::unmap(NonNull::new_unchecked(block.cast()));
            } else {
                drop(Box::from_raw(block.cast::<WithWords<STRETCH>>()));
            }
        }
    }

    /// Whether it is a large block, which is too much memory to be kept until a block is needed.
    ///
    /// # Safety
    ///
    /// The block is alive.
    #[inline]
    pub(super) unsafe fn is_large(block: *mut Block) -> bool {
        // SAFETY: as promised.
        unsafe { (*block).words != STRETCH }
    }

    /// The end of the stretch after the one that ends at `end`, if the block has another, and enough jobs wait for it
    /// to be worth it. The block's words reach that far, and a record and the end mark fit in.
    ///
    /// # Safety
    ///
    /// The block is alive.
    pub(super) unsafe fn next_stretch(block: *mut Block, end: usize, waiting: usize) -> Option<usize> {
        // SAFETY: as promised.
        let words = unsafe { (*block).words };
        (end < words && waiting >= JOBS_FOR_SMALL).then(|| words.min(end + STRETCH))
    }

    /// # Safety
    ///
    /// The block is alive, and has a word at `at`.
    #[inline(always)]
    pub(super) unsafe fn word(block: *mut Block, at: usize) -> *mut Word {
        // SAFETY: as promised; without a reference, because other threads use other words meanwhile.
        unsafe { block.add(1).cast::<Word>().add(at) }
    }

    /// Writes the end mark, and which block comes next.
    ///
    /// # Safety
    ///
    /// The block is alive, there is a word left, and no reader has got that far.
    pub(super) unsafe fn close(block: *mut Block, at: usize, next: *mut Block) {
        // SAFETY: as promised.
        unsafe {
            Block::watch(block, at, 1, Watch::write);
            Job::write_end_mark(Block::word(block, at));
            (*block).next = next;
        }
    }

    /// The block after it.
    ///
    /// # Safety
    ///
    /// The block is alive, and its end mark has been seen.
    #[inline]
    pub(super) unsafe fn next(block: *mut Block) -> *mut Block {
        // SAFETY: as promised.
        unsafe { (*block).next }
    }

    /// For models: reports an access.
    ///
    /// # Safety
    ///
    /// The block is alive.
    #[inline]
    pub(super) unsafe fn watch(block: *mut Block, at: usize, words: usize, access: fn(&Watch)) {
        if cfg!(executors_loom) {
            // SAFETY: as promised.
            unsafe { &(&(*block).watch)[at..at + words] }.iter().for_each(access);
        }
    }
}
