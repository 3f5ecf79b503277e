//! Values that jobs use without counting references to them.
//!
//! A job must be `'static`, and must reach the executor to give it other jobs. The safe ways to do that cost a write to
//! shared memory in every job: an `Arc` that is cloned and dropped bounces its counter between all workers, which on a
//! fast pool takes longer than all the rest. So a job has a [`Loan`] of what it needs, which is a bare pointer. Whoever
//! lends says why all loans have ended when the value is taken back. If they may not have, because jobs are missing,
//! the value is never freed.

use std::ptr::NonNull;

/// A value that may have been lent. It is not freed if this is dropped: only if it is [taken back](Self::take_back).
pub(super) struct Lent<T>(NonNull<T>);

/// A pointer to a value that is [`Lent`].
pub(super) struct Loan<T>(NonNull<T>);

impl<T> Lent<T> {
    pub(super) fn new(value: T) -> Self {
        Lent(NonNull::from(Box::leak(Box::new(value))))
    }

    pub(super) fn loan(&self) -> Loan<T> {
        Loan(self.0)
    }

    pub(super) fn get(&self) -> &T {
        // SAFETY: The value is freed in `take_back` only, which takes this.
        unsafe { self.0.as_ref() }
    }

    /// # Safety
    ///
    /// No loan is used any more, and each use of one happened before this call.
    pub(super) unsafe fn take_back(self) -> T {
        // SAFETY: The pointer is from a leaked box, and freed nowhere else. The caller guarantees that there is no
        // other reference to it.
        *unsafe { Box::from_raw(self.0.as_ptr()) }
    }
}

impl<T> Loan<T> {
    /// # Safety
    ///
    /// The value is not taken back before the last use of the reference.
    #[inline(always)]
    pub(super) unsafe fn get(&self) -> &T {
        // SAFETY: The pointer is from a leaked box, which is not freed before it is taken back. There is no unique
        // reference to it.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Clone for Loan<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Loan<T> {}

// SAFETY: A loan is a shared reference, which needs `Sync` to be used from several threads.
unsafe impl<T: Sync> Send for Loan<T> {}

// SAFETY: As above; sharing a loan gives nothing but that reference.
unsafe impl<T: Sync> Sync for Loan<T> {}
