//! Filters of system calls.

/// Whether the calling thread has one. Then some system calls may end the process, so this crate should make none for
/// which the program has not asked. (It does ask for large blocks of memory, by calls that allocators make, too.)
///
/// Asking has no effect itself. Threads of the standard library make the same system call, with another command, for
/// their names; a filter that ends the process at this command cannot be asked about. An error, from the filter or from
/// a system without filters, counts as filtered.
#[cfg(all(target_os = "linux", not(executors_loom)))]
pub(crate) fn is_filtered() -> bool {
    // SAFETY: this command changes nothing, and has no further arguments; the C library passes four on.
    unsafe { libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0) != 0 }
}

/// Unknown on this platform.
#[cfg(not(all(target_os = "linux", not(executors_loom))))]
pub(crate) fn is_filtered() -> bool {
    true
}
