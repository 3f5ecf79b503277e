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
    pub(super) fn of(samples: Vec<f64>, processes: &'a [u64]) -> Option<Self> {
        let level = Level::of(&samples, processes)?;
        Some(Costs { samples, processes, level })
    }

    /// What it costs in general. The best executor is the one with the lowest level.
    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// The relative standard error, as a fraction: that of the samples, or that of the processes if these differ and
    /// theirs is larger.
    pub(crate) fn relative_error(&self, seed: u64) -> f64 {
        stats::error(&self.samples, self.processes, seed)
    }

    /// By which factor other processes may cost more or less, if an interval must be made of processes.
    pub(super) fn reach(&self, seed: u64) -> Option<f64> {
        stats::reach(&self.samples, self.processes, seed)
    }

    /// These costs beside those of another executor that took turns with this one.
    pub(crate) fn beside<'b>(&'b self, below: &'b Costs<'_>) -> Turns<'b> {
        Turns { above: &self.samples, below: &below.samples, processes: self.processes }
    }
}
