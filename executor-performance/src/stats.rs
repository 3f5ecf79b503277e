//! What a handful of samples says, and how sure that is.

mod condensed;
mod dice;
mod distribution;
mod drawn;
mod interval;
mod level;
mod median;
mod outliers;
mod permutation;
mod pooled;
mod ratio;
mod student;

pub use self::{
    condensed::Condensed,
    dice::Dice,
    distribution::Distribution,
    interval::Interval,
    level::Level,
    median::median,
    outliers::Outliers,
    permutation::differ,
    pooled::Pooled,
    ratio::{Ratio, Turns},
};

#[cfg(test)]
pub(crate) use self::dice::mock;

use serde::{Deserialize, Serialize};

/// The median of some samples, which one disturbed sample cannot spoil, and how sure that is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// As many samples are above it as below.
    pub median: f64,
    /// Its interval, by the ideal bootstrap.
    #[serde(flatten)]
    pub interval: Interval,
}

impl Estimate {
    /// The estimate of `samples`; `None` if there are none.
    pub fn of(samples: &[f64]) -> Option<Self> {
        if samples.is_empty() {
            return None;
        }
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Estimate { median: median::of_sorted(&sorted), interval: median::interval(&sorted) })
    }
}

/// The arithmetic mean. NaN if there are no samples.
pub fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// The number below which the fraction `part` of the samples lies, interpolated between two of them. There must be at
/// least one sample.
pub(crate) fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

/// The standard error of the mean, as a fraction of the mean. Infinite for a single sample, which says nothing about
/// it, and for none.
pub fn relative_error(samples: &[f64]) -> f64 {
    if samples.len() < 2 {
        return f64::INFINITY;
    }
    let (count, mean) = (samples.len() as f64, mean(samples));
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    (squares / (count - 1.0) / count).sqrt() / mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_says_nothing() {
        assert_eq!(Estimate::of(&[]), None);
    }

    #[test]
    fn one_sample_is_its_own_median_and_sure_of_nothing() {
        let sure = Estimate { median: 7.0, interval: Interval { low: 7.0, high: 7.0 } };
        assert_eq!(Estimate::of(&[7.0]), Some(sure));
        assert_eq!(relative_error(&[7.0]), f64::INFINITY);
    }

    #[test]
    fn the_median_ignores_order_and_outliers() {
        assert_eq!(Estimate::of(&[3.0, 1000.0, 1.0]).expect("samples").median, 3.0);
        assert_eq!(Estimate::of(&[4.0, 1.0, 1000.0, 2.0]).expect("samples").median, 3.0);
    }

    #[test]
    fn the_relative_error_is_that_of_the_textbook() {
        // Mean 5, standard deviation sqrt(32 / 7), so the standard error is sqrt(32 / 56).
        let error = relative_error(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert!((error - (32.0_f64 / 56.0).sqrt() / 5.0).abs() < 1e-12);
        assert_eq!(relative_error(&[3.0, 3.0, 3.0]), 0.0);
    }
}
