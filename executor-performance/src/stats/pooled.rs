//! A figure of the single times of many samples, and how sure it is.

use super::{Dice, Distribution, Interval, drawn, student};

/// A figure of the single times of all samples together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pooled {
    /// Their mean.
    Mean,
    /// The time that this fraction of them does not exceed.
    Quantile(f64),
}

impl Pooled {
    /// The 95 % interval of that figure, in microseconds. `samples` has the single times of each sample. None if there
    /// are fewer than two, because one does not show how much samples differ.
    ///
    /// By the bootstrap: samples are drawn with replacement, as many as there are. Each draw gives a number. Around the
    /// figure of all samples, the interval is wider than that which has 95 % of these. Samples are drawn,
    /// not single times, because the times of one sample have much in common. The interval is the same for the same
    /// samples and `seed`.
    pub fn interval(self, samples: &[Distribution], seed: u64) -> Option<Interval> {
        let count = samples.len();
        if count < 2 {
            return None;
        }
        let (mut dice, ranks) = (Dice::new(seed), Ranks::of(samples));
        let figure = |drawn: &[usize]| match self {
            Pooled::Mean => mean_us(samples, drawn),
            Pooled::Quantile(quantile) => ranks.quantile(quantile, drawn),
        };
        let mut draw = || (0..count).map(|_| dice.below(count as u64) as usize).collect::<Vec<_>>();
        let Interval { low, high } = drawn::interval(|| figure(&draw()));
        let (middle, wider) = (figure(&(0..count).collect::<Vec<_>>()), widening(count));
        Some(Interval {
            low: (middle - wider * (middle - low)).clamp(0.0, low),
            high: (middle + wider * (high - middle)).max(high),
        })
    }
}

/// How many times as wide an interval of `count` samples must be, because these know little of how much samples differ:
/// draws scatter as a normal distribution with their own variance, whose sum of squares was divided by their number,
/// while a mean differs from the truth as Student's t distribution.
fn widening(count: usize) -> f64 {
    const OUTSIDE: f64 = 0.025;
    let (count, normal) = (count as f64, student::quantile(f64::INFINITY, OUTSIDE));
    student::quantile(count - 1.0, OUTSIDE) / normal * (count / (count - 1.0)).sqrt()
}

/// The mean of all times in the `samples` that were `drawn`.
fn mean_us(samples: &[Distribution], drawn: &[usize]) -> f64 {
    let times = |index: &usize| samples[*index].count() as f64;
    let sum: f64 = drawn.iter().map(|index| samples[*index].mean_us() * times(index)).sum();
    sum / drawn.iter().map(times).sum::<f64>()
}

/// How many times of each sample are at most as long as a given time.
struct Ranks {
    /// All different times that there are, from the shortest.
    times: Vec<f64>,
    /// For each sample, one count for each of `times`.
    counts: Vec<Vec<u64>>,
}

impl Ranks {
    fn of(samples: &[Distribution]) -> Self {
        let mut times: Vec<f64> = samples.iter().flat_map(Distribution::buckets).map(|(time, _)| time).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let counts = |sample: &Distribution| {
            let (mut buckets, mut count) = (sample.buckets().peekable(), 0);
            let up_to = |time: &f64| {
                while let Some((_, number)) = buckets.next_if(|(upper, _)| upper <= time) {
                    count += number;
                }
                count
            };
            times.iter().map(up_to).collect()
        };
        Ranks { counts: samples.iter().map(counts).collect(), times }
    }

    /// The quantile of all times in the samples that were `drawn`.
    fn quantile(&self, quantile: f64, drawn: &[usize]) -> f64 {
        let up_to = |place: usize| drawn.iter().map(|index| self.counts[*index][place]).sum::<u64>();
        let last = self.times.len() - 1;
        let enough = (quantile * up_to(last) as f64).ceil().max(1.0) as u64;
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = (low + high) / 2;
            if up_to(middle) >= enough { high = middle } else { low = middle + 1 }
        }
        self.times[low]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Samples of a hundred times each, which differ by up to `between` microseconds.
    fn samples(dice: &mut Dice, count: usize, between: u64) -> Vec<Distribution> {
        let sample = |_| {
            let base = 100 + dice.below(between);
            let times: Vec<Duration> = (0..100).map(|_| Duration::from_micros(base + dice.below(100))).collect();
            Distribution::of(times).expect("times")
        };
        (0..count).map(sample).collect()
    }

    #[test]
    fn what_does_not_show_how_samples_differ_has_no_interval() {
        assert_eq!(Pooled::Mean.interval(&[], 0), None);
        assert_eq!(Pooled::Mean.interval(&samples(&mut Dice::new(1), 1, 50), 0), None);
    }

    #[test]
    fn no_time_is_less_than_nothing() {
        let samples = [1, 100].map(|micros| Distribution::of([Duration::from_micros(micros)]).expect("a time"));
        let Interval { low, high } = Pooled::Mean.interval(&samples, 0).expect("two samples");
        assert!(low == 0.0 && high > 200.0, "{low} to {high}");
    }

    #[test]
    fn a_quantile_of_all_samples_is_that_of_their_times() {
        let samples = samples(&mut Dice::new(1), 9, 50);
        let all = Distribution::of_condensed(&samples.iter().map(Distribution::condensed).collect::<Vec<_>>());
        let (all, ranks) = (all.expect("times"), Ranks::of(&samples));
        for quantile in [0.001, 0.5, 0.9, 0.99, 1.0] {
            let told = ranks.quantile(quantile, &(0..9).collect::<Vec<_>>());
            assert!((told / all.quantile_us(quantile) - 1.0).abs() < 0.002, "{quantile}: {told}");
        }
    }

    /// `docs/methodology.md` says so.
    #[test]
    fn the_truth_is_in_nine_of_ten_intervals_and_more() {
        const TRIALS: u32 = 100;
        let mut dice = Dice::new(3);
        // The median of sums of two uniformly distributed numbers is their mean.
        let truth = 100.0 + (49.0 + 99.0) / 2.0;
        for (pooled, count) in [5, 10, 20].into_iter().flat_map(|it| [(Pooled::Mean, it), (Pooled::Quantile(0.5), it)])
        {
            let hits = (0..TRIALS).filter(|trial| {
                let samples = samples(&mut dice, count, 50);
                let Interval { low, high } = pooled.interval(&samples, u64::from(*trial)).expect("samples");
                low <= truth + 0.5 && truth - 0.5 <= high
            });
            let part = hits.count() as f64 / f64::from(TRIALS);
            assert!((0.9..=0.99).contains(&part), "{pooled:?} of {count}: {part}");
        }
    }
}
