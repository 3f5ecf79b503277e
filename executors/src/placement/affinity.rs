//! Pinning by the crate `core_affinity`.

use super::process;
use core_affinity::CoreId;

/// The cores that this process may use; `None` if the platform does not tell.
pub(super) fn available_cores() -> Option<Vec<usize>> {
    process::cores_by_number()
        .or_else(|| Some(core_affinity::get_core_ids()?.into_iter().map(|core| core.id).collect()))
}

/// Returns whether it succeeded.
pub(super) fn pin_current_thread(core: usize) -> bool {
    core_affinity::set_for_current(CoreId { id: core })
}
