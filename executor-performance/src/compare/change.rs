//! How one executor has changed from one record to the next.

use crate::stats::Ratio;
use std::fmt;

/// How one executor has changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Its name.
    pub executor: String,
    /// The median of its samples before, in the unit for people.
    pub old: f64,
    /// The median of its samples now. None if it fails.
    pub new: Option<f64>,
    /// How many times as much it costs now. None if it fails.
    pub cost: Option<Ratio>,
    /// How much its processes differ: the standard deviation, as a fraction; the larger one of both records. None if a
    /// record has only one process, or the executor fails.
    pub noise: Option<f64>,
    /// What to make of the change.
    pub verdict: Verdict,
}

/// What to make of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It costs less, for sure.
    Faster,
    /// It costs as much, or the difference does not matter, for sure.
    Same,
    /// It costs more, for sure.
    Slower,
    /// The samples do not decide it.
    Unsure,
    /// It worked before, and fails now.
    Failed,
}

impl Verdict {
    /// The verdict on `cost`, where differences up to `threshold` do not matter.
    pub(super) fn of(cost: &Ratio, threshold: f64) -> Self {
        let (best, worst) = (1.0 / (1.0 + threshold), 1.0 + threshold);
        if cost.low > worst {
            Verdict::Slower
        } else if cost.high < best {
            Verdict::Faster
        } else if cost.low >= best && cost.high <= worst {
            Verdict::Same
        } else {
            Verdict::Unsure
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Faster => "faster",
            Verdict::Same => "same",
            Verdict::Slower => "SLOWER",
            Verdict::Unsure => "unsure",
            Verdict::Failed => "FAILED",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_needs_the_whole_interval() {
        let verdict = |low, high| Verdict::of(&Ratio { value: (low + high) / 2.0, low, high }, 0.05);
        assert_eq!(verdict(1.06, 1.2), Verdict::Slower);
        assert_eq!(verdict(1.04, 1.2), Verdict::Unsure);
        assert_eq!(verdict(0.97, 1.04), Verdict::Same);
        assert_eq!(verdict(0.5, 0.9), Verdict::Faster);
        assert_eq!(verdict(0.5, 1.5), Verdict::Unsure);
    }
}
