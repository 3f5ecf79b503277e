//! Which worker runs on which core.

#[cfg(feature = "numa-aware")]
mod kernel_list;
mod mask;
#[cfg(not(feature = "numa-aware"))]
#[path = "placement/equal.rs"]
mod neighbourhood;
#[cfg(feature = "numa-aware")]
#[path = "placement/near.rs"]
mod neighbourhood;
#[cfg(feature = "_crew")]
mod outset;
#[cfg(feature = "thread-pinning")]
#[path = "placement/affinity.rs"]
mod pinning;
#[cfg(not(feature = "thread-pinning"))]
#[path = "placement/floating.rs"]
mod pinning;
mod process;
#[cfg(feature = "numa-aware")]
pub(crate) mod topology;

pub(crate) use mask::{Mask, current_core};
#[cfg(feature = "workstealing-exec")]
pub(crate) use neighbourhood::Distances;
#[cfg(feature = "_stealing")]
pub(crate) use neighbourhood::Neighbourhood;
#[cfg(feature = "_crew")]
pub(crate) use outset::Outset;
pub(crate) use process::core_count;

use crate::{
    containment::tell,
    error::{BuildError, BuildErrorKind},
    options::Placement,
};

impl Placement {
    /// Whether this placement can be honoured on this machine by `pool`.
    pub(crate) fn check(&self, pool: &'static str) -> Result<(), BuildError> {
        let Placement::Cores(cores) = self else { return Ok(()) };
        let Some(available) = pinning::available_cores() else {
            let remedy = "enable the crate's feature `thread-pinning`, and run where threads can be pinned";
            return Err(BuildErrorKind::Unsupported { option: "placement", pool, remedy }.into());
        };
        match cores.iter().find(|core| !available.contains(core)) {
            Some(&core) => Err(BuildErrorKind::NoSuchCore { core, available }.into()),
            None => Ok(()),
        }
    }

    /// The cores of the workers on the first seats, as far as there are cores. The others of the `threads` workers
    /// float.
    pub(crate) fn cores(&self, threads: usize) -> Vec<usize> {
        let mut cores = match self {
            Placement::Auto => pinning::available_cores().unwrap_or_default(),
            Placement::Floating => Vec::new(),
            Placement::Cores(cores) => cores.clone(),
        };
        cores.truncate(threads);
        cores
    }
}

/// Pins the calling thread to `core`; if there is none, or the thread cannot be pinned, lets it run where `mask`
/// allows. Without a mask it then runs where it has run until now.
pub(crate) fn place_current_thread(core: Option<usize>, mask: Option<&Mask>) {
    if !core.is_some_and(pin_current_thread)
        && let Some(mask) = mask
    {
        mask.apply();
    }
}

/// Returns whether it succeeded, and warns if not.
fn pin_current_thread(core: usize) -> bool {
    let is_pinned = pinning::pin_current_thread(core);
    if !is_pinned {
        tell(|| log::warn!("A worker could not be pinned to core {core}; it runs unpinned."));
    }
    is_pinned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_beyond_the_expected_number_have_no_core() {
        let placement = Placement::Cores(vec![4, 2, 7]);
        assert_eq!(placement.cores(2), [4, 2]);
        assert_eq!(placement.cores(usize::MAX), [4, 2, 7]);
        assert!(Placement::Floating.cores(2).is_empty());
    }
}
