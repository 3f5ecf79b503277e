//! Many single times, described by their mean and their quantiles.

use hdrhistogram::Histogram;
use std::time::Duration;

/// Times to three digits; those of more than an hour as an hour.
#[derive(Debug, Clone)]
pub struct Distribution {
    histogram: Histogram<u64>,
    sum: Duration,
    max: Duration,
}

impl Distribution {
    /// The distribution of `times`; `None` if there are none.
    pub fn of(times: impl IntoIterator<Item = Duration>) -> Option<Self> {
        const HOUR: u64 = 3_600_000_000_000;
        let histogram = Histogram::new_with_max(HOUR, 3).expect("an hour to 3 digits is in range");
        let mut distribution = Distribution { histogram, sum: Duration::ZERO, max: Duration::ZERO };
        for time in times {
            distribution.histogram.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
            distribution.sum += time;
            distribution.max = distribution.max.max(time);
        }
        (!distribution.histogram.is_empty()).then_some(distribution)
    }

    /// How many times.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Their mean, in microseconds.
    pub fn mean_us(&self) -> f64 {
        micros(self.sum) / self.count() as f64
    }

    /// The longest of the shortest times that are the fraction `quantile` of all, in microseconds.
    pub fn quantile_us(&self, quantile: f64) -> f64 {
        // The histogram rounds up, also beyond the largest.
        (self.histogram.value_at_quantile(quantile) as f64 / 1e3).min(self.max_us())
    }

    /// Times in microseconds, and how many are about that long, but not longer; all that there are, from the shortest.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let upper = |value: u64| (self.histogram.highest_equivalent(value) as f64 / 1e3).min(self.max_us());
        self.histogram.iter_recorded().map(move |it| (upper(it.value_iterated_to()), it.count_at_value()))
    }

    /// The longest, in microseconds.
    pub fn max_us(&self) -> f64 {
        micros(self.max)
    }
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_times_have_no_distribution() {
        assert!(Distribution::of([]).is_none());
    }

    #[test]
    fn describes_all_times_to_three_digits() {
        let distribution = Distribution::of((1..=100).map(Duration::from_micros)).expect("times");
        assert_eq!((distribution.count(), distribution.mean_us(), distribution.max_us()), (100, 50.5, 100.0));
        for (quantile, micros) in [(0.2, 20.0), (0.5, 50.0), (0.9, 90.0), (0.99, 99.0), (1.0, 100.0)] {
            assert!((distribution.quantile_us(quantile) / micros - 1.0).abs() < 0.002, "{quantile}");
        }
    }

    #[test]
    fn all_times_are_in_buckets() {
        let distribution = Distribution::of([5_000, 1_000, 5_001].map(Duration::from_nanos)).expect("times");
        assert_eq!(distribution.buckets().collect::<Vec<_>>(), [(1.0, 1), (5.001, 2)]);
    }

    #[test]
    fn no_quantile_is_beyond_the_largest() {
        let distribution = Distribution::of([Duration::from_nanos(1_234_567)]).expect("a time");
        assert_eq!(distribution.quantile_us(0.99), 1234.567);
    }
}
