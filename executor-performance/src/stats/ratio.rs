//! How many times as much one series is as another, and how sure that is.

use super::{Dice, Interval, Level, drawn, median};
use serde::{Deserialize, Serialize};

/// The ratio of two costs, with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The ratio.
    pub value: f64,
    /// Lower end of its 95 % interval.
    #[serde(rename = "low95")]
    pub low: f64,
    /// Upper end of its 95 % interval.
    #[serde(rename = "high95")]
    pub high: f64,
}

/// With fewer rounds, the scatter cannot be estimated.
const ENOUGH: usize = 6;

/// The samples of two executors that took turns: those with the same index are of the same round.
#[derive(Debug, Clone, Copy)]
pub struct Turns<'a> {
    /// The costs of the one.
    pub above: &'a [f64],
    /// The costs of the other.
    pub below: &'a [f64],
    /// The number of the process that gave each, as in [`Level::of`].
    pub processes: &'a [u64],
}

impl Turns<'_> {
    /// Without the samples that only one of them has: an interrupt comes between two turns of one round.
    fn of_whole_rounds(self) -> Self {
        let rounds = self.above.len().min(self.below.len());
        let processes = self.processes.get(..rounds).unwrap_or_default();
        Turns { above: &self.above[..rounds], below: &self.below[..rounds], processes }
    }
}

