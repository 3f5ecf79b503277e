//! Filters of system calls.

/// Whether the calling thread has one. Some system calls may end the process then: nobody who has not asked for one of
/// those should find out which.
///
/// Without effect itself: each thread of the standard library makes this call for its name. If the filter, or a system
/// without filters, answers with an error, that counts as filtered.
#[cfg(all(target_os = "linux", not(executors_loom)))]
pub(crate) fn is_filtered() -> bool {
    // SAFETY: this command has no further arguments, and changes nothing.
    unsafe { libc::prctl(libc::PR_GET_SECCOMP) != 0 }
}

/// Unknown here.
#[cfg(not(all(target_os = "linux", not(executors_loom))))]
pub(crate) fn is_filtered() -> bool {
    true
}
