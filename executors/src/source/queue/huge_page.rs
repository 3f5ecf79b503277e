//! Pieces of memory as large as a huge page, which the system is asked to back with one.
//!
//! The first write to a page of four kilobytes costs more than filling it with a hundred jobs; as a part of a huge page
//! it costs an eighth to a half of that (measured in `docs/results/queues.md`). The pieces do not come from the
//! allocator: for each aligned piece it would take almost as much memory again for its own mark, and it would keep what
//! is given back.

use std::ptr::NonNull;

/// On x86-64, and on 64-bit ARM with pages of four kilobytes. Where huge pages have another size this is usual memory.
pub(super) const BYTES: usize = 2 << 20;

/// [`BYTES`] bytes, at an address that is a multiple of that; none if the system refuses, or is not 64-bit Linux.
pub(super) fn map() -> Option<NonNull<u8>> {
    system::map()
}

/// # Safety
///
/// `piece` is from [`map`], and is not used any more.
pub(super) unsafe fn unmap(piece: NonNull<u8>) {
    // SAFETY: as promised.
    unsafe { system::unmap(piece) };
}

#[cfg(all(target_os = "linux", target_pointer_width = "64", not(executors_loom)))]
mod system {
    use super::BYTES;
    use libc::{
        MADV_HUGEPAGE, MAP_ANONYMOUS, MAP_FAILED, MAP_PRIVATE, PROT_READ, PROT_WRITE, c_void, madvise, mmap, munmap,
    };
    use std::ptr::{self, NonNull};

    pub(super) fn map() -> Option<NonNull<u8>> {
        let (protection, kind) = (PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
        // SAFETY: new memory, wherever the system likes. Twice as much as is kept, so that some of it is aligned.
        let start = unsafe { mmap(ptr::null_mut(), 2 * BYTES, protection, kind, -1, 0) };
        if start == MAP_FAILED {
            return None;
        }
        let before = start.addr().wrapping_neg() % BYTES;
        // SAFETY: all three are within what was mapped, one after the other.
        let (piece, behind) = unsafe { (start.byte_add(before), start.byte_add(before + BYTES)) };
        // SAFETY: no other code knows of these two parts.
        unsafe {
            give_back(start, before);
            give_back(behind, BYTES - before);
        }
        // SAFETY: advice about memory that is ours. It is usable even if the system does not take the advice.
        unsafe { madvise(piece, BYTES, MADV_HUGEPAGE) };
        NonNull::new(piece.cast())
    }

    /// # Safety
    ///
    /// As [`super::unmap`].
    pub(super) unsafe fn unmap(piece: NonNull<u8>) {
        // SAFETY: as promised.
        unsafe { give_back(piece.as_ptr().cast(), BYTES) };
    }

    /// # Safety
    ///
    /// The bytes were mapped here, and are not used any more.
    unsafe fn give_back(start: *mut c_void, bytes: usize) {
        if bytes > 0 {
            // SAFETY: as promised. If the system should refuse, they stay mapped.
            unsafe { munmap(start, bytes) };
        }
    }
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64", not(executors_loom))))]
mod system {
    use std::ptr::NonNull;

    pub(super) fn map() -> Option<NonNull<u8>> {
        None
    }

    /// # Safety
    ///
    /// None: there is no piece.
    pub(super) unsafe fn unmap(_piece: NonNull<u8>) {}
}

#[cfg(all(test, target_os = "linux", target_pointer_width = "64", not(executors_loom)))]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_aligned_and_apart_and_can_be_written() {
        let pieces = [(); 3].map(|()| map().expect("the system has six megabytes"));
        for (number, piece) in (1..).zip(pieces) {
            assert_eq!(piece.addr().get() % BYTES, 0);
            // SAFETY: the piece is as large, and used by no other code.
            unsafe { piece.write_bytes(number, BYTES) };
        }
        for (number, piece) in (1..).zip(pieces) {
            // SAFETY: as above, and written.
            assert_eq!(unsafe { [piece.read(), piece.add(BYTES - 1).read()] }, [number; 2]);
            // SAFETY: from `map`, and not used any more.
            unsafe { unmap(piece) };
        }
    }
}
