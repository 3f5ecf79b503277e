//! Counting without shared writes: each worker counts for itself, readers add up.

#[cfg(all(feature = "produce-metrics", not(all(test, executors_loom))))]
#[path = "meter/exported.rs"]
mod export;
#[cfg(any(not(feature = "produce-metrics"), all(test, executors_loom)))]
#[path = "meter/silent.rs"]
mod export;
#[cfg(all(test, feature = "produce-metrics", not(executors_loom)))]
pub(crate) mod on_counter;
#[cfg(any(feature = "produce-metrics", all(test, executors_loom)))]
mod queued;

pub(crate) use export::Exporter;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// What one worker has done. Written by that worker only, so that a plain store is enough.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// Whether it runs jobs, one after the other. Relaxed, for the same reason as the counters.
    is_at_work: AtomicBool,
    ended: Counter,
    panicked: Counter,
    steals: Counter,
    /// Parts of other workers' jobs that it has run.
    parts: Counter,
    /// Whether what it has found is such a part, and not a job, and has not ended. Relaxed, as above.
    is_at_part: AtomicBool,
}

/// A counter with a single writer.
///
/// Relaxed throughout: a reader that needs to know that a count is complete (after a `join`, say) has synchronised with
/// the worker by other means.
#[derive(Debug, Default)]
struct Counter(AtomicU64);

impl Counter {
    #[inline]
    fn count_one(&self) {
        self.0.store(self.get() + 1, Relaxed);
    }

    #[inline]
    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl Meter {
    /// The worker begins to run jobs.
    pub(crate) fn work_begins(&self) {
        self.is_at_work.store(true, Relaxed);
    }

    /// The worker has run out of jobs.
    pub(crate) fn work_ends(&self) {
        // If it has found a part and lost it, because a user's parker has panicked, the next job must not count as a
        // part.
        self.is_at_part.store(false, Relaxed);
        self.is_at_work.store(false, Relaxed);
    }

    #[inline]
    pub(crate) fn job_ended(&self) {
        self.ended.count_one();
    }

    pub(crate) fn job_panicked(&self) {
        self.panicked.count_one();
    }

    pub(crate) fn stole(&self) {
        self.steals.count_one();
    }

    /// What the worker has found is a part of another's job.
    pub(crate) fn found_part(&self) {
        self.is_at_part.store(true, Relaxed);
    }

    /// Whether what the worker has found is such a part, and has not ended.
    pub(crate) fn is_at_part(&self) -> bool {
        self.is_at_part.load(Relaxed)
    }

    /// What the worker has found has ended, and was a job, unless it was [a part](Self::found_part).
    pub(crate) fn job_or_part_ended(&self) {
        if self.is_at_part() {
            self.is_at_part.store(false, Relaxed);
            self.parts.count_one();
        } else {
            self.job_ended();
        }
    }

    pub(crate) fn read(&self) -> Reading {
        // A job that runs others in place, because its pool was full, counts with them as one. (Each that has ended
        // counts.)
        let ended = self.ended.get();
        let running = usize::from(self.is_at_work.load(Relaxed) && !self.is_at_part());
        Reading { ended, running, panicked: self.panicked.get(), steals: self.steals.get(), parts: self.parts.get() }
    }
}

/// The counts of one worker, or the sum over several.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reading {
    pub(crate) ended: u64,
    /// Workers that run a job, or are on their way from one to the next.
    pub(crate) running: usize,
    pub(crate) panicked: u64,
    pub(crate) steals: u64,
    pub(crate) parts: u64,
}

impl Reading {
    /// How often work was found and done, whether it was a job or a part of another worker's job.
    pub(crate) fn runs(self) -> u64 {
        self.ended + self.parts
    }
}

impl std::iter::Sum for Reading {
    fn sum<I: Iterator<Item = Reading>>(readings: I) -> Reading {
        readings.fold(Reading::default(), |sum, one| Reading {
            ended: sum.ended + one.ended,
            running: sum.running + one.running,
            panicked: sum.panicked + one.panicked,
            steals: sum.steals + one.steals,
            parts: sum.parts + one.parts,
        })
    }
}