impl Ratio {
    /// How many times as much `above` costs as `below`: the geometric mean over all `turns`, with equal weights. `None`
    /// if there are no samples, or no ratio.
    ///
    /// Processes are compared, by [`Level::of_turns`]. If there was only one process, rounds are compared, by
    /// medians in pairs with this `seed`; or if there are few rounds, levels with a presumed scatter.
    pub fn of_turns(turns: &[Turns<'_>], seed: u64) -> Option<Self> {
        let turns: Vec<Turns<'_>> = turns.iter().map(|it| it.of_whole_rounds()).collect();
        let level = |it: &Turns<'_>| Level::of_turns(it.above, it.below, it.processes);
        match turns.iter().map(level).collect::<Option<Vec<Level>>>() {
            Some(levels) if !levels.is_empty() => Level::mean_of(&levels).ratio(1),
            _ if turns.iter().any(|it| it.above.len() < ENOUGH) => Self::of_few(&turns),
            _ => Self::of_pairs(&turns.iter().map(|it| (it.above, it.below)).collect::<Vec<_>>(), seed),
        }
    }

    /// The ratio where the scatter cannot be seen, but only presumed, as in [`Level::of`].
    fn of_few(turns: &[Turns<'_>]) -> Option<Self> {
        if !turns.is_empty() && turns.iter().all(|it| !it.above.is_empty() && std::ptr::eq(it.above, it.below)) {
            return Some(Ratio { value: 1.0, low: 1.0, high: 1.0 }); // the best, compared with itself
        }
        let mean_of = |costs: fn(&Turns<'_>) -> Option<Level>| {
            let levels = turns.iter().map(costs).collect::<Option<Vec<Level>>>()?;
            (!levels.is_empty()).then(|| Level::mean_of(&levels))
        };
        let above = mean_of(|it| Level::of(it.above, &[]))?;
        above.relative_to(&mean_of(|it| Level::of(it.below, &[]))?, 1)
    }

    /// How many times as much the first of each pair is as the second: the geometric mean of the ratios of their
    /// medians, with equal weights and a bootstrap interval. `None` if there are no samples, or medians have no ratio.
    ///
    /// Samples of a pair with the same index belong to the same round, in which both were disturbed alike. So rounds
    /// are drawn, with replacement, as many as there are. Each draw gives a ratio, and the interval has 95 % of these.
    /// The interval is the same for the same samples and `seed`. With fewer than six rounds it says little.
    fn of_pairs(pairs: &[(&[f64], &[f64])], seed: u64) -> Option<Self> {
        if pairs.is_empty() || pairs.iter().any(|(above, below)| above.is_empty() || below.is_empty()) {
            return None;
        }
        let mean = |ratios: Vec<f64>| (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let mut dice = Dice::new(seed);
        let mut drawn_of = |(above, below): &(&[f64], &[f64])| {
            let rounds = above.len().min(below.len());
            let drawn: Vec<usize> = (0..rounds).map(|_| dice.below(rounds as u64) as usize).collect();
            let drawn_of = |samples: &[f64]| median(&drawn.iter().map(|&round| samples[round]).collect::<Vec<f64>>());
            drawn_of(above) / drawn_of(below)
        };
        let value = mean(pairs.iter().map(|(above, below)| median(above) / median(below)).collect());
        Self::of_draws(value, || mean(pairs.iter().map(&mut drawn_of).collect()))
    }

    /// The ratio `value`, with the interval that `draw` gives.
    fn of_draws(value: f64, draw: impl FnMut() -> f64) -> Option<Self> {
        let Interval { low, high } = drawn::interval(draw);
        Ratio { value, low, high }.if_finite()
    }

    /// `None` if one of the numbers is infinite or none.
    pub(super) fn if_finite(self) -> Option<Self> {
        [self.value, self.low, self.high].iter().all(|number| number.is_finite()).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::mock::normal;

    fn of_one_pair(above: &[f64], below: &[f64]) -> Option<Ratio> {
        Ratio::of_pairs(&[(above, below)], 0)
    }

    #[test]
    fn nothing_has_no_ratio() {
        assert_eq!(of_one_pair(&[], &[1.0]), None);
        assert_eq!(of_one_pair(&[1.0], &[0.0]), None);
    }

    #[test]
    fn what_is_compared_with_itself_is_one_for_sure() {
        let samples = [3.0, 1.0, 2.0, 10.0];
        assert_eq!(of_one_pair(&samples, &samples), Some(Ratio { value: 1.0, low: 1.0, high: 1.0 }));
    }

    #[test]
    fn what_disturbs_both_does_not_widen_the_interval() {
        let below = [1.0, 5.0, 2.0, 9.0, 3.0, 4.0, 8.0];
        let above = below.map(|sample| 2.0 * sample);
        assert_eq!(of_one_pair(&above, &below), Some(Ratio { value: 2.0, low: 2.0, high: 2.0 }));
    }

    #[test]
    fn processes_are_compared_if_there_are_several() {
        let below = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        let above = [2.0, 2.0, 2.1, 2.1, 2.05, 2.05];
        let turns = |processes| Ratio::of_turns(&[Turns { above: &above, below: &below, processes }], 0);
        let (of_processes, of_rounds) = (turns(&[0, 0, 1, 1, 2, 2]).expect("a ratio"), turns(&[]).expect("a ratio"));
        assert_eq!(Some(of_rounds), of_one_pair(&above, &below));
        assert!(of_processes.low < 2.0 && of_processes.high > 2.1, "{of_processes:?}");
        assert_eq!(Ratio::of_turns(&[], 0), None);
    }

    #[test]
    fn of_a_few_samples_of_one_process_nothing_is_sure() {
        for rounds in 1..ENOUGH {
            let (above, below) = (vec![1.1; rounds], vec![1.0; rounds]);
            let ratio = Ratio::of_turns(&[Turns { above: &above, below: &below, processes: &[] }], 0);
            assert!(
                ratio.is_some_and(|it| it.low < 1.0 && (it.value - 1.1).abs() < 1e-9 && it.high > 1.2),
                "{ratio:?}"
            );
        }
    }

    #[test]
    fn a_round_that_not_both_finished_does_not_count() {
        let (above, below) = ([2.0, 2.0, 2.1, 2.1, 2.05, 2.05, 9.0], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        let processes = [0, 0, 1, 1, 2, 2, 2];
        let ratio = |above, below, processes| Ratio::of_turns(&[Turns { above, below, processes }], 0);
        for (all, whole) in [(&processes[..], &processes[..6]), (&[], &[])] {
            assert_eq!(ratio(&above, &below, all), ratio(&above[..6], &below, whole));
            assert_eq!(ratio(&below, &above, whole), ratio(&below, &above[..6], whole));
        }
    }

    /// `docs/methodology.md` says so. Five processes of ten samples each, where both scatter alike.
    #[test]
    fn processes_have_the_true_ratio_in_their_interval_and_rounds_often_not() {
        const TRIALS: usize = 1000;
        /// Drawing rounds takes longer, and fewer trials are enough for what it has to show.
        const DRAWN: usize = 60;
        let processes: Vec<u64> = (0..50).map(|sample| sample / 10).collect();
        let mut dice = Dice::new(11);
        let mut samples = |middle: f64| {
            let mut of_process = |_| {
                let base = 0.03 * normal(&mut dice);
                (0..10).map(|_| middle * (base + 0.03 * normal(&mut dice)).exp()).collect::<Vec<f64>>()
            };
            (0..5).flat_map(&mut of_process).collect::<Vec<f64>>()
        };
        let (mut of_processes, mut of_rounds) = (0, 0);
        for trial in 0..TRIALS {
            let (above, below) = (samples(1.2), samples(1.0));
            let hit = |processes| {
                let turns = Turns { above: &above, below: &below, processes };
                let ratio = Ratio::of_turns(&[turns], trial as u64).expect("a ratio");
                usize::from(ratio.low <= 1.2 && 1.2 <= ratio.high)
            };
            of_processes += hit(&processes);
            of_rounds += if trial < DRAWN { hit(&[]) } else { 0 };
        }
        let (of_processes, of_rounds) = (of_processes as f64 / TRIALS as f64, of_rounds as f64 / DRAWN as f64);
        assert!((0.93..=0.97).contains(&of_processes), "{of_processes}");
        assert!(of_rounds < 0.8, "{of_rounds}");
    }

    #[test]
    fn the_interval_is_narrower_the_more_samples_there_are_and_has_the_ratio_in_it() {
        let width = |count: usize| {
            let mut dice = Dice::new(7);
            let mut noisy = |middle: f64| (0..count).map(|_| middle + dice.below(100) as f64).collect::<Vec<f64>>();
            let ratio = of_one_pair(&noisy(400.0), &noisy(200.0)).expect("a ratio");
            assert!(ratio.low < ratio.value && ratio.value < ratio.high, "{ratio:?}");
            ratio.high - ratio.low
        };
        assert!(width(10) > 2.0 * width(200));
    }
}
