//! The cores of this process: what it was given, as far as its main thread and the caller tell.
//!
//! The standard library and `core_affinity` report the cores of the calling thread, which may be pinned itself, by this
//! crate for instance. The cores that the main thread may use are a better guide to what the process was given.

use super::mask::{cores_of_main_thread, cores_of_this_thread};
use std::{sync::OnceLock, thread};

/// How many threads of this process can run at the same time, as it was at the first call: reading the limits of a
/// control group takes as long as starting several threads.
pub(crate) fn core_count() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    // A model is the same on every machine.
    if cfg!(executors_loom) { 4 } else { *CORES.get_or_init(count) }
}

fn count() -> usize {
    // As the quota of the control group and the calling thread's affinity allow.
    let here = thread::available_parallelism().map_or(1, usize::from);
    let Some(given) = cores_of_main_thread() else { return here };
    let is_pinned = given.len() > here && cores_of_this_thread().is_some_and(|own| own != given && own.len() <= here);
    // The quota is not known if the thread's own cores are the lower limit. Too many is the lesser evil: this is asked
    // only once.
    if is_pinned { given.len() } else { here }
}

/// The numbers of the process's cores, in ascending order; `None` if the platform does not tell. Those of the caller
/// are among them, though the main thread may be pinned to others.
#[cfg(feature = "thread-pinning")]
pub(super) fn cores_by_number() -> Option<Vec<usize>> {
    let mut cores = cores_of_main_thread()?;
    cores.extend(cores_of_this_thread()?);
    cores.sort_unstable();
    cores.dedup();
    Some(cores)
}

#[cfg(all(test, target_os = "linux", not(executors_loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_process_has_cores() {
        assert!(cores_of_main_thread().is_some_and(|cores| !cores.is_empty()));
    }

    #[cfg(feature = "thread-pinning")]
    #[test]
    fn a_pinned_thread_counts_the_cores_of_the_process() {
        let given = cores_by_number().expect("Linux tells");
        let (all, first) = (given.len(), given[0]);
        let pinned = thread::spawn(move || {
            crate::placement::pin_current_thread(first);
            (thread::available_parallelism().map_or(1, usize::from), count())
        });
        assert_eq!(pinned.join().expect("no panic"), (1, all));
    }
}
