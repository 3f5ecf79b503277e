//! When it is time to look for jobs from outside.

use crate::options::Fairness;
use std::{
    cell::Cell,
    time::{Duration, Instant},
};

/// The most jobs between two readings of the clock. A reading costs as much as several small jobs.
const JOBS_PER_READING: u32 = 32;

/// Counts a worker's jobs down to the next look outside.
#[derive(Debug)]
pub(super) struct Turn {
    left: Cell<u32>,
    /// Jobs from one reading of the clock to the next, or from look to look if there is no clock.
    period: Cell<u32>,
    clock: Option<Clock>,
}

#[derive(Debug)]
struct Clock {
    interval: Duration,
    last_look: Cell<Instant>,
    last_reading: Cell<Instant>,
}

impl Turn {
    pub(super) fn new(fairness: Fairness) -> Self {
        let (period, clock) = match fairness {
            Fairness::Counted(jobs) => (jobs.max(1), None),
            Fairness::Timed(interval) => {
                let now = Cell::new(Instant::now());
                (1, Some(Clock { interval, last_look: now.clone(), last_reading: now }))
            }
        };
        Turn { left: Cell::new(period), period: Cell::new(period), clock }
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
        let due = match &self.clock {
            None => true,
            Some(clock) => {
                let now = Instant::now();
                self.period.set(clock.next_period(self.period.get(), now));
                clock.is_due(now)
            }
        };
        self.left.set(self.period.get());
        due
    }
}

impl Clock {
    /// Reads the clock after twice as many jobs as last time, if these took next to none of the interval, and after each job
    /// if they took too much of it.
    fn next_period(&self, period: u32, now: Instant) -> u32 {
        let took = now.duration_since(self.last_reading.replace(now));
        if took > self.interval / 4 { 1 } else { (period * 2).min(JOBS_PER_READING) }
    }

    fn is_due(&self, now: Instant) -> bool {
        let due = now.duration_since(self.last_look.get()) >= self.interval;
        if due {
            self.last_look.set(now);
        }
        due
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
        assert_eq!(looks(Fairness::Timed(Duration::ZERO), 5), [1, 2, 3, 4, 5]);
        assert_eq!(looks(Fairness::Timed(Duration::MAX), 1000), []);
    }

    #[test]
    fn the_clock_is_read_seldom_for_short_jobs_and_after_each_long_one() {
        let start = Instant::now();
        let clock =
            Clock { interval: Duration::from_millis(1), last_look: Cell::new(start), last_reading: Cell::new(start) };
        let at = |micros| start + Duration::from_micros(micros);
        assert_eq!(clock.next_period(1, at(1)), 2);
        assert_eq!(clock.next_period(16, at(100)), 32);
        assert_eq!(clock.next_period(32, at(349)), 32);
        assert_eq!(clock.next_period(32, at(700)), 1);
        assert_eq!(clock.next_period(1, at(900)), 2);
        assert!(!clock.is_due(at(999)));
        assert!(clock.is_due(at(1000)));
        assert!(!clock.is_due(at(1999)));
        assert!(clock.is_due(at(2000)));
    }
}
