use super::{Column, Costs, Run, Samples, Times};
use crate::{
    experiment::{Experiment, RSE, Sample, SampleOf, costs},
    failure::{Failure, says_nothing_about_executor},
    sampler::Series,
    stats::{Outliers, Pooled, Ratio, Summary},
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

/// The 95 % interval of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Its lower end.
    pub low95: f64,
    /// Its upper end.
    pub high95: f64,
}

/// A median, and its 95 % interval.
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
        // Samples from before a failure are kept, but what they say is no result.
        let sound: &[f64] = if error.is_none() { &samples.values } else { &[] };
        let estimate = Summary::of(sound).map(Estimate::from);
        Row {
            executor: executor.to_owned(),
            error,
            figures,
            interval: estimate.map(|Estimate { low95, high95, .. }| Interval { low95, high95 }),
            estimate,
            slowdown: None,
            outliers: Outliers::of(sound),
            samples,
            times,
        }
    }

    /// The same row with the errors of processes where these `differ`, which samples do not know.
    fn beside_processes(mut self, costs: &Costs<'_>, differ: bool) -> Self {
        if let Some(error) = self.figures.get_mut(RSE) {
            *error = Some(costs.relative_error(differ) * 100.0).filter(|error| error.is_finite());
        }
        let Some(reach) = costs.reach().filter(|_| differ) else { return self };
        let (first, median) = (self.figures.first().and_then(|(_, figure)| *figure), self.estimate.map(|it| it.median));
        let wider = |low: f64, high: f64, middle: f64| (low.min(middle / reach), high.max(middle * reach));
        if let (Some(Interval { low95, high95 }), Some(figure)) = (&mut self.interval, first) {
            (*low95, *high95) = wider(*low95, *high95, figure);
        }
        if let (Some(Estimate { low95, high95, .. }), Some(median)) = (&mut self.estimate, median) {
            (*low95, *high95) = wider(*low95, *high95, median);
        }
        self
    }

    /// The same row with the ends of its interval among the figures.
    fn with_ends(mut self) -> Self {
        let Some(Interval { low95, high95 }) = self.interval else { return self };
        let ends = [("low95_", low95), ("high95_", high95)];
        for (name, figure) in &mut self.figures {
            // There are none of any but the first figure.
            if let Some((_, end)) = ends.iter().find(|(prefix, _)| name.starts_with(prefix)) {
                *figure = Some(*end);
            }
        }
        self
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

    /// The ends of its 95 % interval, in the unit for people.
    pub fn interval(&self, run: &Run) -> Option<(f64, f64)> {
        let scale = run.first_column()?.scale;
        // Older records have only the interval of the median, which is not what is shown if single times are pooled.
        // One sample of these has no interval.
        let shown = |median: f64| self.first(run).is_some_and(|figure| (median * scale / figure - 1.0).abs() < 1e-9);
        let of_median = |Estimate { low95, high95, .. }| Interval { low95, high95 };
        let several = self.samples.count() > 1;
        let older = || self.estimate.filter(|estimate| several && shown(estimate.median)).map(of_median);
        self.interval.or_else(older).map(|it| (it.low95 * scale, it.high95 * scale))
    }

    /// What its samples in `run` cost. None if it failed, or has none.
    pub(crate) fn costs(&self, run: &Run) -> Option<Costs<'_>> {
        let more_is_better = run.first_column()?.more_is_better;
        let cost = |value: &f64| if more_is_better { value.recip() } else { *value };
        let Samples { values, process, .. } = &self.samples;
        if self.is_ok() { Costs::of(values.iter().map(cost).collect(), process) } else { None }
    }
}

/// The rows of one run, one for each executor, in the order in which they were asked for. `seed` is for bootstraps.
pub fn rows<X: Experiment>(experiment: &X, series: &[Series<SampleOf<X>>], seed: u64) -> Vec<Row> {
    let slowdowns = slowdowns(&series.iter().map(costs_of).collect::<Vec<_>>(), seed);
    series.iter().zip(slowdowns).map(|(series, slowdown)| Row { slowdown, ..row(experiment, series, seed) }).collect()
}

fn row<X: Experiment>(experiment: &X, series: &Series<SampleOf<X>>, seed: u64) -> Row {
    let figures = match &series.failure {
        Some(failure) => Err(failure.to_string()),
        None => {
            let figures = experiment.figures(&series.samples).into_iter();
            Ok(figures.map(|figure| (figure.metric.column.to_owned(), figure.value)).collect())
        }
    };
    let times = experiment.times(&series.samples).filter(|_| figures.is_ok());
    let samples = Samples::new(values(experiment, &series.samples), &series.usages).of_processes(&series.processes);
    let row = Row::new(series.name, figures, samples, times.map(|times| Times::of(&times)));
    let interval = match experiment.pooled() {
        Some(pooled) if row.is_ok() => pooled_interval(experiment, pooled, &series.samples, seed),
        _ => row.interval,
    };
    let row = Row { interval, ..row };
    match costs_of(series) {
        Some(costs) => row.beside_processes(&costs, series.differs || costs.differ(seed)).with_ends(),
        None => row,
    }
}

/// The interval of the first figure, which follows from single times in microseconds as `pooled` says.
fn pooled_interval<X: Experiment>(
    experiment: &X,
    pooled: Pooled,
    samples: &[SampleOf<X>],
    seed: u64,
) -> Option<Interval> {
    let times = samples.iter().map(|sample| experiment.times(std::slice::from_ref(sample)));
    let (low95, high95) = pooled.interval(&times.collect::<Option<Vec<_>>>()?, seed)?;
    Some(Interval { low95, high95 })
}

