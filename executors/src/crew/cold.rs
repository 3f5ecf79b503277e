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
    /// Returns what `start` returns, if it was called: not dropped under the lock, because that may give memory back,
    /// and an allocator may submit a job, which may need the lock if the thread has arrived.
    ///
    /// If another thread is starting one, and none is coming, waits for that: the new thread may already have arrived
    /// and taken another job, and then this job needs the next. If one is coming, the caller can rely on it.
    pub(super) fn start_one<T, E>(
        &self,
        is_due: impl FnOnce() -> bool,
        start: impl FnOnce(usize) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        let mut backoff = self.lock_backoff()?;
        let left = self.left.load(Relaxed);
        if left == 0 || !is_due() || backoff.holds() {
            return None;
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
        Some(started)
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
        assert_eq!(started, asked.map(|_| if comes { Ok(()) } else { Err(()) }));
        asked
    }

    fn refuse(_seat: usize) -> Result<(), ()> {
        Err(())
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
        assert_eq!(ColdSeats::new(2..2).start_one(|| true, refuse), None);
    }

    #[test]
    fn a_cold_seat_that_is_no_longer_needed_is_not_started() {
        let seats = ColdSeats::new(1..2);
        assert_eq!(seats.start_one(|| false, refuse), None);
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

    /// The thread has arrived by then, so that the next one is not left to it: the lock must be free.
    #[test]
    fn what_a_start_leaves_may_ask_for_the_next_when_it_is_dropped() {
        struct AsksForNext<'a>(&'a ColdSeats);

        impl Drop for AsksForNext<'_> {
            fn drop(&mut self) {
                assert!(self.0.backoff.try_lock().is_ok(), "it would wait for itself");
                assert_eq!(ask(self.0, true), Some(2));
            }
        }

        let seats = ColdSeats::new(1..3);
        seats.arrived(0);
        let start = |seat| {
            seats.arrived(seat);
            Ok::<_, ()>(AsksForNext(&seats))
        };
        assert!(seats.start_one(|| true, start).is_some_and(|started| started.is_ok()));
        assert_eq!(seats.coming(), 1);
    }
}
