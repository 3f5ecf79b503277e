//! The roll: how many workers a crew has, how many of them are active, busy, and how many say that they block.

use crate::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use std::fmt;

/// What the roll was at some moment.
#[derive(Clone, Copy)]
pub(super) struct Roll {
    /// Three counts of 20 bits each, so that one load shows them together.
    counts: u64,
    blocked: usize,
}

const ACTIVE: u64 = 1;
const LIVE: u64 = 1 << 20;
const BUSY: u64 = 1 << 40;
const COUNT: u64 = (1 << 20) - 1;

impl Roll {
    /// Workers that run jobs or look for some, and others that do so in their place. Counted before they take a job. A
    /// worker that only looks around may be left out.
    pub(super) fn active(self) -> usize {
        (self.counts & COUNT) as usize
    }

    /// Workers that are hired: from before their thread is started until they resign.
    pub(super) fn live(self) -> usize {
        ((self.counts / LIVE) & COUNT) as usize
    }

    /// Active workers that have found a job since they were idle. Counted after they have taken it.
    fn busy(self) -> usize {
        (self.counts / BUSY) as usize
    }

    /// Workers whose job has said that it blocks.
    pub(super) fn blocked(self) -> usize {
        self.blocked
    }

    /// Workers that will search the queue before they sleep.
    pub(super) fn idle(self) -> usize {
        self.live() - self.busy()
    }
}

impl fmt::Debug for Roll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Roll")
            .field("live", &self.live())
            .field("active", &self.active())
            .field("busy", &self.busy())
            .field("blocked", &self.blocked())
            .finish()
    }
}

/// What an active worker counts for.
fn active(busy: bool) -> u64 {
    if busy { ACTIVE + BUSY } else { ACTIVE }
}

/// The roll as shared state.
///
/// Every change is a sequentially consistent read-modify-write, as the arguments of `crew/README.md` and
/// `elastic_pool/README.md` need the changes and the fences around them in one order.
pub(super) struct RollWord {
    counts: AtomicU64,
    /// By itself, because it need not be known at the same moment: it only says how large the crew may be.
    blocked: AtomicUsize,
}

impl RollWord {
    pub(super) fn new() -> Self {
        RollWord { counts: AtomicU64::new(0), blocked: AtomicUsize::new(0) }
    }

    #[inline]
    pub(super) fn read(&self) -> Roll {
        self.with(self.counts.load(SeqCst))
    }

    fn with(&self, counts: u64) -> Roll {
        Roll { counts, blocked: self.blocked.load(SeqCst) }
    }

    pub(super) fn become_active(&self) {
        self.counts.fetch_add(ACTIVE, SeqCst);
    }

    pub(super) fn become_busy(&self) {
        self.counts.fetch_add(BUSY, SeqCst);
    }

    /// Counts out a worker, which may have been `busy`. Returns whether no worker is active any more.
    pub(super) fn become_idle(&self, busy: bool) -> bool {
        self.counts.fetch_sub(active(busy), SeqCst) & COUNT == ACTIVE
    }

    /// As [`become_idle`](Self::become_idle), but only if others are active. Returns whether they are.
    pub(super) fn become_idle_beside_others(&self, busy: bool) -> bool {
        let without = |counts| (counts & COUNT > ACTIVE).then(|| counts - active(busy));
        self.counts.fetch_update(SeqCst, SeqCst, without).is_ok()
    }

    pub(super) fn block(&self) {
        self.blocked.fetch_add(1, SeqCst);
    }

    pub(super) fn go_on(&self) {
        self.blocked.fetch_sub(1, SeqCst);
    }

    /// Counts one more worker, if the counts are still what they were.
    pub(super) fn hire(&self, seen: Roll) -> bool {
        self.counts.compare_exchange(seen.counts, seen.counts + LIVE, SeqCst, Relaxed).is_ok()
    }

    /// The thread of a worker that was hired does not come.
    pub(super) fn cancel_hire(&self) -> Roll {
        self.with(self.counts.fetch_sub(LIVE, SeqCst) - LIVE)
    }

    /// An active worker that is not busy counts itself out, unless it is needed to keep `core` workers. Returns the
    /// roll without it.
    pub(super) fn resign(&self, core: usize) -> Option<Roll> {
        let without = |counts| (self.with(counts).live() > core).then(|| counts - LIVE - ACTIVE);
        let before = self.counts.fetch_update(SeqCst, SeqCst, without).ok()?;
        Some(self.with(before - LIVE - ACTIVE))
    }
}

impl fmt::Debug for RollWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.read().fmt(f)
    }
}
