//! Threads that do not exist yet: they are called by starting them. See "Cold threads" in the README beside this file.

use crate::sync::atomic::{
    AtomicBool, AtomicU32, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::{fmt, ops::Range, sync::OnceLock};

/// Seats whose threads are started one by one, the first one first.
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
    /// Starts the thread of a seat. Returns whether it comes.
    start: OnceLock<Box<dyn Fn(usize) -> bool + Send + Sync>>,
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
    pub(super) fn new(seats: Range<usize>) -> Self {
        let left = AtomicUsize::new(seats.len());
        ColdSeats {
            seats,
            left,
            coming: AtomicBool::new(false),
            restraint: Restraint::default(),
            start: OnceLock::new(),
        }
    }

    /// Has threads started by `start`. To be called before there are jobs.
    pub(super) fn start_by(&self, start: impl Fn(usize) -> bool + Send + Sync + 'static) {
        let _ = self.start.set(Box::new(start));
    }

    /// Whether there are any. Read by every submit.
    #[inline]
    pub(super) fn are_left(&self) -> bool {
        self.left.load(Relaxed) > 0
    }

    pub(super) fn is_one_coming(&self) -> bool {
        self.coming.load(Relaxed)
    }

    /// Starts a thread, unless one is on its way.
    #[cold]
    pub(super) fn start_one(&self) {
        if !self.coming.swap(true, Acquire) && !self.try_start() {
            self.none_is_coming();
        }
    }

    /// A swap for loom's sake: it lets a store come before another thread's swap that found the flag set, which would
    /// then stay set. There is no such execution.
    fn none_is_coming(&self) {
        self.coming.swap(false, Release);
    }

    /// Returns whether a thread comes.
    fn try_start(&self) -> bool {
        let left = self.left.load(Relaxed);
        let Some(start) = self.start.get().filter(|_| left > 0) else { return false };
        if self.restraint.passes_over() {
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
        if self.seats.contains(&seat) {
            self.none_is_coming();
        }
    }
}

impl fmt::Debug for ColdSeats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ColdSeats").field("left", &self.left).field("coming", &self.coming).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Seats 1 and 2, and what was asked for; `refuses` says whether the next is refused.
    fn seats(refuses: fn(usize) -> bool) -> (ColdSeats, Arc<Mutex<Vec<usize>>>) {
        let (seats, asked) = (ColdSeats::new(1..3), Arc::new(Mutex::new(Vec::new())));
        let log = Arc::clone(&asked);
        seats.start_by(move |seat| {
            let mut asked = log.lock().unwrap();
            asked.push(seat);
            !refuses(asked.len())
        });
        (seats, asked)
    }

    #[test]
    fn one_is_started_at_a_time() {
        let (seats, asked) = seats(|_| false);
        seats.start_one();
        seats.start_one();
        assert_eq!((seats.is_one_coming(), asked.lock().unwrap().clone()), (true, vec![1]));
        seats.arrived(0);
        assert!(seats.is_one_coming(), "that one was warm");
        seats.arrived(1);
        seats.start_one();
        seats.arrived(2);
        assert!(!seats.are_left() && !seats.is_one_coming());
        seats.start_one();
        assert_eq!((seats.is_one_coming(), asked.lock().unwrap().clone()), (false, vec![1, 2]));
    }

    #[test]
    fn a_refused_seat_is_asked_for_again_and_again_but_less_and_less() {
        let (seats, asked) = seats(|attempt| attempt < 5);
        let mut attempts = Vec::new();
        for need in 0..20 {
            let before = asked.lock().unwrap().len();
            seats.start_one();
            if asked.lock().unwrap().len() > before {
                attempts.push(need);
            }
            assert_eq!(seats.is_one_coming(), attempts.len() == 5);
        }
        assert_eq!((attempts, asked.lock().unwrap().clone()), (vec![0, 1, 3, 7, 15], vec![1; 5]));
        // It has come, and the next one is not made to wait.
        seats.arrived(1);
        seats.start_one();
        assert!(seats.is_one_coming());
        assert_eq!(asked.lock().unwrap().last(), Some(&2));
    }
}
