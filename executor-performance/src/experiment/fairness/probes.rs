//! Jobs that record when they began.

use crate::{failure::Failure, workload::wait_for};
use executors::Executor;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// Stands for a time that has not come yet.
const NEVER: u64 = u64::MAX;

/// Stands for the beginning of a probe that was due and could not be given in time.
const MISSED: u64 = NEVER - 1;

/// Since when each probe waits and when it began, and when the probes were closed.
#[derive(Debug)]
pub(super) struct Probes {
    origin: Instant,
    /// How many were given so far. Written only by the thread that gives them, as are `times.given` and `closed`; any
    /// other thread that reads these has joined that thread.
    given: AtomicUsize,
    times: Box<[Times]>,
    closed: AtomicU64,
}

/// Nanoseconds since the origin.
#[derive(Debug)]
struct Times {
    given: AtomicU64,
    began: AtomicU64,
}

impl Probes {
    /// No probes yet, and never more than `most`.
    pub(super) fn at_most(most: usize) -> Self {
        let times = (0..most).map(|_| Times { given: AtomicU64::new(NEVER), began: AtomicU64::new(NEVER) }).collect();
        Probes { origin: Instant::now(), given: AtomicUsize::new(0), times, closed: AtomicU64::new(NEVER) }
    }

    /// Gives a probe to `executor`, which waits since `given`.
    pub(super) fn give_next<E: Executor>(probes: &Arc<Self>, given: Instant, executor: &E) {
        let Some(index) = probes.next(given) else { return };
        let this = Arc::clone(probes);
        // Relaxed: it publishes nothing but the time.
        executor.execute(move || this.times[index].began.store(this.now(), Ordering::Relaxed));
    }

    /// Counts a probe that was due at `given` as starved.
    pub(super) fn miss_next(&self, given: Instant) {
        if let Some(index) = self.next(given) {
            self.times[index].began.store(MISSED, Ordering::Relaxed);
        }
    }

    /// The index of a further probe, which waits since `given`.
    fn next(&self, given: Instant) -> Option<usize> {
        let index = self.given.load(Ordering::Relaxed);
        let waits_since = given.saturating_duration_since(self.origin).as_nanos() as u64;
        self.times.get(index)?.given.store(waits_since, Ordering::Relaxed);
        self.given.store(index + 1, Ordering::Relaxed);
        Some(index)
    }

    /// Probes that have not begun yet count as starved.
    pub(super) fn close(&self) {
        self.closed.store(self.now(), Ordering::Relaxed);
    }

    /// Waits until all have begun, starved or not.
    ///
    /// # Errors
    ///
    /// If some have not, and none begins for `patience`.
    pub(super) fn wait(&self, patience: Duration) -> Result<(), Failure> {
        let given = self.given();
        wait_for(given.len() as u64, patience, || given.iter().filter(|times| times.began() != NEVER).count() as u64)
    }

    /// How long each probe waited, at most until they were closed.
    pub(super) fn delays(&self) -> Vec<Duration> {
        let closed = self.closed.load(Ordering::Relaxed);
        let delay = |times: &Times| times.began().min(closed).saturating_sub(times.given.load(Ordering::Relaxed));
        self.given().iter().map(|times| Duration::from_nanos(delay(times))).collect()
    }

    /// How many had not begun when they were closed.
    pub(super) fn starved(&self) -> usize {
        let closed = self.closed.load(Ordering::Relaxed);
        self.given().iter().filter(|times| times.began() > closed).count()
    }

    fn given(&self) -> &[Times] {
        &self.times[..self.given.load(Ordering::Relaxed)]
    }

    fn now(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }
}

impl Times {
    fn began(&self) -> u64 {
        self.began.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Probes that were given at 100 and began at these times; closed at 1000.
    fn probes(began: &[u64]) -> Probes {
        let probes = Probes::at_most(began.len() + 1);
        for (times, began) in probes.times.iter().zip(began) {
            times.given.store(100, Ordering::Relaxed);
            times.began.store(*began, Ordering::Relaxed);
        }
        probes.given.store(began.len(), Ordering::Relaxed);
        probes.closed.store(1000, Ordering::Relaxed);
        probes
    }

    #[test]
    fn those_that_began_late_or_never_waited_until_the_end() {
        let probes = probes(&[150, 1000, 1001, MISSED, NEVER]);
        assert_eq!(probes.delays(), [50, 900, 900, 900, 900].map(Duration::from_nanos));
        assert_eq!(probes.starved(), 3);
    }

    #[test]
    fn those_that_never_begin_are_a_failure() {
        let failure = probes(&[150, NEVER]).wait(Duration::ZERO).expect_err("one is missing");
        assert!(matches!(failure, Failure::Stalled { ran: 1, expected: 2, .. }));
        probes(&[150, 1001]).wait(Duration::ZERO).expect("all began");
    }
}
