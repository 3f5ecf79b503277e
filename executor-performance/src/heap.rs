//! How much of the heap is in use.

/// Bytes of the heap that this process has in use, if glibc tells: chunks that were allocated and not freed, with what
/// the allocator keeps for each. Freed chunks that a thread keeps for itself count as used; these are a few kilobytes
/// for each thread. Stacks are no part of the heap.
///
/// This asks the allocator in use. An allocator that counts would do so at each allocation, and change what is
/// measured.
pub fn in_use() -> Option<u64> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: It has no preconditions, and may be called by any thread at any time.
        let info = unsafe { libc::mallinfo2() };
        Some((info.uordblks + info.hblkhd) as u64)
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    None
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;
    use std::hint::black_box;

    /// Other tests allocate meanwhile, but not so much.
    #[test]
    fn large_and_small_allocations_are_in_use_until_they_are_freed() {
        const SIZE: usize = 256 << 20;
        let before = in_use().expect("glibc tells");
        let large = black_box(vec![0_u8; SIZE]);
        let during = in_use().expect("glibc tells");
        drop(large);
        let after = in_use().expect("glibc tells");
        let half = SIZE as u64 / 2;
        assert!(during > before + half && during > after + half, "{before}, {during}, {after}");
    }
}
