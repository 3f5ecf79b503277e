//! The times at which jobs are to come.

use crate::stats::Dice;
use std::time::Duration;

/// When each of `jobs` jobs is to come within `span`, in nanoseconds from its beginning: as in a Poisson process that
/// is known to have that many events in this time.
///
/// So they come independently of each other, like requests of many independent users: some at the same time, and some
/// after long gaps. The pauses are exponentially distributed random numbers, all divided by their sum.
pub fn poisson(jobs: u64, span: Duration, dice: &mut Dice) -> Vec<u64> {
    const FINE: u64 = 1 << 53;
    let mut pause = || -((dice.below(FINE) + 1) as f64 / FINE as f64).ln();
    let mut sum = 0.0;
    let mut times: Vec<f64> = Vec::new();
    for _ in 0..jobs {
        sum += pause();
        times.push(sum);
    }
    let nanos_each = span.as_nanos() as f64 / (sum + pause()).max(f64::MIN_POSITIVE);
    times.into_iter().map(|time| (time * nanos_each) as u64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn all_jobs_come_in_time_and_in_order() {
        for jobs in [0, 1, 2, 1000] {
            let times = poisson(jobs, SECOND, &mut Dice::new(jobs));
            assert_eq!(times.len() as u64, jobs);
            assert!(times.is_sorted() && times.iter().all(|time| *time <= 1_000_000_000), "{times:?}");
        }
    }

    #[test]
    fn pauses_are_exponentially_distributed() {
        let times = poisson(100_000, SECOND, &mut Dice::new(0));
        let pauses: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // With a mean of 10 us, a fraction of 1/e is longer than that, and of 1/e^3 longer than three times that.
        for (nanos, expected) in [(10_000, 0.368), (30_000, 0.050)] {
            let longer = pauses.iter().filter(|pause| **pause > nanos).count() as f64 / pauses.len() as f64;
            assert!((longer - expected).abs() < 0.01, "{longer} and not {expected}");
        }
    }

    #[test]
    fn the_same_dice_give_the_same_times() {
        let times = |seed| poisson(100, SECOND, &mut Dice::new(seed));
        assert_eq!(times(7), times(7));
        assert_ne!(times(7), times(8));
    }
}
