//! How many workers a crew should have. What this is for is in `elastic_pool/README.md`.

#[cfg(all(test, executors_loom))]
mod model;

use super::roll::{Roll, RollWord};
use std::time::Duration;

/// How large a crew is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) core: usize,
    pub(crate) max: usize,
    /// Beyond the core, hire only in place of workers that block.
    pub(crate) only_replaces: bool,
    /// How long a worker beyond the core stays idle before it leaves.
    pub(crate) keep_alive: Duration,
}

impl Terms {
    /// A fixed number of workers, which stay when they have come.
    pub(crate) fn fixed(workers: usize) -> Self {
        Terms { core: workers, max: workers, only_replaces: false, keep_alive: Duration::MAX }
    }

    /// No worker comes because of a job: workers are [seated](super::Crew::seat_one) one by one, and stay.
    #[cfg(feature = "burst-exec")]
    pub(crate) fn without_hiring() -> Self {
        Terms::fixed(0)
    }

    fn limit(&self, roll: Roll) -> usize {
        if self.only_replaces { (self.core.max(1) + roll.blocked()).min(self.max) } else { self.max }
    }

    /// Whether more workers can be hired.
    #[inline]
    pub(super) fn have_room(&self, roll: Roll) -> bool {
        roll.live() < self.limit(roll)
    }

    /// Whether enough `jobs` are waiting that one more worker is due: S3 of the README. `jobs` is read after `roll`: so
    /// a job for which a worker on this roll was hired is counted, unless it was taken.
    pub(super) fn want_more(&self, roll: Roll, jobs: impl FnOnce() -> usize, fill_core: bool) -> bool {
        self.have_room(roll) && (fill_core && roll.live() < self.core || jobs() > roll.idle())
    }

    /// Counts one more worker on the roll, if one is due. (S3 and S4 of the README.)
    pub(super) fn hire(&self, word: &RollWord, jobs: impl Fn() -> usize, fill_core: bool) -> bool {
        loop {
            let roll = word.read();
            if !self.want_more(roll, &jobs, fill_core) {
                return false;
            }
            if word.hire(roll) {
                return true;
            }
        }
    }
}
