use super::{Column, Run, Samples, Times};
use crate::{
    experiment::{Experiment, SampleOf, costs},
    sampler::Series,
    stats::{Outliers, Ratio, Summary},
};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// What was measured of one executor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The executor's name.
    pub executor: String,
    /// Why there are no figures. Missing if all went well.
    pub error: Option<String>,
    /// The figures, by the names of their columns.
    pub figures: IndexMap<String, Option<f64>>,
    /// The middle of the first figures of all samples.
    pub estimate: Option<Estimate>,
    /// How many times as much as the best executor of the run it costs, with its 95 % interval.
    pub slowdown: Option<Ratio>,
    /// Samples that are far from the others.
    pub outliers: Outliers,
    /// The samples themselves.
    pub samples: Samples,
    /// The distribution of single times, if the experiment measures such.
    pub times: Option<Times>,
}

/// A median, and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The median.
    pub median: f64,
    /// Lower end of its 95 % interval.
    pub low95: f64,
    /// Upper end of its 95 % interval.
    pub high95: f64,
}

impl From<Summary> for Estimate {
    fn from(Summary { median, low, high }: Summary) -> Self {
        Estimate { median, low95: low, high95: high }
    }
}

impl Row {
    /// What `samples` and their figures say, or why there are none.
    pub fn new(
        executor: &str,
        figures: Result<IndexMap<String, Option<f64>>, String>,
        samples: Samples,
        times: Option<Times>,
    ) -> Self {
        let (figures, error) = figures.map_or_else(|why| (IndexMap::new(), Some(why)), |figures| (figures, None));
        Row {
            executor: executor.to_owned(),
            error,
            figures,
            estimate: Summary::of(&samples.values).map(Estimate::from),
            slowdown: None,
            outliers: Outliers::of(&samples.values),
            samples,
            times,
        }
    }

    /// Whether there are figures.
    pub fn is_ok(&self) -> bool {
        self.error.is_none()
    }

    /// The figure of that `column`, in the unit for machines.
    pub fn figure(&self, column: &Column) -> Option<f64> {
        self.figures.get(&column.name).copied().flatten()
    }

    /// The figure by which executors are compared, in the unit for people.
    pub fn first(&self, run: &Run) -> Option<f64> {
        let column = run.first_column()?;
        self.figure(column).map(|figure| figure * column.scale)
    }
}

/// The rows of one run, one for each executor, in the order in which they were asked for. The bootstrap begins with
/// `seed`.
pub fn rows<X: Experiment>(experiment: &X, series: &[Series<SampleOf<X>>], seed: u64) -> Vec<Row> {
    let costs =
        series.iter().map(|series| series.failure.is_none().then(|| costs(&series.samples))).collect::<Vec<_>>();
    let slowdowns = slowdowns(&costs, seed);
    series.iter().zip(slowdowns).map(|(series, slowdown)| Row { slowdown, ..row(experiment, series) }).collect()
}

fn row<X: Experiment>(experiment: &X, series: &Series<SampleOf<X>>) -> Row {
    let figures = match &series.failure {
        Some(failure) => Err(failure.to_string()),
        None => {
            let names = experiment.metrics().iter().map(|metric| metric.column.to_owned());
            Ok(names.zip(experiment.figures(&series.samples)).collect())
        }
    };
    let times = experiment.times(&series.samples).filter(|_| figures.is_ok());
    let samples = Samples::new(values(experiment, &series.samples), &series.usages).of_processes(&series.processes);
    Row::new(series.name, figures, samples, times.map(|times| Times::of(&times)))
}

/// The first figure of each of the `samples`; none if one of them has none.
fn values<X: Experiment>(experiment: &X, samples: &[SampleOf<X>]) -> Vec<f64> {
    let first = |sample| experiment.figures(std::slice::from_ref(sample))[0];
    samples.iter().map(first).collect::<Option<_>>().unwrap_or_default()
}

/// Compares the costs of the samples of each executor, if it has any, with those of the executor whose median is least.
fn slowdowns(costs: &[Option<Vec<f64>>], seed: u64) -> Vec<Option<Ratio>> {
    let median = |costs: &[f64]| Summary::of(costs).map_or(f64::INFINITY, |summary| summary.median);
    let Some(best) = costs.iter().flatten().min_by(|a, b| median(a).total_cmp(&median(b))) else {
        return vec![None; costs.len()];
    };
    costs.iter().map(|costs| Ratio::of_medians(costs.as_ref()?, best, seed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_compared_with_itself_and_the_others_with_it() {
        let costs = [Some(vec![8.0, 8.0, 8.0]), None, Some(vec![2.0, 9.0, 2.0]), Some(vec![])];
        let slowdowns = slowdowns(&costs, 0);
        let values: Vec<Option<f64>> = slowdowns.iter().map(|slowdown| slowdown.map(|it| it.value)).collect();
        assert_eq!(values, [Some(4.0), None, Some(1.0), None]);
        assert!(slowdowns[0].is_some_and(|slowdown| slowdown.low < 1.0 && slowdown.high == 4.0));
    }

    #[test]
    fn nothing_is_compared_if_all_failed() {
        assert_eq!(slowdowns(&[None, None], 0), [None, None]);
    }
}
