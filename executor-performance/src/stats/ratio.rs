//! How many times as much one series is as another, and how sure that is.

use super::{Dice, median_of_sorted};
use serde::{Deserialize, Serialize};

/// Times that the rounds are drawn anew.
const DRAWS: usize = 1000;

/// Of these, the ones outside the interval at each end: 2.5 %.
const OUTSIDE: usize = DRAWS / 40;

/// The ratio of two medians.
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

impl Ratio {
    /// The ratio of the median of `above` to that of `below`, with a bootstrap interval. `None` if there are no
    /// samples, or the medians have no ratio.
    ///
    /// Samples of the same number belong to the same round, in which both were disturbed alike. So it is rounds that
    /// are drawn, with repetition, as many as there are; each draw gives a ratio, and the interval has 95 % of these.
    /// It is the same for the same samples and `seed`. Of fewer than six it tells little.
    pub fn of_medians(above: &[f64], below: &[f64], seed: u64) -> Option<Self> {
        Self::of_pairs(&[(above, below)], seed)
    }

    /// The geometric mean of the ratios of several pairs, each as in [`of_medians`](Self::of_medians): how many times
    /// as much the first of all pairs are as the second, where each pair weighs the same.
    pub fn of_pairs(pairs: &[(&[f64], &[f64])], seed: u64) -> Option<Self> {
        if pairs.is_empty() || pairs.iter().any(|(above, below)| above.is_empty() || below.is_empty()) {
            return None;
        }
        let mean = |ratios: Vec<f64>| (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let mut dice = Dice::new(seed);
        let mut drawn_of = |(above, below): &(&[f64], &[f64])| {
            let rounds = above.len().min(below.len());
            let drawn: Vec<usize> = (0..rounds).map(|_| dice.below(rounds as u64) as usize).collect();
            let drawn_of = |samples: &[f64]| median(drawn.iter().map(|&round| samples[round]).collect());
            drawn_of(above) / drawn_of(below)
        };
        let value = mean(pairs.iter().map(|(above, below)| median(above.to_vec()) / median(below.to_vec())).collect());
        Self::of_draws(value, || mean(pairs.iter().map(&mut drawn_of).collect()))
    }

    /// The ratio `value`, with the interval that `draw` gives.
    fn of_draws(value: f64, mut draw: impl FnMut() -> f64) -> Option<Self> {
        let mut ratios: Vec<f64> = (0..DRAWS).map(|_| draw()).collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = Ratio { value, low: ratios[OUTSIDE], high: ratios[DRAWS - 1 - OUTSIDE] };
        [ratio.value, ratio.low, ratio.high].iter().all(|number| number.is_finite()).then_some(ratio)
    }
}

pub(super) fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    median_of_sorted(&samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_no_ratio() {
        assert_eq!(Ratio::of_medians(&[], &[1.0], 0), None);
        assert_eq!(Ratio::of_medians(&[1.0], &[0.0], 0), None);
    }

    #[test]
    fn what_is_compared_with_itself_is_one_for_sure() {
        let samples = [3.0, 1.0, 2.0, 10.0];
        assert_eq!(Ratio::of_medians(&samples, &samples, 0), Some(Ratio { value: 1.0, low: 1.0, high: 1.0 }));
    }

    #[test]
    fn what_disturbs_both_does_not_widen_the_interval() {
        let below = [1.0, 5.0, 2.0, 9.0, 3.0, 4.0, 8.0];
        let above = below.map(|sample| 2.0 * sample);
        assert_eq!(Ratio::of_medians(&above, &below, 0), Some(Ratio { value: 2.0, low: 2.0, high: 2.0 }));
    }

    #[test]
    fn the_interval_is_narrower_the_more_samples_there_are_and_has_the_ratio_in_it() {
        let width = |count: usize| {
            let mut dice = Dice::new(7);
            let mut noisy = |middle: f64| (0..count).map(|_| middle + dice.below(100) as f64).collect::<Vec<f64>>();
            let ratio = Ratio::of_medians(&noisy(400.0), &noisy(200.0), 0).expect("a ratio");
            assert!(ratio.low < ratio.value && ratio.value < ratio.high, "{ratio:?}");
            ratio.high - ratio.low
        };
        assert!(width(10) > 2.0 * width(200));
    }
}
