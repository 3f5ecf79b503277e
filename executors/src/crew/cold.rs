//! Threads that do not exist yet: they are called by starting them. See "Cold threads" in `parker/README.md`.

use crate::sync::atomic::{
    AtomicBool, AtomicU32, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::ops::Range;

/// Seats whose threads are started one by one, the first one first.
#[derive(Debug)]
pub(super) struct ColdSeats {
    seats: Range<usize>,
    /// How many are left. Changed only by whoever has set `coming`, which acquires and releases the change; a thread
    /// that reads it otherwise may be told the number of a moment ago.
    left: AtomicUsize,
    /// Whether a thread is on its way: it will look for jobs. Who sets this starts one; it is unset when that arrives,
    /// or does not come.
    ///
    /// Acquire and Release are for what its owner alone may touch. That who finds it set may rely on the thread follows
    /// from the fences before (S2) and behind (W3), see the README.
    coming: AtomicBool,
    restraint: Restraint,
}

/// An exponential back-off: how many needs are passed over after a refusal, before another thread is asked for. None,
/// one, three, and so on, or each job would cost a system call where threads have run out. Belongs to whoever has set
/// `coming`.
#[derive(Debug, Default)]
struct Restraint {
    refusals: AtomicU32,
    passes: AtomicU32,
}

/// The most refusals in a row that make a difference: from then on one of 1024 needs is an attempt. Chosen freely: with
/// more, threads come later once they can be had again; with less, jobs pay for more system calls that are in vain.
const MOST_REFUSALS: u32 = 10;

impl Restraint {
    /// Whether this need is passed over.
    fn passes_over(&self) -> bool {
        let passes = self.passes.load(Relaxed);
        self.passes.store(passes.saturating_sub(1), Relaxed);
        passes > 0
    }

    fn forget(&self) -> u32 {
        self.refusals.swap(0, Relaxed)
    }

    /// One more in a row, after `refusals`.
    fn count_one(&self, refusals: u32) {
        self.passes.store((1 << refusals) - 1, Relaxed);
        self.refusals.store((refusals + 1).min(MOST_REFUSALS), Relaxed);
    }
}

impl ColdSeats {
    /// The thread of the seat before them is started by who makes this.
    pub(super) fn new(seats: Range<usize>) -> Self {
        let (left, coming) = (AtomicUsize::new(seats.len()), AtomicBool::new(!seats.is_empty()));
        ColdSeats { seats, left, coming, restraint: Restraint::default() }
    }

    pub(super) fn contain(&self, seat: usize) -> bool {
        self.seats.contains(&seat)
    }

    /// Whether there are any. Read by every submit.
    #[inline]
    pub(super) fn are_left(&self) -> bool {
        self.left.load(Relaxed) > 0
    }

    pub(super) fn is_one_coming(&self) -> bool {
        self.coming.load(Relaxed)
    }

    /// Has `start` start the thread of a seat, unless one is on its way; it returns whether that comes, and so does
    /// this: not if another call has brought one.
    pub(super) fn start_one(&self, start: impl FnOnce(usize) -> bool) -> bool {
        if self.coming.swap(true, Acquire) {
            return false;
        }
        let comes = self.try_start(start);
        if !comes {
            self.none_is_coming();
        }
        comes
    }

    /// A swap for loom's sake: it lets a store come before another thread's swap that found the flag set, which would
    /// then stay set. There is no such execution.
    fn none_is_coming(&self) {
        self.coming.swap(false, Release);
    }

    fn try_start(&self, start: impl FnOnce(usize) -> bool) -> bool {
        let left = self.left.load(Relaxed);
        if left == 0 || self.restraint.passes_over() {
            return false;
        }
        // Before the thread is there: once it has arrived, all this is somebody else's.
        self.left.store(left - 1, Relaxed);
        let refusals = self.restraint.forget();
        let comes = start(self.seats.end - left);
        if !comes {
            self.left.store(left, Relaxed);
            self.restraint.count_one(refusals);
        }
        comes
    }

    /// The thread of `seat` is there, and will look for jobs before it sleeps.
    pub(super) fn arrived(&self, seat: usize) {
        if self.contain(seat) || seat + 1 == self.seats.start {
            self.none_is_coming();
        }
    }
}
