//! Filters of system calls.

/// Whether the calling thread has one. Some system calls may end the process then: nobody who has not asked for one of
/// those should find out which.
///
/// Without effect itself. Threads of the standard library make the same system call, with another command, for their
/// names; a filter that ends the process at this command is one that we cannot ask. If the filter, or a system without
/// filters, answers with an error, that counts as filtered.
#[cfg(all(target_os = "linux", not(executors_loom)))]
pub(crate) fn is_filtered() -> bool {
    // SAFETY: this command changes nothing, and has no further arguments; the C library passes four on.
    unsafe { libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0) != 0 }
}

/// Unknown here.
#[cfg(not(all(target_os = "linux", not(executors_loom))))]
pub(crate) fn is_filtered() -> bool {
    true
}
