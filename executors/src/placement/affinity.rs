//! Pinning by the crate `core_affinity`.

use super::process;
use core_affinity::CoreId;

/// How many cores the crate can tell apart: on Linux as many as the usual set has room for, elsewhere the least that it
/// has room for on any platform.
const MOST_CORES: usize = if cfg!(target_os = "linux") { 1024 } else { 64 };

/// The cores that this process may use, see `Placement::Auto`; `None` if the platform does not tell.
pub(super) fn available_cores() -> Option<Vec<usize>> {
    process::cores_by_number()
        .or_else(|| Some(core_affinity::get_core_ids()?.into_iter().map(|core| core.id).collect()))
}

/// Returns whether it succeeded.
pub(super) fn pin_current_thread(core: usize) -> bool {
    // The crate does not check whether the set has room for the core, and ends the process if it has not.
    core < MOST_CORES && core_affinity::set_for_current(CoreId { id: core })
}
