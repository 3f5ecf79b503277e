//! When it is time to look for jobs from outside.

use crate::options::Fairness;
use std::{
    cell::Cell,
    time::{Duration, Instant},
};

/// Jobs between two readings of the clock. A reading costs as much as several small jobs.
const JOBS_PER_READING: u32 = 32;

/// Counts a worker's jobs down to the next look outside.
#[derive(Debug)]
pub(super) struct Turn {
    left: Cell<u32>,
    period: u32,
    clock: Option<Clock>,
}

#[derive(Debug)]
struct Clock {
    interval: Duration,
    last_look: Cell<Instant>,
}

impl Turn {
    pub(super) fn new(fairness: Fairness) -> Self {
        let (period, clock) = match fairness {
            Fairness::Counted(jobs) => (jobs.max(1), None),
            Fairness::Timed(interval) => {
                (JOBS_PER_READING, Some(Clock { interval, last_look: Cell::new(Instant::now()) }))
            }
        };
        Turn { left: Cell::new(period), period, clock }
    }

    /// Counts one job. Returns whether to look outside before it.
    #[inline]
    pub(super) fn is_outside(&self) -> bool {
        match self.left.get() - 1 {
            0 => self.is_due(),
            left => {
                self.left.set(left);
                false
            }
        }
    }

    #[cold]
    fn is_due(&self) -> bool {
        self.left.set(self.period);
        self.clock.as_ref().is_none_or(|clock| {
            let now = Instant::now();
            let due = now.duration_since(clock.last_look.get()) >= clock.interval;
            if due {
                clock.last_look.set(now);
            }
            due
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(fairness: Fairness, jobs: usize) -> Vec<usize> {
        let turn = Turn::new(fairness);
        (1..=jobs).filter(|_| turn.is_outside()).collect()
    }

    #[test]
    fn counted_looks_come_after_as_many_jobs() {
        assert_eq!(looks(Fairness::Counted(3), 10), [3, 6, 9]);
        assert_eq!(looks(Fairness::Counted(1), 3), [1, 2, 3]);
        assert_eq!(looks(Fairness::Counted(0), 3), [1, 2, 3]);
    }

    #[test]
    fn timed_looks_come_when_the_time_is_up_and_not_before() {
        assert_eq!(looks(Fairness::Timed(Duration::ZERO), 96), [32, 64, 96]);
        assert_eq!(looks(Fairness::Timed(Duration::MAX), 1000), []);
    }
}
