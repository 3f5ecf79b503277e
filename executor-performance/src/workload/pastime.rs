//! Jobs that take a time by the clock.

use super::Work;
use serde::{Deserialize, Serialize};
use std::{
    hint, thread,
    time::{Duration, Instant},
};

/// What each job does for a time, before it gives its successor to the executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pastime {
    /// Reads the clock again and again. A job that the system interrupts meanwhile still ends at the same time, and a
    /// job on a slow core takes no longer: the time of all jobs is known beforehand, and the rest is due to the
    /// executor.
    Busy(Duration),
    /// Sleeps: a job that waits for the system, and leaves its core to others.
    Asleep(Duration),
}

impl Pastime {
    /// How long it takes.
    pub fn time(self) -> Duration {
        let (Pastime::Busy(time) | Pastime::Asleep(time)) = self;
        time
    }
}

impl Work for Pastime {
    #[inline]
    fn before(&self) {
        match self {
            Pastime::Busy(Duration::ZERO) => {}
            Pastime::Busy(time) => busy(*time),
            Pastime::Asleep(time) => thread::sleep(*time),
        }
    }

    fn is_nothing(&self) -> bool {
        *self == Pastime::Busy(Duration::ZERO)
    }

    /// Only time on a core is known that well. Jobs that sleep are there to see how many sleep at a time.
    fn time(&self) -> Duration {
        match self {
            Pastime::Busy(time) => *time,
            Pastime::Asleep(_) => Duration::ZERO,
        }
    }
}

/// Not inlined, so that jobs are empty if there is no time to pass.
#[inline(never)]
fn busy(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_the_time() {
        let time = Duration::from_millis(2);
        for pastime in [Pastime::Busy(time), Pastime::Asleep(time)] {
            let began = Instant::now();
            pastime.before();
            assert!(began.elapsed() >= time, "{pastime:?}");
            assert!(!pastime.is_nothing(), "{pastime:?}");
        }
        assert!(Pastime::Busy(Duration::ZERO).is_nothing());
        assert_eq!(Work::time(&Pastime::Busy(time)), time);
        assert_eq!(Work::time(&Pastime::Asleep(time)), Duration::ZERO);
    }
}
