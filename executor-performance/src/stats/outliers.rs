//! Samples that are far from the others.

use super::quantile;
use serde::{Deserialize, Serialize};

/// How many samples are beyond Tukey's fences.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outliers {
    /// Further from the quartiles than 1.5 times the distance between them, but not severe.
    pub mild: usize,
    /// Further than three times that.
    pub severe: usize,
}

impl Outliers {
    /// The outliers among `samples`. None if there are fewer than five, of which nothing can be said.
    pub fn of(samples: &[f64]) -> Self {
        const FEW: usize = 5;
        if samples.len() < FEW {
            return Outliers::default();
        }
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
        let beyond = |fences: f64| {
            let distance = fences * (high - low);
            samples.iter().filter(|sample| **sample < low - distance || **sample > high + distance).count()
        };
        let (all, severe) = (beyond(1.5), beyond(3.0));
        Outliers { mild: all - severe, severe }
    }

    /// How many there are of both kinds.
    pub fn count(self) -> usize {
        self.mild + self.severe
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_far_away_is_an_outlier() {
        // The quartiles are 2 and 4, so the fences are at -1 and 7, and at -4 and 10.
        assert_eq!(Outliers::of(&[1.0, 2.0, 3.0, 4.0, 6.9]), Outliers { mild: 0, severe: 0 });
        assert_eq!(Outliers::of(&[1.0, 2.0, 3.0, 4.0, 8.0]), Outliers { mild: 1, severe: 0 });
        assert_eq!(Outliers::of(&[-9.0, 2.0, 3.0, 4.0, 1.0]).count(), 1);
        assert_eq!(Outliers::of(&[1.0, 2.0, 3.0, 4.0, 11.0]), Outliers { mild: 0, severe: 1 });
    }

    #[test]
    fn few_samples_have_no_outliers() {
        assert_eq!(Outliers::of(&[1.0, 1.0, 1.0, 100.0]).count(), 0);
    }
}
