//! The roll: how many workers a crew has, how many of them are active, and how many say that they block.

use crate::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use std::fmt;

/// Three counts of 20 bits each, so that one load shows all of them at one moment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Roll(u64);

const ACTIVE: u64 = 1;
const LIVE: u64 = 1 << 20;
const BLOCKED: u64 = 1 << 40;
const COUNT: u64 = (1 << 20) - 1;

impl Roll {
    /// Workers that run jobs or look for some. A worker is counted before it takes a job.
    pub(super) fn active(self) -> usize {
        (self.0 & COUNT) as usize
    }

    /// Workers that are hired: from before their thread is started until they resign.
    pub(super) fn live(self) -> usize {
        ((self.0 / LIVE) & COUNT) as usize
    }

    /// Workers whose job has said that it blocks.
    pub(super) fn blocked(self) -> usize {
        (self.0 / BLOCKED) as usize
    }

    /// Workers that will search the queue before they sleep. (Others than workers may be active, at the end.)
    pub(super) fn idle(self) -> usize {
        self.live().saturating_sub(self.active())
    }
}

impl fmt::Debug for Roll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Roll")
            .field("live", &self.live())
            .field("active", &self.active())
            .field("blocked", &self.blocked())
            .finish()
    }
}

/// The roll as shared state.
///
/// Every change is a sequentially consistent read-modify-write, as the arguments of `crew/README.md` and
/// `elastic_pool/README.md` need the changes and the fences around them in one order.
pub(super) struct RollWord(AtomicU64);

impl RollWord {
    pub(super) fn new() -> Self {
        RollWord(AtomicU64::new(0))
    }

    #[inline]
    pub(super) fn read(&self) -> Roll {
        Roll(self.0.load(SeqCst))
    }

    pub(super) fn become_active(&self) {
        self.0.fetch_add(ACTIVE, SeqCst);
    }

    /// Returns whether nobody is active any more.
    pub(super) fn become_idle(&self) -> bool {
        Roll(self.0.fetch_sub(ACTIVE, SeqCst)).active() == 1
    }

    pub(super) fn block(&self) {
        self.0.fetch_add(BLOCKED, SeqCst);
    }

    pub(super) fn go_on(&self) {
        self.0.fetch_sub(BLOCKED, SeqCst);
    }

    /// Counts one more worker, if the roll is still what it was.
    pub(super) fn hire(&self, seen: Roll) -> bool {
        self.0.compare_exchange(seen.0, seen.0 + LIVE, SeqCst, Relaxed).is_ok()
    }

    /// The thread of a worker that was hired could not be started.
    pub(super) fn cancel_hire(&self) -> Roll {
        Roll(self.0.fetch_sub(LIVE, SeqCst) - LIVE)
    }

    /// An active worker counts itself out, unless it is needed to keep `core` workers. Returns the roll without it.
    pub(super) fn resign(&self, core: usize) -> Option<Roll> {
        let without = |roll| (Roll(roll).live() > core).then(|| roll - LIVE - ACTIVE);
        let before = self.0.fetch_update(SeqCst, SeqCst, without).ok()?;
        Some(Roll(before - LIVE - ACTIVE))
    }
}

impl fmt::Debug for RollWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.read().fmt(f)
    }
}
