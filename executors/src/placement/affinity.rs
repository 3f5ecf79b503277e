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
    use std::fs;

    pub(super) fn cores() -> Option<Vec<usize>> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        parse(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim())
    }

    /// A list such as `0-3,8`.
    fn parse(list: &str) -> Option<Vec<usize>> {
        let mut cores = Vec::new();
        for range in list.split(',') {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            cores.extend(first.parse::<usize>().ok()?..=last.parse().ok()?);
        }
        Some(cores)
    }

    #[test]
    fn lists_of_cores_are_understood() {
        assert_eq!(parse("0"), Some(vec![0]));
        assert_eq!(parse("0-2,5,7-8"), Some(vec![0, 1, 2, 5, 7, 8]));
        assert_eq!(parse(""), None);
        assert_eq!(parse("0-x"), None);
        assert!(cores().is_some_and(|cores| !cores.is_empty()));
    }
}

#[cfg(not(target_os = "linux"))]
mod main_thread {
    pub(super) fn cores() -> Option<Vec<usize>> {
        None
    }
}
