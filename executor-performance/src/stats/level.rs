//! What something costs in general, as far as a few processes can tell.

use super::{Ratio, mean, median, student};

/// How much processes may differ if only one was seen: the standard deviation of the logarithm, 10 %. This is a choice:
/// two runs in a row of one program are between 2 and 13 % apart on a fairly quiet virtual machine.
const UNSEEN: f64 = 0.1;

/// How many pieces the samples are cut into, if there is only one process.
const BLOCKS: usize = 5;

/// How many processes show how much these differ. Two hardly do: by Student's t distribution, their interval is more
/// than ten times as wide as the distance between them.
const SEVERAL: f64 = 3.0;

/// The logarithm of what something costs, and how far it may be from what other processes would give.
///
/// Samples of one process have much in common that those of the next process do not have: where its memory lies, which
/// threads share a core. So processes count, not samples. Each gives one number, the median of its samples. The scatter
/// of these numbers includes everything that differs between processes, and what drifts from one to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    mean: f64,
    /// The variance of the mean, and how many degrees of freedom that was estimated with.
    variance: f64,
    freedom: f64,
    /// The standard deviation of processes, if there are several.
    noise: Option<f64>,
}

impl Level {
    /// The level of the `costs` of samples, in order. `processes` has the number of the process of each, in the same
    /// order, or is empty if there was only one process. None if there are no samples.
    pub fn of(costs: &[f64], processes: &[u64]) -> Option<Self> {
        if costs.is_empty() {
            return None;
        }
        let groups = by_process(costs, processes);
        if groups.len() > 1 {
            return Some(Self::of_numbers(&logs(groups)));
        }
        // Drift can be seen in one process, too; everything else can only be guessed.
        let blocks = logs(costs.chunks(costs.len().div_ceil(BLOCKS)).collect());
        let drift = if blocks.len() > 1 { variance(&blocks) / blocks.len() as f64 } else { 0.0 };
        let all = drift + UNSEEN * UNSEEN;
        let freedom = freedom(all, drift * drift / (blocks.len() - 1).max(1) as f64);
        Some(Level { mean: median(costs).ln(), variance: all, freedom, noise: None })
    }

    /// The level of how many times as much `above` costs as `below`, which took turns: samples with the same index are
    /// of the same round, and `processes` has the number of its process. What disturbs both alike does not count. None
    /// if they did not take turns, or there was only one process.
    pub fn of_turns(above: &[f64], below: &[f64], processes: &[u64]) -> Option<Self> {
        let (above, below) = (by_process(above, processes), by_process(below, processes));
        if above.len() != below.len() || above.len() < 2 {
            return None;
        }
        let changes: Vec<f64> = logs(above).iter().zip(logs(below)).map(|(above, below)| above - below).collect();
        Some(Self::of_numbers(&changes))
    }

    /// The mean of all `levels`, with equal weights. There must be at least one.
    pub fn mean_of(levels: &[Level]) -> Self {
        let count = levels.len() as f64;
        let sum = |number: fn(&Level) -> f64| levels.iter().map(number).sum::<f64>();
        let variance = sum(|level| level.variance);
        let freedom = freedom(variance, sum(Level::share));
        Level { mean: sum(|level| level.mean) / count, variance: variance / (count * count), freedom, noise: None }
    }

    /// The level of `numbers`, of which each process gave one.
    fn of_numbers(numbers: &[f64]) -> Self {
        let (variance, count) = (variance(numbers), numbers.len() as f64);
        Level { mean: mean(numbers), variance: variance / count, freedom: count - 1.0, noise: Some(variance.sqrt()) }
    }

    /// The standard deviation of processes, as a fraction. None if there was only one, so that it is not known.
    pub fn noise(&self) -> Option<f64> {
        self.noise
    }

    /// The noise that is presumed if it is not known.
    pub const fn presumed_noise() -> f64 {
        UNSEEN
    }

    /// What it costs: the geometric mean of processes.
    pub fn cost(&self) -> f64 {
        self.mean.exp()
    }

    /// How far that may be from what other processes would give: the standard error, as a fraction.
    pub fn error(&self) -> f64 {
        self.variance.sqrt()
    }

