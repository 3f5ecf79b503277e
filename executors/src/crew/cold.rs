//! Threads that do not exist yet: they are called by starting them. See "Cold threads" in `parker/README.md`.

use super::backoff::SpawnBackoff;
use crate::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering::Relaxed},
};
use std::{
    ops::Range,
    sync::{PoisonError, TryLockError},
};

/// Seats whose threads are started one by one, the first one first.
///
/// All Relaxed. A submitter that reads that a thread is coming, or that none is left, may rely on the threads there
/// are: the fences S2 before, and W3 or F3 of the last that looks after it, order these reads (see the README).
#[derive(Debug)]
pub(super) struct ColdSeats {
    seats: Range<usize>,
    /// How many are left. Changed under the lock of `backoff`; a read without it may give the number of a moment ago.
    left: AtomicUsize,
    /// How many threads are on their way, and will look for jobs. Each counts until it arrives, or does not come.
    coming: AtomicUsize,
    /// Locked by a thread that starts another: no other thread does so meanwhile.
    backoff: Mutex<SpawnBackoff>,
}

impl ColdSeats {
    /// The creator of this starts the threads of the seats before these, which are on their way from the beginning.
    /// (Where there are no cold seats, nothing asks whether a thread is coming.)
    pub(super) fn new(seats: Range<usize>) -> Self {
        let (left, coming) = (AtomicUsize::new(seats.len()), AtomicUsize::new(seats.start));
        ColdSeats { seats, left, coming, backoff: Mutex::default() }
    }

    /// Whether there are any. Read by every submit.
    #[inline]
    pub(super) fn are_left(&self) -> bool {
        self.left.load(Relaxed) > 0
    }

    pub(super) fn coming(&self) -> usize {
        self.coming.load(Relaxed)
    }

    /// Starts the thread of the next seat by `start`, if that is still due when no other thread is starting one.
    /// Returns whether it comes, or why it is refused.
    ///
    /// If another thread is starting one, and none is coming, waits for that: the new thread may already have arrived
    /// and taken another job, and then this job needs the next. If one is coming, the caller can rely on it.
    pub(super) fn start_one<E>(
        &self,
        is_due: impl FnOnce() -> bool,
        start: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<bool, E> {
        let Some(mut backoff) = self.lock_backoff() else { return Ok(false) };
        let left = self.left.load(Relaxed);
        if left == 0 || !is_due() || backoff.holds() {
            return Ok(false);
        }
        self.left.store(left - 1, Relaxed);
        self.coming.fetch_add(1, Relaxed);
        let started = start(self.seats.end - left);
        if started.is_ok() {
            backoff.end();
        } else {
            self.coming.fetch_sub(1, Relaxed);
            self.left.store(left, Relaxed);
            backoff.count_refusal();
        }
        started.map(|()| true)
    }

    /// `None` if another thread is starting one, and one is coming.
    fn lock_backoff(&self) -> Option<MutexGuard<'_, SpawnBackoff>> {
        match self.backoff.try_lock() {
            Ok(backoff) => Some(backoff),
            Err(TryLockError::Poisoned(backoff)) => Some(backoff.into_inner()),
            Err(TryLockError::WouldBlock) if self.coming() > 0 => None,
            Err(TryLockError::WouldBlock) => Some(self.backoff.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// The thread of `seat` is there, and will look for jobs before it sleeps.
    pub(super) fn arrived(&self, seat: usize) {
        // The threads of seats behind these run no jobs but their own.
        if seat < self.seats.end {
            self.coming.fetch_sub(1, Relaxed);
        }
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    /// Asks for a thread, which comes or not. Returns the seat that was tried, if any.
    fn ask(seats: &ColdSeats, comes: bool) -> Option<usize> {
        let mut asked = None;
        let started = seats.start_one(
            || true,
            |seat| {
                asked = Some(seat);
                if comes { Ok(()) } else { Err(()) }
            },
        );
        assert_eq!(started, if asked.is_some() && !comes { Err(()) } else { Ok(asked.is_some()) });
        asked
    }

    #[test]
    fn cold_seats_are_started_in_order_until_none_is_left() {
        let seats = ColdSeats::new(2..4);
        assert_eq!(seats.coming(), 2, "those that are warm");
        seats.arrived(1);
        assert_eq!(seats.coming(), 1, "the first one may come last");
        seats.arrived(4);
        assert_eq!(seats.coming(), 1, "those behind do not count");
        seats.arrived(0);
        assert_eq!((seats.coming(), ask(&seats, true), ask(&seats, true), seats.coming()), (0, Some(2), Some(3), 2));
        assert!(!seats.are_left());
        assert_eq!(ask(&seats, true), None);
        seats.arrived(2);
        seats.arrived(3);
        assert_eq!(seats.coming(), 0);
        assert_eq!(ColdSeats::new(2..2).start_one(|| true, |_| Err(())), Ok(false));
    }

    #[test]
    fn a_cold_seat_that_is_no_longer_needed_is_not_started() {
        let seats = ColdSeats::new(1..2);
        assert_eq!(seats.start_one(|| false, |_| Err(())), Ok(false));
        assert!(seats.are_left());
    }

    #[test]
    fn a_refused_seat_is_the_next_to_be_requested() {
        let seats = ColdSeats::new(1..3);
        seats.arrived(0);
        assert_eq!((ask(&seats, false), ask(&seats, false), seats.coming()), (Some(1), Some(1), 0));
        // After the pause. When one has come, the next one is not made to wait.
        while ask(&seats, true).is_none() {}
        assert_eq!((seats.coming(), ask(&seats, false), ask(&seats, false)), (1, Some(2), Some(2)));
    }
}
