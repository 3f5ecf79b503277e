//! What executors are compared by.

use crate::stats::{self, Level, Turns};

/// What the samples of an executor cost, and which processes gave them. There is at least one sample.
pub(crate) struct Costs<'a> {
    samples: Vec<f64>,
    processes: &'a [u64],
    level: Level,
}

impl<'a> Costs<'a> {
    /// The costs of samples in order, as in [`Level::of`]. None if there are no samples.
    pub(crate) fn of(samples: Vec<f64>, processes: &'a [u64]) -> Option<Self> {
        let level = Level::of(&samples, processes)?;
        Some(Costs { samples, processes, level })
    }

    /// What it costs in general. The best executor is the one with the lowest level.
    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// How many samples there are.
    pub(crate) fn count(&self) -> usize {
        self.samples.len()
    }

    /// The costs of the first `count` samples. None for more than there are, or none.
    pub(crate) fn first(&self, count: usize) -> Option<Self> {
        Self::of(self.samples.get(..count)?.to_vec(), self.processes.get(..count).unwrap_or_default())
    }

    /// Whether the processes that gave them differ. `seed` is for that test.
    pub(crate) fn differ(&self, seed: u64) -> bool {
        stats::differ(&self.samples, self.processes, seed)
    }

    /// The relative standard error, as a fraction: that of the samples, or that of the processes if these differ and
    /// theirs is larger.
    pub(crate) fn relative_error(&self, differ: bool) -> f64 {
        self.level.error_beside(stats::relative_error(&self.samples), differ)
    }

    /// As [`Level::reach`].
    pub(crate) fn reach(&self) -> Option<f64> {
        self.level.reach()
    }

    /// These costs beside those of another executor that took turns with this one.
    pub(crate) fn beside<'b>(&'b self, below: &'b Costs<'_>) -> Turns<'b> {
        Turns { above: &self.samples, below: &below.samples, processes: self.processes }
    }
}
