//! What becomes a job: a closure, a job itself, or a job that is [packed](super::record).

use super::{Job, VTable, VTableOf, Word};
use std::mem::ManuallyDrop;

/// What a queue takes: a job, or a closure that becomes one in the queue's memory.
///
/// A closure's size is known where it is given to the queue, so it can be written to its place in one go. A job's size
/// is not known there, and copying a job costs as much as most of what a queue does.
///
/// # Safety
///
/// - [`write_job`](Self::write_job) writes a whole job to `place`, and does nothing else.
/// - [`write_record`](Self::write_record) packs one, in as many words as [`record_words`](Self::record_words) says,
///   which are those that a reader will find: one for the vtable, and those that it says are in use.
pub(crate) unsafe trait IntoJob: Sized {
    fn into_job(self) -> Job;

    /// Whether becoming a job takes memory from the allocator.
    ///
    /// A global allocator may submit jobs itself (`docs/contract.md`), and so *re-enter* the queue from within an
    /// allocation. So no closure is boxed while a lock or a place of a queue is held. (What a queue itself allocates
    /// there is its own affair: the lanes of the work-stealing pool survive that, see `biased_lock.rs`.)
    #[inline(always)]
    fn allocates(&self) -> bool {
        false
    }

    /// Writes the job to `place`.
    ///
    /// # Safety
    ///
    /// There is room for a job to be written at `place`.
    unsafe fn write_job(self, place: *mut Job);

    /// How many words it takes when packed.
    fn record_words(&self) -> usize;

    /// Packs it at `place`.
    ///
    /// # Safety
    ///
    /// There is room for [`record_words`](Self::record_words) words to be written at `place`.
    unsafe fn write_record(self, place: *mut Word);
}

// SAFETY: a job, or its vtable and payload, is written; the number is that of this vtable.
unsafe impl IntoJob for Job {
    #[inline(always)]
    fn into_job(self) -> Job {
        self
    }

    #[inline(always)]
    unsafe fn write_job(self, place: *mut Job) {
        // SAFETY: the caller vouches for it.
        unsafe { place.write(self) };
    }

    #[inline]
    fn record_words(&self) -> usize {
        1 + self.vtable.words
    }

    #[inline]
    unsafe fn write_record(self, place: *mut Word) {
        let job = ManuallyDrop::new(self);
        // SAFETY: the caller vouches for the place; the payload has at least the words that are copied. From now on the
        // job is at `place`.
        unsafe {
            place.cast::<Option<&VTable>>().write(Some(job.vtable));
            place.add(1).copy_from_nonoverlapping(job.payload.as_ptr().cast(), job.vtable.words);
        }
    }
}

/// A closure on its way to a queue.
pub(crate) struct Closure<F>(pub(crate) F);

// SAFETY: as above.
unsafe impl<F: FnOnce() + Send + 'static> IntoJob for Closure<F> {
    #[inline(always)]
    fn into_job(self) -> Job {
        Job::new(self.0)
    }

    #[inline(always)]
    fn allocates(&self) -> bool {
        !VTableOf::<F>::IS_INLINE
    }

    #[inline(always)]
    unsafe fn write_job(self, place: *mut Job) {
        // SAFETY: the caller vouches for the place, which has room for the words of any closure.
        unsafe {
            VTableOf::write(self.0, (&raw mut (*place).payload).cast());
            (&raw mut (*place).vtable).write(VTableOf::<F>::VTABLE);
        }
    }

    #[inline(always)]
    fn record_words(&self) -> usize {
        1 + VTableOf::<F>::VTABLE.words
    }

    #[inline(always)]
    unsafe fn write_record(self, place: *mut Word) {
        // SAFETY: the caller vouches for the place.
        unsafe {
            place.cast::<Option<&VTable>>().write(Some(VTableOf::<F>::VTABLE));
            VTableOf::write(self.0, place.add(1));
        }
    }
}

/// For tests: becomes a job only by a call of this function.
#[cfg(all(test, feature = "_stealing", not(executors_loom)))]
pub(crate) struct MadeBy<F>(pub(crate) F);

#[cfg(all(test, feature = "_stealing", not(executors_loom)))]
// SAFETY: it is never written.
unsafe impl<F: FnOnce() -> Job> IntoJob for MadeBy<F> {
    fn into_job(self) -> Job {
        self.0()
    }

    fn allocates(&self) -> bool {
        true
    }

    unsafe fn write_job(self, _place: *mut Job) {
        unreachable!("it becomes a job before it has a place");
    }

    fn record_words(&self) -> usize {
        unreachable!("as above");
    }

    unsafe fn write_record(self, _place: *mut Word) {
        unreachable!("as above");
    }
}