    /// The relative standard error of what is measured, as a fraction: that `of_samples` or, if there were several
    /// processes which [`differ`](super::differ()), that of these where it is larger.
    pub fn error_beside(&self, of_samples: f64, differ: bool) -> f64 {
        // Where a process costs nothing, the error of processes is not a number, and does not count.
        if differ && self.is_of_several() { of_samples.max(self.error()) } else { of_samples }
    }

    /// How many times as much or as little as they do on average other processes may give, with a probability of 95 %,
    /// if there were several: an interval for those which [`differ`](super::differ()), so that it cannot be made of
    /// their samples.
    pub fn reach(&self) -> Option<f64> {
        let Ratio { value, high, .. } = Some(self).filter(|level| level.is_of_several())?.ratio(1)?;
        Some(high / value)
    }

    /// Whether there were enough processes to show how much these differ.
    pub fn is_of_several(&self) -> bool {
        self.noise.is_some() && self.freedom + 1.0 >= SEVERAL
    }

    /// How many times as much this is as `below`, with an interval. In `many` comparisons, all intervals together have
    /// the truth in them with a probability of 95 %. None if the levels have no ratio.
    ///
    /// By Welch's test: both sides may scatter differently. The probability of an error is shared evenly (Bonferroni).
    pub fn relative_to(&self, below: &Level, many: usize) -> Option<Ratio> {
        let variance = self.variance + below.variance;
        let freedom = freedom(variance, self.share() + below.share());
        Level { mean: self.mean - below.mean, variance, freedom, noise: None }.ratio(many)
    }

    /// The ratio of which this is the logarithm, with an interval as in [`relative_to`](Self::relative_to). None if a
    /// cost was 0 or infinite, even if only in one of several processes: its logarithm has no mean.
    pub fn ratio(&self, many: usize) -> Option<Ratio> {
        const OUTSIDE: f64 = 0.025;
        let Level { mean, variance, freedom, .. } = *self;
        if !(mean.is_finite() && variance.is_finite()) {
            return None;
        }
        let tail = OUTSIDE / many.max(1) as f64;
        let reach = if variance > 0.0 { student::quantile(freedom, tail) * variance.sqrt() } else { 0.0 };
        Ratio { value: mean.exp(), low: (mean - reach).exp(), high: (mean + reach).exp() }.if_finite()
    }

    fn share(&self) -> f64 {
        self.variance * self.variance / self.freedom
    }
}

/// The samples of each process.
pub(super) fn by_process<'a>(costs: &'a [f64], processes: &[u64]) -> Vec<&'a [f64]> {
    if processes.len() != costs.len() {
        return vec![costs];
    }
    let lengths = processes.chunk_by(|a, b| a == b).map(<[u64]>::len);
    let starts = lengths.scan(0, |end, length| {
        *end += length;
        Some(&costs[*end - length..*end])
    });
    starts.collect()
}

/// The degrees of freedom of a sum with this `variance`, where `shares` is the sum of the shares of its parts (Welch
/// and Satterthwaite).
fn freedom(variance: f64, shares: f64) -> f64 {
    variance * variance / shares
}

/// One number of each group of samples.
fn logs(groups: Vec<&[f64]>) -> Vec<f64> {
    groups.into_iter().map(|group| median(group).ln()).collect()
}

