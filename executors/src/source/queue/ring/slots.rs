//! The memory of a ring: slots, which are replaced by twice as many when most are in use.

use crate::sync::cell::UnsafeCell;
use std::{mem::MaybeUninit, ptr};

/// Slots; their number is a power of two.
pub(super) struct Buffer<T> {
    slots: Box<[Slot<T>]>,
    /// The buffer that this one has replaced, if any. Thieves may still be using it.
    pub(super) former: *mut Buffer<T>,
}

type Slot<T> = UnsafeCell<MaybeUninit<T>>;

/// Where the slots of a ring are, for as long as the ring lives.
pub(super) struct Slots<T> {
    first: *const Slot<T>,
    mask: u32,
}

impl<T> Buffer<T> {
    pub(super) fn new(size: usize) -> Box<Self> {
        debug_assert!(size.is_power_of_two());
        let slots = (0..size).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect();
        Box::new(Buffer { slots, former: ptr::null_mut() })
    }

    pub(super) fn slots(&self) -> Slots<T> {
        Slots { first: self.slots.as_ptr(), mask: self.slots.len() as u32 - 1 }
    }
}

impl<T> Slots<T> {
    /// For a ring that has none yet: its limit says that there is no place, and no job is in it.
    pub(super) const NONE: Self = Slots { first: ptr::null(), mask: u32::MAX };

    #[inline]
    pub(super) fn size(self) -> u32 {
        self.mask.wrapping_add(1)
    }

    /// # Safety
    ///
    /// These must not be [`NONE`](Self::NONE), and the ring must live for as long as the result is used.
    #[inline(always)]
    pub(super) unsafe fn cell(&self, count: u32) -> &Slot<T> {
        // SAFETY: there are `mask + 1` slots, and the ring, which lives, frees none before it is dropped.
        unsafe { &*self.first.add((count & self.mask) as usize) }
    }

    /// # Safety
    ///
    /// As for [`cell`](Self::cell), and no other thread may use the slot meanwhile.
    #[inline]
    pub(super) unsafe fn slot(self, count: u32) -> *mut T {
        // SAFETY: the caller vouches for it.
        unsafe { self.cell(count) }.with_mut(|slot| slot.cast())
    }

    /// # Safety
    ///
    /// As for [`cell`](Self::cell). The caller has taken or claimed the job, and must not read it again.
    #[inline]
    pub(super) unsafe fn read(self, count: u32) -> T {
        // SAFETY: the caller vouches for it.
        unsafe { self.cell(count) }.with(|slot| unsafe { slot.cast::<T>().read() })
    }

    /// Copies the bits of a job, maybe one that is taken meanwhile, from `former` slots.
    ///
    /// # Safety
    ///
    /// As for [`cell`](Self::cell), for both. The former slot is not written any more; the new one is the caller's to
    /// write.
    pub(super) unsafe fn copy(self, count: u32, former: Self) {
        // SAFETY: the caller vouches for it.
        let bits = unsafe { former.cell(count) }.with(|slot| unsafe { slot.read() });
        // SAFETY: as above.
        unsafe { self.cell(count) }.with_mut(|slot| unsafe { slot.write(bits) });
    }
}

impl<T> Clone for Slots<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slots<T> {}
