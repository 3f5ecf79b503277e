use super::{Column, Costs, Run, Samples, Times};
use crate::{
    failure::{Failure, says_nothing_about_executor},
    stats::{Estimate, Interval, Outliers, Ratio},
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
    /// The 95 % interval of the first figure. Missing in older records.
    #[serde(default)]
    pub interval: Option<Interval>,
    /// The median of the first figures of all samples, and its interval. Like the interval and the outliers, none if
    /// there are no figures; but older records have them then.
    pub estimate: Option<Estimate>,
    /// How many times as much as the best executor of the run it costs, with its 95 % interval.
    pub slowdown: Option<Ratio>,
    /// Samples that are far from the others.
    pub outliers: Outliers,
    /// The samples themselves.
    pub samples: Samples,
    /// The distribution of single times, if the experiment measures any.
    pub times: Option<Times>,
}

/// What became of an executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// There are figures.
    Measured,
    /// It failed.
    Failed,
    /// There are no figures, but that says nothing about the executor: the run was interrupted before, or no executor
    /// could have been measured.
    NotMeasured,
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
        // Samples from before a failure are kept, but what they say is no result.
        let sound: &[f64] = if error.is_none() { &samples.values } else { &[] };
        let estimate = Estimate::of(sound);
        Row {
            executor: executor.to_owned(),
            error,
            figures,
            interval: estimate.map(|it| it.interval),
            estimate,
            slowdown: None,
            outliers: Outliers::of(sound),
            samples,
            times,
        }
    }

    /// Whether there are figures.
    pub fn is_ok(&self) -> bool {
        self.error.is_none()
    }

    /// What became of it.
    pub fn status(&self) -> Status {
        match &self.error {
            None => Status::Measured,
            Some(why) if says_nothing_about_executor(why) => Status::NotMeasured,
            Some(_) => Status::Failed,
        }
    }

    /// Whether it was not measured because the run was interrupted before.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.error.as_ref() == Some(&Failure::Interrupted.to_string())
    }

    /// The figure in `column`, in the unit for machines.
    pub fn figure(&self, column: &Column) -> Option<f64> {
        self.figures.get(&column.name).copied().flatten()
    }

    /// The figure by which executors are compared, in the unit for people.
    pub fn first(&self, run: &Run) -> Option<f64> {
        let column = run.first_column()?;
        self.figure(column).map(|figure| figure * column.scale)
    }

    /// Its 95 % interval, in the unit for people.
    pub fn interval(&self, run: &Run) -> Option<Interval> {
        let scale = run.first_column()?.scale;
        // Older records have only the interval of the median, which is not what is shown if single times are pooled.
        // One sample of these has no interval.
        let shown = |median: f64| self.first(run).is_some_and(|figure| (median * scale / figure - 1.0).abs() < 1e-9);
        let several = self.samples.count() > 1;
        let older = || self.estimate.filter(|it| several && shown(it.median)).map(|it| it.interval);
        self.interval.or_else(older).map(|it| it.scaled(scale))
    }

    /// What its samples in `run` cost. None if it failed, or has none.
    pub(crate) fn costs(&self, run: &Run) -> Option<Costs<'_>> {
        let more_is_better = run.first_column()?.more_is_better;
        let cost = |value: &f64| if more_is_better { value.recip() } else { *value };
        let Samples { values, process, .. } = &self.samples;
        if self.is_ok() { Costs::of(values.iter().map(cost).collect(), process) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_better_costs_less_and_what_failed_nothing() {
        let record = crate::record::mock::record();
        for run in &record.runs {
            let costs: Vec<Option<f64>> =
                run.rows.iter().map(|row| row.costs(run).map(|it| it.level().cost())).collect();
            // Of jobs per second in the first run, of microseconds in the last.
            assert!(costs[1] < costs[0] && costs[1] > Some(0.0), "{costs:?}");
            assert!(costs[2..].iter().all(Option::is_none), "{costs:?}");
        }
    }

    #[test]
    fn an_interval_that_is_not_of_what_is_shown_is_left_out() {
        let record = crate::record::mock::record();
        let interval = |run: &Run, figure: f64| {
            let row = Row { interval: None, ..run.rows[0].clone() };
            let figures = row.figures.iter().map(|(name, _)| (name.clone(), Some(figure))).collect();
            Row { figures, ..row }.interval(run)
        };
        let (run, median) = (&record.runs[0], record.runs[0].rows[0].estimate.map_or(0.0, |it| it.median));
        assert_eq!(interval(run, median), run.rows[0].interval(run));
        assert_eq!(interval(run, 1.1 * median), None);
    }
}
