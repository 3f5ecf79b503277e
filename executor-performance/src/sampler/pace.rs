use std::time::Duration;

/// Fewer samples of a process may agree by chance.
pub(super) const ENOUGH: usize = 5;

/// How much is sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Rounds of each process that are discarded.
    pub warm_up: usize,
    /// The minimum number of samples.
    pub min_samples: usize,
    /// The maximum number of samples.
    pub max_samples: usize,
    /// Processes of each executor, one after the other; not more than `min_samples`. More follow if these differ and
    /// there is time.
    pub processes: usize,
    /// The relative standard error that is small enough, as a fraction.
    pub target: f64,
    /// Time after which no round is to end, once there are `min_samples`.
    pub budget: Duration,
}

impl Pace {
    /// After this many samples, intervals are usually small.
    const GOOD_SAMPLES: usize = 10;

    /// For this many processes more than were asked for there should be time, if these differ.
    const SPARE: usize = 2;

    /// Of fewer processes it is not known how much they differ.
    const SEVERAL: usize = 3;

    /// The longest time that a round may take if the minimum number of rounds is to fit into the budget.
    pub fn longest_round(&self) -> Duration {
        self.share(self.least_rounds())
    }

    /// The time that a round should take if that can be chosen.
    pub fn good_round(&self) -> Duration {
        let rounds = if self.processes < Self::SEVERAL {
            self.warm_up_rounds().saturating_add(Self::GOOD_SAMPLES)
        } else {
            (self.processes.saturating_add(Self::SPARE)).saturating_mul(self.warm_up.saturating_add(ENOUGH))
        };
        self.share(rounds.clamp(self.least_rounds(), self.warm_up_rounds().saturating_add(self.max_samples)))
    }

    /// A tenth of the budget is for what is not sampling: trying out, building, shutting down.
    fn share(&self, rounds: usize) -> Duration {
        self.budget.mul_f64(0.9 / rounds as f64)
    }

    /// The minimum number of samples of this process: those of all processes add up to `min_samples`, and are as equal
    /// as possible.
    pub(super) fn least_samples(&self, process: usize) -> usize {
        let of_the_first = |processes| self.min_samples.saturating_mul(processes).div_ceil(self.processes);
        of_the_first(process + 1) - of_the_first(process)
    }

    /// Rounds that are discarded, of all processes.
    fn warm_up_rounds(&self) -> usize {
        self.warm_up.saturating_mul(self.processes)
    }

    /// The budget, for people.
    pub fn budget_in_seconds(&self) -> f64 {
        // Milliseconds are more than enough: parts of a budget are no round numbers.
        (self.budget.as_secs_f64() * 1e3).round() / 1e3
    }

    /// The minimum number of rounds, of all processes.
    pub fn least_rounds(&self) -> usize {
        self.warm_up_rounds().saturating_add(self.min_samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace {
        warm_up: 1,
        min_samples: 5,
        max_samples: 100,
        processes: 1,
        target: 0.01,
        budget: Duration::from_secs(60),
    };

    #[test]
    fn shares_the_budget_among_the_rounds() {
        assert_eq!(PACE.longest_round(), Duration::from_secs(9));
        assert!(PACE.good_round() < PACE.longest_round());
        assert_eq!(Pace { min_samples: 50, ..PACE }.good_round(), Pace { min_samples: 50, ..PACE }.longest_round());
    }

    #[test]
    fn no_number_is_too_large() {
        let pace = Pace { warm_up: usize::MAX, processes: 3, min_samples: usize::MAX, budget: Duration::MAX, ..PACE };
        assert_eq!(pace.least_rounds(), usize::MAX);
        assert!(pace.longest_round() < PACE.longest_round());
    }
}
