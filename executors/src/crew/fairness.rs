//! When it is time to look for jobs from outside.

use crate::options::Fairness;
use std::{
    cell::Cell,
    time::{Duration, Instant},
};

/// The most jobs between two looks, even if next to no time has passed: a look costs less than reading the clock.
const MOST_JOBS: u32 = 61;

/// Counts a worker's jobs down to the next look outside.
#[derive(Debug)]
pub(super) struct FairnessCounter {
    left: Cell<u32>,
    /// Jobs from one look to the next.
    period: Cell<u32>,
    clock: Option<Clock>,
}

/// Adapts the period to the time that jobs take.
#[derive(Debug)]
struct Clock {
    interval: Duration,
    last_look: Cell<Instant>,
}

impl FairnessCounter {
    pub(super) fn new(fairness: Fairness) -> Self {
        let (period, clock) = match fairness {
            Fairness::Counted(jobs) => (jobs.max(1), None),
            Fairness::Timed(interval) => (1, Some(Clock { interval, last_look: Cell::new(Instant::now()) })),
        };
        FairnessCounter { left: Cell::new(period), period: Cell::new(period), clock }
    }

    /// Counts one job. Returns whether to look outside before it, for a worker that `prefers` other jobs to those from
    /// outside; one that does not will look there anyway.
    #[inline]
    pub(super) fn count_job(&self, prefers: impl FnOnce() -> bool) -> bool {
        match self.left.get() - 1 {
            0 => self.begin_period(prefers),
            left => {
                self.left.set(left);
                false
            }
        }
    }

    /// Jobs from the last look to the next.
    pub(super) fn period(&self) -> usize {
        self.period.get() as usize
    }

    /// Begins a period if the worker `prefers` other jobs to those from outside, and returns whether it did. Otherwise
    /// the look stays due.
    #[cold]
    fn begin_period(&self, prefers: impl FnOnce() -> bool) -> bool {
        let begins = prefers();
        if begins {
            if let Some(clock) = &self.clock {
                self.period.set(clock.next_period(self.period.get(), Instant::now()));
            }
            self.left.set(self.period.get());
        }
        begins
    }
}

impl Clock {
    /// One job if those of the last period took a quarter of the interval or more, else twice as many as last time.
    fn next_period(&self, period: u32, now: Instant) -> u32 {
        let took = now.duration_since(self.last_look.replace(now));
        if took >= self.interval / 4 { 1 } else { (period * 2).min(MOST_JOBS) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(fairness: Fairness, jobs: usize) -> Vec<usize> {
        let counter = FairnessCounter::new(fairness);
        (1..=jobs).filter(|_| counter.count_job(|| true)).collect()
    }

    #[test]
    fn a_look_stays_due_while_there_is_nothing_else_to_do() {
        let counter = FairnessCounter::new(Fairness::Counted(2));
        assert_eq!(
            [true, false, false, true, true].map(|prefers| counter.count_job(|| prefers)),
            [false, false, false, true, false]
        );
    }

    #[test]
    fn counted_looks_come_after_as_many_jobs() {
        assert_eq!(looks(Fairness::Counted(3), 10), [3, 6, 9]);
        assert_eq!(looks(Fairness::Counted(1), 3), [1, 2, 3]);
        assert_eq!(looks(Fairness::Counted(0), 3), [1, 2, 3]);
    }

    #[test]
    fn timed_looks_come_after_each_long_job_and_many_short_ones() {
        assert_eq!(looks(Fairness::Timed(Duration::ZERO), 5), [1, 2, 3, 4, 5]);
        assert_eq!(looks(Fairness::Timed(Duration::MAX), 200), [1, 3, 7, 15, 31, 63, 124, 185]);
    }

    #[test]
    fn a_period_is_longer_if_the_last_one_was_short() {
        let start = Instant::now();
        let clock = Clock { interval: Duration::from_millis(1), last_look: Cell::new(start) };
        let at = |micros| start + Duration::from_micros(micros);
        assert_eq!(clock.next_period(1, at(1)), 2);
        assert_eq!(clock.next_period(32, at(100)), 61);
        assert_eq!(clock.next_period(61, at(349)), 61);
        assert_eq!(clock.next_period(61, at(700)), 1);
        assert_eq!(clock.next_period(1, at(900)), 2);
        assert_eq!(clock.next_period(2, at(1150)), 1);
    }

    #[test]
    fn a_zero_interval_is_over_though_the_clock_stands_still() {
        let now = Instant::now();
        let clock = Clock { interval: Duration::ZERO, last_look: Cell::new(now) };
        assert_eq!(clock.next_period(1, now), 1);
    }
}
