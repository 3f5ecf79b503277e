//! Pinning by the crate `core_affinity`.

use core_affinity::CoreId;
use std::sync::OnceLock;

/// The cores that this process may use; `None` if the platform does not tell.
///
/// Platforms tell it of the calling thread, which may be pinned itself, by us for instance. So the first answer counts.
pub(super) fn available_cores() -> Option<Vec<usize>> {
    static FIRST_ANSWER: OnceLock<Option<Vec<usize>>> = OnceLock::new();
    let ask = || Some(core_affinity::get_core_ids()?.into_iter().map(|core| core.id).collect());
    FIRST_ANSWER.get_or_init(ask).clone()
}

/// Returns whether it succeeded.
pub(super) fn pin_current_thread(core: usize) -> bool {
    core_affinity::set_for_current(CoreId { id: core })
}
