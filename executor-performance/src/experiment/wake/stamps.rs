//! When jobs began.

use crate::workload::Work;
use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

/// A stamp for each job of a burst, in no order.
///
/// All accesses are Relaxed: the stamps are read after the relay has seen the end of every job, and cleared before it
/// starts the next.
#[derive(Debug)]
pub(super) struct Stamps {
    origin: Instant,
    taken: AtomicUsize,
    /// Nanoseconds since the origin.
    stamps: Box<[AtomicU64]>,
}

impl Stamps {
    pub(super) fn of(jobs: u64) -> Self {
        let stamps = (0..jobs).map(|_| AtomicU64::new(0)).collect();
        Stamps { origin: Instant::now(), taken: AtomicUsize::new(0), stamps }
    }

    pub(super) fn clear(&self) {
        self.taken.store(0, Ordering::Relaxed);
    }

    /// How long after `start` each job began.
    pub(super) fn since(&self, start: Instant) -> impl Iterator<Item = Duration> {
        let start = start.saturating_duration_since(self.origin);
        let stamps = self.stamps.iter().take(self.taken.load(Ordering::Relaxed));
        stamps.map(move |stamp| Duration::from_nanos(stamp.load(Ordering::Relaxed)).saturating_sub(start))
    }
}

impl Work for Stamps {
    fn before(&self) {
        let now = self.origin.elapsed();
        if let Some(stamp) = self.stamps.get(self.taken.fetch_add(1, Ordering::Relaxed)) {
            stamp.store(now.as_nanos() as u64, Ordering::Relaxed);
        }
    }
}
