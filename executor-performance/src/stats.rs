//! What a handful of samples says, and how sure that is.

mod condensed;
mod dice;
mod distribution;
mod level;
mod outliers;
mod ratio;
mod student;

pub use self::{
    condensed::Condensed, dice::Dice, distribution::Distribution, level::Level, outliers::Outliers, ratio::Ratio,
};

/// A set of samples, described by numbers that one disturbed sample cannot spoil, and by their scatter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// As many samples are above it as below.
    pub median: f64,
    /// Lower end of the 95 % interval of the median.
    pub low: f64,
    /// Upper end of the 95 % interval of the median.
    pub high: f64,
}

impl Summary {
    /// The summary of `samples`; `None` if there are none.
    pub fn of(samples: &[f64]) -> Option<Self> {
        if samples.is_empty() {
            return None;
        }
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let outside = samples_outside_interval(sorted.len());
        Some(Summary {
            median: median_of_sorted(&sorted),
            low: sorted[outside],
            high: sorted[sorted.len() - 1 - outside],
        })
    }
}

/// The arithmetic mean. Of no samples it is not a number.
pub fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// The standard error of the mean, as a fraction of the mean. A single sample says nothing about it: infinite.
pub fn relative_error(samples: &[f64]) -> f64 {
    if samples.len() < 2 {
        return f64::INFINITY;
    }
    let (count, mean) = (samples.len() as f64, mean(samples));
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    (squares / (count - 1.0) / count).sqrt() / mean
}

fn median_of_sorted(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

/// How many samples at each end lie outside the 95 % interval of the median.
///
/// Each sample is above the true median or below it like the toss of a coin, whatever the distribution. So the chance
/// that the true median is not between the samples number `k` from each end is that of fewer than `k` heads in `count`
/// tosses, or fewer than `k` tails. Fewer than six samples reach 95 % not even with `k = 1`; then it is all of them.
fn samples_outside_interval(count: usize) -> usize {
    const EACH_SIDE: f64 = 0.025;
    // The chance of no heads in some more tosses is 0 to an f64, and all others would be, too.
    const MANY: usize = 1000;
    let tosses = count as f64;
    if count > MANY {
        // So many tosses are normally distributed.
        return (tosses / 2.0 - 0.98 * tosses.sqrt() - 0.5) as usize;
    }
    let (mut outside, mut heads, mut chance) = (0, 0.0, 0.5_f64.powf(tosses));
    let mut fewer = chance;
    while fewer <= EACH_SIDE {
        heads += 1.0;
        chance *= (tosses - heads + 1.0) / heads;
        fewer += chance;
        if fewer <= EACH_SIDE {
            outside += 1;
        }
    }
    outside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_many_samples_goes_on_from_that_of_fewer() {
        let outside: Vec<usize> = (995..1010).map(samples_outside_interval).collect();
        assert!(outside.windows(2).all(|pair| pair[1] - pair[0] <= 1), "{outside:?}");
        assert_eq!(samples_outside_interval(1_000_000), 499_019);
    }

    #[test]
    fn nothing_says_nothing() {
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn one_sample_is_its_own_median_and_sure_of_nothing() {
        let summary = Summary::of(&[7.0]).expect("a sample");
        assert_eq!((summary.median, summary.low, summary.high), (7.0, 7.0, 7.0));
        assert_eq!(relative_error(&[7.0]), f64::INFINITY);
    }

    #[test]
    fn the_median_ignores_order_and_outliers() {
        assert_eq!(Summary::of(&[3.0, 1000.0, 1.0]).expect("samples").median, 3.0);
        assert_eq!(Summary::of(&[4.0, 1.0, 1000.0, 2.0]).expect("samples").median, 3.0);
    }

    #[test]
    fn the_relative_error_is_that_of_the_textbook() {
        // Mean 5, standard deviation sqrt(32 / 7), so the standard error is sqrt(32 / 56).
        let error = relative_error(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert!((error - (32.0_f64 / 56.0).sqrt() / 5.0).abs() < 1e-12);
        assert_eq!(relative_error(&[3.0, 3.0, 3.0]), 0.0);
    }

    /// Against the table that statistics books print: the rank of the lower end is one more than this.
    #[test]
    fn the_interval_has_the_ranks_of_the_printed_tables() {
        for (count, outside) in [(1, 0), (5, 0), (6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (20, 5), (50, 17), (100, 39)]
        {
            assert_eq!(samples_outside_interval(count), outside, "{count} samples");
        }
    }

    #[test]
    fn the_interval_of_many_samples_does_not_underflow_to_nothing() {
        let outside = samples_outside_interval(1000);
        assert!((460..480).contains(&outside), "{outside}");
    }
}
