//! Two records, side by side: what has become slower?

mod change;
mod comparison;
mod likeness;
mod pair;
#[cfg(test)]
mod simulation;
mod table;
mod warnings;

pub use self::{
    change::{Change, Verdict},
    comparison::{ComparedRun, Comparison},
    likeness::{alike, overlap},
    table::table,
};

use crate::{
    record::{Record, Run},
    view,
};

/// The experiment of `run`, and its settings: a record may have several of the experiment.
fn named(run: &Run) -> String {
    format!("{} with {}", view::experiment(run), view::settings(run))
}

/// The terms of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    /// Differences up to this do not count as real, as a fraction.
    pub threshold: f64,
    /// Whether it is a failure if something has become slower.
    pub fail_on_regression: bool,
    /// Whether unlike records are compared, too.
    pub force: bool,
}

/// A record that others are compared with.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// The record.
    pub record: Record,
    /// How it is compared.
    pub terms: Terms,
}

impl Baseline {
    /// What has changed in `record`. None while it has nothing to compare.
    pub fn compared_with(&self, record: &Record) -> Option<Comparison> {
        Comparison::of(&self.record, record, &self.terms).ok()
    }
}

#[cfg(test)]
pub(crate) mod mock {
    use super::*;
    use crate::record::{Samples, mock::record};

    pub(crate) const TERMS: Terms = Terms { threshold: 0.05, fail_on_regression: true, force: false };

    /// The record, with samples of several processes, which hardly differ.
    pub(crate) fn of_processes() -> Record {
        let mut record = record();
        for row in record.runs.iter_mut().flat_map(|run| &mut run.rows) {
            let Some(it) = row.estimate else { continue };
            let values = [1.0, 1.004, 0.998, 1.002, 1.001, 0.999, 1.003].map(|noise| it.median * noise);
            row.samples = Samples::new(values.to_vec(), &[]).of_processes(&[0, 1, 2, 3, 4, 5, 6]);
        }
        record
    }

    /// A record whose work-stealing pool runs `factor` times as many jobs.
    pub(crate) fn faster(factor: f64) -> Record {
        let mut record = of_processes();
        for run in record.runs.iter_mut().filter(|run| run.experiment == "throughput") {
            let values = &mut run.rows[1].samples.values;
            values.iter_mut().for_each(|value| *value *= factor);
        }
        record
    }

    pub(super) fn verdicts(comparison: &Comparison) -> Vec<Verdict> {
        comparison.changes().map(|change| change.verdict).collect()
    }
}
