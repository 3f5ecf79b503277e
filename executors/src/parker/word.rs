//! The idle word: how many workers sleep, how many were called and have not arrived, how many look for work, whether a
//! sleeper naps, and whether a worker that looks is aside.

use crate::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// Three counts of 20 bits each and two flags, so that one load shows all of them at one moment.
///
/// A million threads fit into each; the operating system refuses to start that many.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Census(u64);

const SLEEPING: u64 = 1;
const CALLED: u64 = 1 << 20;
const LOOKING: u64 = 1 << 40;
const NAPPING: u64 = 1 << 60;
const ASIDE: u64 = 1 << 61;
const COUNT: u64 = (1 << 20) - 1;

impl Census {
    /// Workers that have announced their sleep and were not called since.
    pub(super) fn sleeping(self) -> usize {
        (self.0 & COUNT) as usize
    }

    /// Workers that were called and have not arrived yet, those that were called while they were aside, and submitters
    /// that give way.
    pub(super) fn called(self) -> usize {
        ((self.0 / CALLED) & COUNT) as usize
    }

    /// Workers that are awake and look for work, except those that were called while they were aside.
    pub(super) fn looking(self) -> usize {
        ((self.0 / LOOKING) & COUNT) as usize
    }

    /// Whether a sleeper will look for work by itself before long.
    pub(super) fn napping(self) -> bool {
        self.0 & NAPPING != 0
    }

    /// Whether a worker that looks has yielded its core, and may take long to come back.
    pub(super) fn aside(self) -> bool {
        self.0 & ASIDE != 0
    }

    /// Whether some thread will look for work without another call.
    pub(super) fn somebody_seeks(self) -> bool {
        self.0 & (COUNT * CALLED + COUNT * LOOKING) != 0
    }
}

impl std::fmt::Debug for Census {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Census")
            .field("sleeping", &self.sleeping())
            .field("called", &self.called())
            .field("looking", &self.looking())
            .field("napping", &self.napping())
            .field("aside", &self.aside())
            .finish()
    }
}

/// The census as shared state. Every change is a sequentially consistent read-modify-write: the argument in the README
/// needs the changes and the fences around them in one order.
pub(super) struct IdleWord(AtomicU64);

impl IdleWord {
    pub(super) fn new() -> Self {
        IdleWord(AtomicU64::new(0))
    }

    #[inline]
    pub(super) fn read(&self) -> Census {
        Census(self.0.load(SeqCst))
    }

    pub(super) fn fall_asleep(&self) {
        self.0.fetch_add(SLEEPING, SeqCst);
    }

    /// A worker falls asleep for a nap, as the only one.
    pub(super) fn fall_into_nap(&self) {
        self.0.fetch_add(SLEEPING + NAPPING, SeqCst);
    }

    /// The nap is over; the worker may still count as sleeping or called.
    pub(super) fn nap_ended(&self) {
        self.0.fetch_sub(NAPPING, SeqCst);
    }

    pub(super) fn sleep_cancelled(&self) {
        self.0.fetch_sub(SLEEPING, SeqCst);
    }

    /// A sleeper is called: from now on it counts as seeking.
    pub(super) fn call(&self) {
        self.0.fetch_add(CALLED - SLEEPING, SeqCst);
    }

    pub(super) fn arrive(&self) {
        self.0.fetch_sub(CALLED, SeqCst);
    }

    /// A submitter gives way, and counts as called meanwhile.
    pub(super) fn give_way(&self) {
        self.0.fetch_add(CALLED, SeqCst);
    }

    /// It goes on. Returns the census after that.
    pub(super) fn go_on(&self) -> Census {
        Census(self.0.fetch_sub(CALLED, SeqCst) - CALLED)
    }

    /// Returns the census before.
    pub(super) fn start_looking(&self) -> Census {
        Census(self.0.fetch_add(LOOKING, SeqCst))
    }

    /// A worker that looks yields its core. Returns whether it is the only one that is aside.
    pub(super) fn step_aside(&self) -> bool {
        !Census(self.0.fetch_or(ASIDE, SeqCst)).aside()
    }

    /// Counts the worker that has stepped aside as called, instead of looking.
    #[cold]
    pub(super) fn call_aside(&self) {
        let call = |word| (word & ASIDE != 0).then(|| word - ASIDE - LOOKING + CALLED);
        let _back_already = self.0.fetch_update(SeqCst, SeqCst, call);
    }

    /// The worker that has stepped aside looks again, whether it was called meanwhile or not.
    pub(super) fn come_back(&self) {
        let look = |word| Some(if word & ASIDE == 0 { word - CALLED + LOOKING } else { word - ASIDE });
        let _before = self.0.fetch_update(SeqCst, SeqCst, look);
    }

    /// Returns the census before.
    pub(super) fn stop_looking(&self) -> Census {
        Census(self.0.fetch_sub(LOOKING, SeqCst))
    }
}

impl std::fmt::Debug for IdleWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.read().fmt(f)
    }
}
