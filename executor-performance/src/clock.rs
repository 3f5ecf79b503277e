//! Time: the wall clock, the CPU clock of this process, and a clock for tests that only moves when told to.

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

/// CPU time that all threads of this process have used up to now, in user and kernel mode. `None` where the system does
/// not tell.
pub fn cpu_time() -> Option<Duration> {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
    }
    #[cfg(not(unix))]
    None
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
    fn no_clock_goes_back() {
        let (clock, cpu) = (WallClock::start(), cpu_time());
        let before = clock.now();
        labour(1_000_000);
        assert!(clock.now() >= before);
        assert!(cpu_time() >= cpu);
    }
}
