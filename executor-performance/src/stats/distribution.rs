//! Many single times, described by their mean and their quantiles.

use super::Condensed;
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
        let mut distribution = Self::empty();
        distribution.add(times);
        (!distribution.histogram.is_empty()).then_some(distribution)
    }

    /// Adds further `times`.
    pub fn add(&mut self, times: impl IntoIterator<Item = Duration>) {
        for time in times {
            self.histogram.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
            self.sum += time;
            self.max = self.max.max(time);
        }
    }

    /// The distribution of all times in `parts`; `None` if there are none.
    pub fn of_condensed<'a>(parts: impl IntoIterator<Item = &'a Condensed>) -> Option<Self> {
        let mut distribution = Self::empty();
        for part in parts {
            for (nanos, count) in &part.buckets {
                distribution.histogram.saturating_record_n(*nanos, *count);
            }
            distribution.sum += part.sum;
            distribution.max = distribution.max.max(part.max);
        }
        (!distribution.histogram.is_empty()).then_some(distribution)
    }

    /// Its contents in a compact form.
    pub fn condensed(&self) -> Condensed {
        let buckets = self.histogram.iter_recorded().map(|it| (it.value_iterated_to(), it.count_at_value()));
        Condensed { buckets: buckets.collect(), sum: self.sum, max: self.max }
    }

    /// The distribution of no times, to which some will be added.
    pub fn empty() -> Self {
        const HOUR: u64 = 3_600_000_000_000;
        let histogram = Histogram::new_with_max(HOUR, 3).expect("an hour to 3 digits is in range");
        Distribution { histogram, sum: Duration::ZERO, max: Duration::ZERO }
    }

    /// How many times there are.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Their mean, in microseconds.
    pub fn mean_us(&self) -> f64 {
        micros(self.sum) / self.count() as f64
    }

    /// The time that the fraction `quantile` of all times does not exceed, in microseconds.
    pub fn quantile_us(&self, quantile: f64) -> f64 {
        // The histogram rounds up, even beyond the longest time.
        (self.histogram.value_at_quantile(quantile) as f64 / 1e3).min(self.max_us())
    }

    /// The same, unless too few times are longer than that to tell it from the longest: fewer than one.
    pub fn percentile_us(&self, quantile: f64) -> Option<f64> {
        // A little less, because a tenth of ten is 0.9999999999999998.
        const ONE: f64 = 1.0 - 1e-9;
        ((1.0 - quantile) * self.count() as f64 >= ONE).then(|| self.quantile_us(quantile))
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
    fn parts_that_were_condensed_are_as_the_whole() {
        let times = |from: u64| (from..from + 1000).map(|it| Duration::from_nanos(it * it * 1000));
        let part = |from| Distribution::of(times(from)).expect("times").condensed();
        let parts = [part(1), part(1001), Condensed::default()];
        let (whole, joined) = (Distribution::of(times(1).chain(times(1001))), Distribution::of_condensed(&parts));
        let (whole, joined) = (whole.expect("times"), joined.expect("times"));
        assert_eq!(whole.buckets().collect::<Vec<_>>(), joined.buckets().collect::<Vec<_>>());
        assert_eq!((whole.mean_us(), whole.max_us()), (joined.mean_us(), joined.max_us()));
        assert!(Distribution::of_condensed(&[]).is_none());
    }

    #[test]
    fn few_times_have_no_high_percentiles() {
        let of = |count| Distribution::of((1..=count).map(Duration::from_micros)).expect("times");
        for (quantile, enough) in [(0.5, 2), (0.9, 10), (0.99, 100), (0.999, 1000)] {
            assert_eq!(of(enough - 1).percentile_us(quantile), None, "{quantile}");
            assert_eq!(of(enough).percentile_us(quantile), Some(of(enough).quantile_us(quantile)), "{quantile}");
        }
    }

    #[test]
    fn no_quantile_is_beyond_the_largest() {
        let distribution = Distribution::of([Duration::from_nanos(1_234_567)]).expect("a time");
        assert_eq!(distribution.quantile_us(0.99), 1234.567);
    }
}
