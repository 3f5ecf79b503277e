//! Time: the wall clock, the CPU clock of this process, and a clock for tests that only moves when told to.

use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// A clock that never goes back. What it shows counts from an arbitrary moment.
pub trait Clock {
    /// The time now.
    fn now(&self) -> Duration;
}

/// The system's monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct WallClock {
    origin: Instant,
}

impl WallClock {
    /// A clock that starts at zero now.
    pub fn start() -> Self {
        WallClock { origin: Instant::now() }
    }
}

impl Clock for WallClock {
    fn now(&self) -> Duration {
        self.origin.elapsed()
    }
}

/// CPU time that all threads of this process have used up to now, in user and kernel mode. `None` if the system does
/// not tell.
pub fn cpu_time() -> Option<Duration> {
    #[cfg(unix)]
    return shown_by(rustix::time::ClockId::ProcessCPUTime);
    #[cfg(not(unix))]
    None
}

/// As [`cpu_time`], for this thread alone.
pub fn cpu_time_of_this_thread() -> Option<Duration> {
    #[cfg(unix)]
    return shown_by(rustix::time::ClockId::ThreadCPUTime);
    #[cfg(not(unix))]
    None
}

/// The CPU time between two readings of the same clock, if both are known.
pub(crate) fn difference(later: Option<Duration>, earlier: Option<Duration>) -> Option<Duration> {
    Some(later?.saturating_sub(earlier?))
}

#[cfg(unix)]
fn shown_by(clock: rustix::time::ClockId) -> Option<Duration> {
    let time = rustix::time::clock_gettime(clock);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

/// How good the wall clock is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Precision {
    /// The smallest difference between two readings that was seen, in nanoseconds.
    pub step_ns: f64,
    /// How long it takes to read it, in nanoseconds.
    pub reading_ns: f64,
}

impl Precision {
    /// Reads the clock again and again for some milliseconds.
    pub fn measured() -> Self {
        const BATCHES: usize = 50;
        const READINGS: u32 = 1000;
        let (mut step, mut reading) = (Duration::MAX, Duration::MAX);
        for _ in 0..BATCHES {
            let (began, mut last) = (Instant::now(), Instant::now());
            for _ in 0..READINGS {
                let now = Instant::now();
                let difference = now - last;
                if !difference.is_zero() {
                    step = step.min(difference);
                }
                last = now;
            }
            // The best batch, because disturbances can only make a batch slower.
            reading = reading.min(last - began);
        }
        Precision { step_ns: step.as_nanos() as f64, reading_ns: reading.as_nanos() as f64 / f64::from(READINGS) }
    }
}

#[cfg(test)]
pub(crate) mod mock {
    use super::Clock;
    use std::{cell::Cell, time::Duration};

    /// A clock that shows what it was set to.
    #[derive(Debug, Default)]
    pub(crate) struct ManualClock(Cell<Duration>);

    impl ManualClock {
        pub(crate) fn advance(&self, by: Duration) {
            self.0.set(self.0.get() + by);
        }
    }

    impl Clock for ManualClock {
        fn now(&self) -> Duration {
            self.0.get()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::labour;

    #[test]
    fn the_clock_shows_small_differences() {
        let precision = Precision::measured();
        assert!(precision.step_ns >= 1.0 && precision.step_ns < 1e9, "{precision:?}");
        assert!(precision.reading_ns > 0.0 && precision.reading_ns < 1e6, "{precision:?}");
    }

    #[test]
    fn no_clock_goes_back() {
        let (clock, cpu, own) = (WallClock::start(), cpu_time(), cpu_time_of_this_thread());
        let before = clock.now();
        labour(1_000_000);
        assert!(clock.now() >= before);
        assert_eq!((cpu.is_some(), own.is_some()), (cfg!(unix), cfg!(unix)));
        assert!(cpu_time() >= cpu && cpu_time_of_this_thread() >= own);
    }

    #[cfg(unix)]
    #[test]
    fn what_other_threads_do_is_not_of_this_one() {
        let (cpu, own) = (cpu_time(), cpu_time_of_this_thread());
        std::thread::spawn(|| labour(10_000_000)).join().expect("no panic");
        let passed = |before: Option<Duration>, now: Option<Duration>| now.expect("it is told") - before.expect("so");
        assert!(passed(own, cpu_time_of_this_thread()) * 2 < passed(cpu, cpu_time()));
    }
}
