//! Pinning by the crate `core_affinity`.

use super::process;
use core_affinity::CoreId;

/// How many cores the crate can tell apart: on Linux as many as the usual set has room for, elsewhere the least that it
/// has room for on any platform.
const MOST_CORES: usize = if cfg!(target_os = "linux") { 1024 } else { 64 };

/// Apple's systems have hints at most, on Intel, and the crate passes something else than the thread's port there: it
/// names the cores, but every call to pin a thread fails.
const CAN_PIN: bool = !cfg!(target_vendor = "apple");

/// The cores that this process may use, see `Placement::Auto`; `None` if the platform does not tell, or cannot pin
/// threads.
pub(super) fn available_cores() -> Option<Vec<usize>> {
    let ask_the_crate = || Some(core_affinity::get_core_ids()?.into_iter().map(|core| core.id).collect());
    if CAN_PIN { process::cores_by_number().or_else(ask_the_crate) } else { None }
}

/// Returns whether it succeeded.
pub(super) fn pin_current_thread(core: usize) -> bool {
    // The crate does not check whether the set has room for the core, and ends the process if it has not.
    core < MOST_CORES && core_affinity::set_for_current(CoreId { id: core })
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn threads_can_be_pinned_to_the_cores_that_are_available() {
        for core in available_cores().unwrap_or_default() {
            assert!(thread::spawn(move || pin_current_thread(core)).join().expect("no panic"), "core {core}");
        }
    }
}
