//! A job that is packed in a queue's memory.

use super::{IntoJob, Job, Payload, VTable, WORDS, Word};
use std::marker::PhantomData;

/// The words that a packed job takes at most: its vtable, and as much of the payload as is used.
pub(crate) const RECORD_WORDS: usize = 1 + WORDS;

/// A packed job. It must be used, or the job is leaked.
///
/// At `payload` there are as many words of a [`Job`]'s payload as `vtable` says, and nothing else uses that job;
/// nothing else is written there while `'a` lasts.
#[must_use = "a job that is not unpacked is leaked"]
pub(crate) struct Record<'a> {
    vtable: &'static VTable,
    payload: *const Word,
    /// The place, which is written again once its owner has it back.
    place: PhantomData<&'a Word>,
}

impl Record<'_> {
    /// The job that is packed at `place`, unless that is the end mark.
    ///
    /// # Safety
    ///
    /// A job or the end mark was written there, and this is called only once for a job. While `'a` lasts, which the
    /// caller has to bound, nothing else is written there, and the place is not freed.
    #[inline]
    pub(crate) unsafe fn at<'a>(place: *const Word) -> Option<Record<'a>> {
        // SAFETY: the caller vouches for it.
        let vtable = unsafe { place.cast::<Option<&'static VTable>>().read() }?;
        // SAFETY: the payload follows the vtable.
        Some(Record { vtable, payload: unsafe { place.add(1) }, place: PhantomData })
    }

    /// Copies the payload.
    ///
    /// # Safety
    ///
    /// There is room for it at `place`.
    #[inline(always)]
    unsafe fn unpack(&self, place: *mut Word) {
        // Each copy is of a known number of words: `memcpy` would take longer to find out how many.
        // SAFETY: that many words were written and are still there, see `Record`; the caller vouches for the place.
        unsafe {
            match self.vtable.words {
                0 => (),
                1 => place.copy_from_nonoverlapping(self.payload, 1),
                2 => place.copy_from_nonoverlapping(self.payload, 2),
                3 => place.copy_from_nonoverlapping(self.payload, 3),
                4 => place.copy_from_nonoverlapping(self.payload, 4),
                _ => place.copy_from_nonoverlapping(self.payload, WORDS),
            }
        }
    }
}

// SAFETY: a job, or its vtable and payload, is written; the number is that of this vtable.
unsafe impl IntoJob for Record<'_> {
    #[inline]
    fn into_job(self) -> Job {
        let mut payload = Payload::uninit();
        // SAFETY: a payload has room for the words of any closure.
        unsafe { self.unpack(payload.as_mut_ptr().cast()) };
        Job { payload, vtable: self.vtable, closure: PhantomData }
    }

    #[inline]
    unsafe fn write_job(self, place: *mut Job) {
        // SAFETY: the caller vouches for the place.
        unsafe {
            self.unpack((&raw mut (*place).payload).cast());
            (&raw mut (*place).vtable).write(self.vtable);
        }
    }

    #[inline]
    fn record_words(&self) -> usize {
        1 + self.vtable.words
    }

    #[inline]
    unsafe fn write_record(self, place: *mut Word) {
        // SAFETY: the caller vouches for the place.
        unsafe {
            place.cast::<Option<&VTable>>().write(Some(self.vtable));
            self.unpack(place.add(1));
        }
    }
}