/// The first figure of each of the `samples`; none if one of them has none.
fn values<X: Experiment>(experiment: &X, samples: &[SampleOf<X>]) -> Vec<f64> {
    let first = |sample| experiment.figures(std::slice::from_ref(sample))[0].value;
    samples.iter().map(first).collect::<Option<_>>().unwrap_or_default()
}

/// None if it failed, or has no samples.
fn costs_of<S: Sample>(Series { samples, processes, failure, .. }: &Series<S>) -> Option<Costs<'_>> {
    if failure.is_none() { Costs::of(costs(samples), processes) } else { None }
}

/// Compares the costs of each executor, if it has any, with those of the executor that costs least.
fn slowdowns(costs: &[Option<Costs<'_>>], seed: u64) -> Vec<Option<Ratio>> {
    let cost = |costs: &Costs<'_>| costs.level().cost();
    let Some(best) = costs.iter().flatten().min_by(|a, b| cost(a).total_cmp(&cost(b))) else {
        return vec![None; costs.len()];
    };
    costs.iter().map(|costs| Ratio::of_turns(&[costs.as_ref()?.beside(best)], seed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiment::{BurstsSample, Latency, burst},
        workload::{Labour, Load},
    };
    use std::time::Duration;

    #[test]
    fn the_best_is_compared_with_itself_and_the_others_with_it() {
        let costs = |samples: &[f64]| Costs::of(samples.to_vec(), &[]);
        let costs = [costs(&[8.0, 8.0, 8.0]), None, costs(&[2.0, 9.0, 2.0]), costs(&[])];
        let slowdowns = slowdowns(&costs, 0);
        let values: Vec<Option<f64>> =
            slowdowns.iter().map(|slowdown| slowdown.map(|it| (it.value * 1e9).round() / 1e9)).collect();
        assert_eq!(values, [Some(4.0), None, Some(1.0), None]);
        assert!(slowdowns[0].is_some_and(|slowdown| slowdown.low < 1.0 && slowdown.high > 4.0));
    }

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
    fn what_failed_has_samples_but_no_figures() {
        let load = Load::new(1, 1, 0).expect("countable");
        let latency = Latency::new(1, load, Labour::default(), Duration::ZERO, Duration::from_secs(1));
        let sample = |nanos| BurstsSample { bursts: vec![burst(1, nanos)], ..BurstsSample::default() };
        let rows = |failure| {
            let samples = [1, 1, 1, 1, 1, 100].map(|micros| sample(1000 * micros)).into();
            let series =
                Series { name: "channel", samples, usages: Vec::new(), processes: vec![0; 6], differs: false, failure };
            rows(&latency, &[series], 0).remove(0)
        };
        let sound = rows(None);
        assert!(sound.estimate.is_some() && sound.interval.is_some() && sound.outliers.count() == 1, "{sound:?}");
        let failed = rows(Some(Failure::Submission));
        assert_eq!((failed.estimate, failed.interval, failed.outliers), (None, None, Outliers::default()));
        assert_eq!(failed.samples, sound.samples);
    }

    /// A row of processes of eight samples each, which agree within two percent, around these milliseconds.
    fn row_of_processes(millis: &[u64]) -> Row {
        let load = Load::new(1, 1, 0).expect("countable");
        let latency = Latency::new(1, load, Labour::default(), Duration::ZERO, Duration::from_secs(1));
        let all = || {
            millis.iter().enumerate().flat_map(|(process, millis)| {
                (0..8).map(move |sample| (process as u64, millis * (1_000_000 + 2500 * sample)))
            })
        };
        let sample = |nanos| BurstsSample { bursts: vec![burst(1, nanos)], ..BurstsSample::default() };
        let samples = all().map(|(_, nanos)| sample(nanos)).collect();
        let processes = all().map(|(process, _)| process).collect();
        let (usages, differs, failure) = (Vec::new(), false, None);
        rows(&latency, &[Series { name: "channel", samples, usages, processes, differs, failure }], 0).remove(0)
    }

    #[test]
    fn processes_that_differ_more_than_their_samples_widen_errors_and_intervals() {
        let row = row_of_processes(&[21, 21, 21, 39, 41]);
        let (error, interval) = (row.figures[RSE].expect("an error"), row.interval.expect("an interval"));
        assert!((13.0..19.0).contains(&error), "{row:?}");
        // By Student's t distribution of five, around the mean of all single times.
        assert!(interval.low95 < 20_000.0 && interval.high95 > 41_000.0, "{row:?}");
        let estimate = row.estimate.expect("an estimate");
        assert!(estimate.low95 < 15_000.0 && estimate.median < 22_000.0 && estimate.high95 > 30_000.0, "{row:?}");
    }

    #[test]
    fn processes_that_agree_and_two_that_do_not_leave_errors_to_the_samples() {
        let width = |row: &Row| row.interval.map_or(0.0, |it| it.high95 / it.low95);
        let agreeing = row_of_processes(&[21, 21, 21, 21, 21]);
        assert!(agreeing.figures[RSE].is_some_and(|error| error < 0.2) && width(&agreeing) < 1.01, "{agreeing:?}");
        let two = row_of_processes(&[21, 41]);
        assert!(width(&two) < 2.0, "{two:?}");
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

    #[test]
    fn nothing_is_compared_if_all_failed() {
        assert_eq!(slowdowns(&[None, None], 0), [None, None]);
    }
}