fn variance(numbers: &[f64]) -> f64 {
    let middle = mean(numbers);
    numbers.iter().map(|number| (number - middle).powi(2)).sum::<f64>() / (numbers.len() - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Dice, mock::normal, relative_error};

    #[test]
    fn processes_count_and_not_samples() {
        let processes = [0, 0, 0, 1, 1, 1];
        let level = Level::of(&[1.0, 1.0, 1.0, 1.1, 1.1, 1.1], &processes).expect("samples");
        let noise = level.noise().expect("two processes");
        assert!((noise - 1.1_f64.ln() / 2.0_f64.sqrt()).abs() < 1e-9, "{noise}");
        let ratio = level.relative_to(&level, 1).expect("a ratio");
        // Two processes on each side are next to nothing.
        assert!(ratio.value == 1.0 && ratio.low < 0.85 && ratio.high > 1.2, "{ratio:?}");
    }

    #[test]
    fn one_process_does_not_know_what_the_next_would_say() {
        let one = |cost| Level::of(&[cost; 100], &[]).expect("samples");
        assert_eq!(one(1.0).noise(), None);
        let ratio = one(1.13).relative_to(&one(1.0), 1).expect("a ratio");
        assert!(ratio.low < 1.0 && ratio.high < 1.6, "{ratio:?}");
        let ratio = one(2.0).relative_to(&one(1.0), 1).expect("a ratio");
        assert!(ratio.low > 1.4, "{ratio:?}");
    }

    #[test]
    fn drift_within_one_process_widens_the_interval() {
        let steady = Level::of(&[1.0; 50], &[]).expect("samples");
        let drifting: Vec<f64> = (0..50).map(|index| 1.0 + f64::from(index) / 50.0).collect();
        let drifting = Level::of(&drifting, &[]).expect("samples");
        let width = |level: &Level| {
            let ratio = level.relative_to(&steady, 1).expect("a ratio");
            ratio.high / ratio.low
        };
        assert!(width(&drifting) > 1.1 * width(&steady));
    }

    #[test]
    fn more_comparisons_are_less_sure_each() {
        let mut dice = Dice::new(3);
        let costs: Vec<f64> = (0..5).map(|_| 1.0 + 0.02 * normal(&mut dice)).collect();
        let level = Level::of(&costs, &[0, 1, 2, 3, 4]).expect("samples");
        let width = |many| level.relative_to(&level, many).map(|ratio| ratio.high - ratio.low).expect("a ratio");
        assert!(width(20) > 1.5 * width(1));
    }

    #[test]
    fn what_disturbs_both_in_turn_does_not_widen_the_interval() {
        let (below, processes) = ([1.0, 5.0, 2.0, 9.0, 3.0, 4.0], [0, 0, 1, 1, 2, 2]);
        let above = below.map(|cost| 2.0 * cost);
        let level = Level::of_turns(&above, &below, &processes).expect("three processes");
        let ratio = level.ratio(1).expect("a ratio");
        assert!([ratio.low, ratio.value, ratio.high].iter().all(|it| (it - 2.0).abs() < 1e-9), "{ratio:?}");
        assert_eq!(Level::of_turns(&above, &below, &[]), None);
        assert_eq!(Level::of_turns(&above, &below[..5], &processes), None);
    }

    #[test]
    fn a_mean_of_levels_is_surer_than_each() {
        let one = Level::of(&[1.0, 1.1, 0.9], &[0, 1, 2]).expect("samples");
        let (ratio, alone) = (Level::mean_of(&[one; 4]).ratio(1).expect("a ratio"), one.ratio(1).expect("a ratio"));
        assert!((ratio.value - alone.value).abs() < 1e-9 && ratio.high - ratio.low < 0.4 * (alone.high - alone.low));
    }

    #[test]
    fn errors_are_those_of_processes_only_where_these_differ() {
        let (costs, processes) = ([1.0, 1.01, 1.2, 1.21, 1.4, 1.41], [0, 0, 1, 1, 2, 2]);
        let of = |samples| Level::of(&costs[..samples], &processes[..samples]).expect("samples");
        let (level, of_samples) = (of(6), relative_error(&costs));
        assert!(level.error() > of_samples);
        assert_eq!(level.error_beside(of_samples, true), level.error());
        assert_eq!(level.error_beside(of_samples, false), of_samples);
        assert_eq!(of(4).error_beside(0.01, true), 0.01, "two are not enough");
        assert!(level.reach().is_some_and(|reach| reach > 1.1) && of(4).reach().is_none());
    }

    #[test]
    fn nothing_has_no_level() {
        assert_eq!(Level::of(&[], &[]), None);
        let (none, one) = (Level::of(&[0.0], &[]).expect("a sample"), Level::of(&[1.0], &[]).expect("a sample"));
        assert_eq!(one.relative_to(&none, 1), None);
    }

    #[test]
    fn one_process_that_costs_nothing_leaves_no_ratio() {
        let processes = [0, 1, 2];
        let level = |costs: &[f64]| Level::of(costs, &processes).expect("samples");
        for unusual in [0.0, f64::INFINITY] {
            let (some, all) = (level(&[1.0, unusual, 1.1]), level(&[1.0, 0.9, 1.1]));
            assert_eq!((some.relative_to(&all, 1), all.relative_to(&some, 1)), (None, None), "{unusual}");
            assert_eq!(some.ratio(1), None, "{unusual}");
        }
    }
}
