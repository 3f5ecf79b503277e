//! The results, in the one form that all sinks read.

use crate::{
    environment::Environment,
    experiment::{Experiment, SampleOf, costs},
    sampler::Series,
    stats::{Ratio, Summary},
};
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
    /// How many times as much as the best executor of the run it costs.
    pub slowdown: Option<Ratio>,
}

/// The records of one run, one for each executor, in the order in which they were asked for.
pub fn records<X: Experiment>(experiment: &X, series: &[Series<SampleOf<X>>]) -> Vec<Record> {
    let costs =
        series.iter().map(|series| series.failure.is_none().then(|| costs(&series.samples))).collect::<Vec<_>>();
    let slowdowns = slowdowns(&costs);
    series.iter().zip(slowdowns).map(|(series, slowdown)| record(experiment, series, slowdown)).collect()
}

fn record<X: Experiment>(experiment: &X, series: &Series<SampleOf<X>>, slowdown: Option<Ratio>) -> Record {
    let outcome = match &series.failure {
        Some(failure) => Err(failure.to_string()),
        None => Ok(experiment.figures(&series.samples)),
    };
    Record { executor: series.name, samples: series.samples.len(), outcome, slowdown }
}

/// Compares the costs of the samples of each executor, if it has any, with those of the executor whose median is least.
fn slowdowns(costs: &[Option<Vec<f64>>]) -> Vec<Option<Ratio>> {
    let median = |costs: &[f64]| Summary::of(costs).map_or(f64::INFINITY, |summary| summary.median);
    let Some(best) = costs.iter().flatten().min_by(|a, b| median(a).total_cmp(&median(b))) else {
        return vec![None; costs.len()];
    };
    costs.iter().map(|costs| Ratio::of_medians(costs.as_ref()?, best)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_compared_with_itself_and_the_others_with_it() {
        let costs = [Some(vec![8.0, 8.0, 8.0]), None, Some(vec![2.0, 9.0, 2.0]), Some(vec![])];
        let slowdowns = slowdowns(&costs);
        let values: Vec<Option<f64>> = slowdowns.iter().map(|slowdown| slowdown.map(|it| it.value)).collect();
        assert_eq!(values, [Some(4.0), None, Some(1.0), None]);
        assert!(slowdowns[0].is_some_and(|slowdown| slowdown.low < 1.0 && slowdown.high == 4.0));
    }

    #[test]
    fn nothing_is_compared_if_all_failed() {
        assert_eq!(slowdowns(&[None, None]), [None, None]);
    }
}
