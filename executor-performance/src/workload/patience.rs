//! Waiting for a few jobs, where it is not measured how soon their end is noticed.

use crate::failure::Failure;
use std::{
    thread,
    time::{Duration, Instant},
};

/// Waits until `ran` says that at least `expected` jobs have run.
///
/// # Errors
///
/// If the number of jobs that have run does not grow for `patience`.
pub fn wait_for(expected: u64, patience: Duration, ran: impl Fn() -> u64) -> Result<(), Failure> {
    const PAUSE: Duration = Duration::from_micros(100);
    let mut progress = (0, Instant::now());
    loop {
        let (ran, now) = (ran(), Instant::now());
        if ran >= expected {
            return Ok(());
        }
        if ran > progress.0 {
            progress = (ran, now);
        } else if now.duration_since(progress.1) > patience {
            return Err(Failure::Stalled { ran, expected, patience });
        }
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn waits_while_there_is_progress() {
        let ran = Cell::new(0);
        let slow = || {
            thread::sleep(Duration::from_millis(2));
            ran.replace(ran.get() + 1)
        };
        wait_for(10, Duration::from_secs(60), slow).expect("ten of ten");
        assert_eq!(ran.get(), 11);
    }

    #[test]
    fn gives_up_when_there_is_none() {
        let failure = wait_for(10, Duration::ZERO, || 9).expect_err("one is missing");
        assert!(matches!(failure, Failure::Stalled { ran: 9, expected: 10, .. }));
    }
}
