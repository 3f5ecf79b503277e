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
/// steady stream stays in the nearest cache. A large one is written as if it were many of them.
pub(super) const STRETCH: usize = if cfg!(executors_loom) { 2 * RECORD_WORDS } else { 1024 };

/// Words in a large block, whose head is as long as two.
const LARGE: usize = huge_page::BYTES / size_of::<Word>() - 2;

/// With so many jobs in a lane its next block is a large one, unless one that has been read is at hand.
const MANY: usize = 1 << 16;

/// With fewer its next one is small again, also if the large one has room left.
const FEW: usize = MANY / 8;

// So it adds no more than 32 bytes for each job that waits.
const _: () = assert!(huge_page::BYTES <= 32 * MANY);

/// The head of a block. Its words lie behind it.
#[repr(C)]
pub(super) struct Block {
    /// Set before the end mark behind the last record is visible.
    next: *mut Block,
    words: usize,
    watch: [Watch; if cfg!(executors_loom) { STRETCH } else { 0 }],
}

#[repr(C)]
struct WithWords<const WORDS: usize> {
    head: Block,
    words: [Word; WORDS],
}

// Models have no large blocks. In the others a record and the end mark fit into the last stretch, too.
const _: () = assert!(
    cfg!(executors_loom) || size_of::<WithWords<LARGE>>() == huge_page::BYTES && LARGE % STRETCH > RECORD_WORDS
);

// `Block::word` finds them there, however many there are.
const _: () = assert!(offset_of!(WithWords<STRETCH>, words) == size_of::<Block>());
const _: () = assert!(offset_of!(WithWords<LARGE>, words) == size_of::<Block>());

impl Block {
    /// For a lane in which so many jobs wait. The words are left as they are: to clear them would take longer than a
    /// first job does.
    pub(super) fn allocate(waiting: usize) -> *mut Block {
        let huge_page = if waiting >= MANY { huge_page::map() } else { None };
        let (block, words) = match huge_page {
            Some(page) => (page.as_ptr().cast::<Block>(), LARGE),
            None => (Box::into_raw(Box::<WithWords<STRETCH>>::new_uninit()).cast(), STRETCH),
        };
        let head = Block { next: ptr::null_mut(), words, watch: std::array::from_fn(|_| Default::default()) };
        // SAFETY: either is large enough for a head, aligned, and nobody else's yet. The words may hold anything.
        unsafe { block.write(head) };
        block
    }

    /// # Safety
    ///
    /// The block is from [`allocate`](Self::allocate), and nobody uses it any more.
    pub(super) unsafe fn free(block: *mut Block) {
        // SAFETY: as promised; it came from where its number of words says.
        unsafe {
            if Block::is_large(block) {
                huge_page::unmap(NonNull::new_unchecked(block.cast()));
            } else {
                drop(Box::from_raw(block.cast::<WithWords<STRETCH>>()));
            }
        }
    }

    /// Whether it is too much to be kept until somebody needs one.
    ///
    /// # Safety
    ///
    /// The block is alive.
    #[inline]
    pub(super) unsafe fn is_large(block: *mut Block) -> bool {
        // SAFETY: as promised.
        unsafe { (*block).words != STRETCH }
    }

    /// Where the stretch ends behind the one that ends at `end`, if the block has one, and so many jobs wait that it is
    /// worth it: the block's words reach so far, and a record and the end mark fit in.
    ///
    /// # Safety
    ///
    /// The block is alive.
    pub(super) unsafe fn next_stretch(block: *mut Block, end: usize, waiting: usize) -> Option<usize> {
        // SAFETY: as promised.
        let words = unsafe { (*block).words };
        (end < words && waiting >= FEW).then(|| words.min(end + STRETCH))
    }

    /// # Safety
    ///
    /// The block is alive, and has a word at `at`.
    #[inline(always)]
    pub(super) unsafe fn word(block: *mut Block, at: usize) -> *mut Word {
        // SAFETY: as promised; without a reference, as others use other words meanwhile.
        unsafe { block.add(1).cast::<Word>().add(at) }
    }

    /// Writes the end mark, and where it goes on.
    ///
    /// # Safety
    ///
    /// The block is alive, there is a word left, and no reader has come so far.
    pub(super) unsafe fn close(block: *mut Block, at: usize, next: *mut Block) {
        // SAFETY: as promised.
        unsafe {
            Block::watch(block, at, 1, Watch::write);
            Job::write_end_mark(Block::word(block, at));
            (*block).next = next;
        }
    }

    /// The block behind it.
    ///
    /// # Safety
    ///
    /// The block is alive, and its end mark has been seen.
    #[inline]
    pub(super) unsafe fn next(block: *mut Block) -> *mut Block {
        // SAFETY: as promised.
        unsafe { (*block).next }
    }

    /// For models: tells of an access.
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
