//! What executors are compared by.

use crate::stats::{self, Level, Turns};

/// What the samples of an executor cost, of which there is one at least, and which processes gave them.
pub(crate) struct Costs<'a> {
    samples: Vec<f64>,
    processes: &'a [u64],
    level: Level,
}

impl<'a> Costs<'a> {
    /// Of samples in order, as in [`Level::of`]. None if there are none.
    pub(super) fn of(samples: Vec<f64>, processes: &'a [u64]) -> Option<Self> {
        let level = Level::of(&samples, processes)?;
        Some(Costs { samples, processes, level })
    }

    /// What it costs in general: the best is the one of which this is the least.
    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// The relative standard error of the samples, as a fraction: that by which sampling stops.
    pub(crate) fn relative_error(&self) -> f64 {
        stats::relative_error(&self.samples)
    }

    /// Beside those of another that took turns with it.
    pub(crate) fn beside<'b>(&'b self, below: &'b Costs<'_>) -> Turns<'b> {
        Turns { above: &self.samples, below: &below.samples, processes: self.processes }
    }
}
