//! The results, in the one form that all sinks read.

use crate::{environment::Environment, experiment::Experiment, sampler::Series};
use std::time::SystemTime;

/// A kind of figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    /// Its name for machines, with the unit.
    pub column: &'static str,
    /// How many decimals that unit deserves.
    pub decimals: usize,
    /// Its name for people: what it is, and the unit, in which it is [`scale`](Self::scale) times as large.
    pub title: [&'static str; 2],
    /// Units for machines in one unit for people.
    pub scale: f64,
    /// Whether more is better.
    pub more_is_better: bool,
}

/// A setting of an experiment, for machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its name, with the unit.
    pub column: &'static str,
    /// Its value.
    pub value: String,
}

impl Setting {
    /// A setting called `column`.
    pub fn new(column: &'static str, value: impl ToString) -> Self {
        Setting { column, value: value.to_string() }
    }
}

/// All that is known before measuring.
#[derive(Debug, Clone)]
pub struct Preamble {
    /// When it was written.
    pub time: SystemTime,
    /// Where and by which program.
    pub environment: Environment,
    /// The experiment's name.
    pub experiment: &'static str,
    /// Its settings, for machines.
    pub settings: Vec<Setting>,
    /// Its settings, for people.
    pub description: Vec<(&'static str, String)>,
    /// Kinds of figures that it yields.
    pub metrics: &'static [Metric],
}

/// What was measured of one executor.
#[derive(Debug, Clone)]
pub struct Record {
    /// The executor's name.
    pub executor: &'static str,
    /// Valid samples that were taken.
    pub samples: usize,
    /// A figure for each metric, or why there are none.
    pub outcome: Result<Vec<Option<f64>>, String>,
    /// How many times as slow as the best executor of the run.
    pub slowdown: Option<f64>,
}

/// The records of one run, one for each executor, in the order in which they were asked for.
pub fn records<X: Experiment>(experiment: &X, series: &[Series]) -> Vec<Record> {
    let mut records: Vec<Record> = series.iter().map(|series| record(experiment, series)).collect();
    rank(&mut records, experiment.metrics()[0]);
    records
}

fn record<X: Experiment>(experiment: &X, series: &Series) -> Record {
    let outcome = match &series.failure {
        Some(failure) => Err(failure.to_string()),
        None => Ok(experiment.figures(&series.samples)),
    };
    Record { executor: series.name, samples: series.samples.len(), outcome, slowdown: None }
}

/// Compares the first figures, which are of `metric`.
fn rank(records: &mut [Record], metric: Metric) {
    let cost = |record: &Record| {
        let figure = (*record.outcome.as_ref().ok()?.first()?)?;
        Some(if metric.more_is_better { 1.0 / figure } else { figure })
    };
    let best = records.iter().filter_map(cost).fold(f64::INFINITY, f64::min);
    for record in records {
        record.slowdown = cost(record).map(|cost| cost / best);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(outcome: Result<Vec<Option<f64>>, String>) -> Record {
        Record { executor: "some", samples: 1, outcome, slowdown: None }
    }

    fn slowdowns(more_is_better: bool) -> Vec<Option<f64>> {
        let metric = Metric { column: "", decimals: 0, title: ["", ""], scale: 1.0, more_is_better };
        let mut records = [
            record(Ok(vec![Some(2.0)])),
            record(Err("failed".to_owned())),
            record(Ok(vec![Some(8.0)])),
            record(Ok(vec![None])),
        ];
        rank(&mut records, metric);
        records.iter().map(|record| record.slowdown).collect()
    }

    #[test]
    fn the_best_is_compared_with_itself_and_the_others_with_it() {
        assert_eq!(slowdowns(true), [Some(4.0), None, Some(1.0), None]);
        assert_eq!(slowdowns(false), [Some(1.0), None, Some(4.0), None]);
    }
}
