//! Pinning by the crate `core_affinity`.

use core_affinity::CoreId;

/// The cores that this process may use; `None` if the platform does not tell.
pub(super) fn available_cores() -> Option<Vec<usize>> {
    main_thread::cores().or_else(|| Some(core_affinity::get_core_ids()?.into_iter().map(|core| core.id).collect()))
}

/// Returns whether it succeeded.
pub(super) fn pin_current_thread(core: usize) -> bool {
    core_affinity::set_for_current(CoreId { id: core })
}

/// `core_affinity` tells of the calling thread, which may be pinned itself, by us for instance. What the process was
/// given is rather what its main thread may use.
#[cfg(target_os = "linux")]
mod main_thread {
    use crate::placement::kernel_list;
    use std::fs;

    pub(super) fn cores() -> Option<Vec<usize>> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        kernel_list::parse(list).filter(|cores| !cores.is_empty())
    }

    #[test]
    fn there_are_cores() {
        assert!(cores().is_some_and(|cores| !cores.is_empty()));
    }
}

#[cfg(not(target_os = "linux"))]
mod main_thread {
    pub(super) fn cores() -> Option<Vec<usize>> {
        None
    }
}
