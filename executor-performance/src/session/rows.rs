//! What the samples of one run say of each executor.

use crate::{
    experiment::{Experiment, RSE, Sample, SampleOf, costs},
    record::{Costs, Row, Samples, Times},
    sampler::Series,
    stats::{Estimate, Interval, Pooled, Ratio},
};

/// The rows of one run, one for each executor, in the order in which they were asked for. `seed` is for bootstraps.
pub(crate) fn rows<X: Experiment>(experiment: &X, series: &[Series<SampleOf<X>>], seed: u64) -> Vec<Row> {
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
        Some(costs) => with_ends(beside_processes(row, &costs, series.differs || costs.differ(seed))),
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
    pooled.interval(&times.collect::<Option<Vec<_>>>()?, seed)
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

/// Compares the costs of each executor, if it has any, with those of the executor that costs least: by the rounds that
/// all of them have, as an interrupt comes in the middle of a round.
fn slowdowns(costs: &[Option<Costs<'_>>], seed: u64) -> Vec<Option<Ratio>> {
    let rounds = costs.iter().flatten().map(Costs::count).min().unwrap_or_default();
    let costs: Vec<Option<Costs<'_>>> = costs.iter().map(|costs| costs.as_ref()?.first(rounds)).collect();
    let cost = |costs: &Costs<'_>| costs.level().cost();
    let Some(best) = costs.iter().flatten().min_by(|a, b| cost(a).total_cmp(&cost(b))) else {
        return vec![None; costs.len()];
    };
    costs.iter().map(|costs| Ratio::of_turns(&[costs.as_ref()?.beside(best)], seed)).collect()
}

/// `row` with the errors of processes where these `differ`, which samples do not know.
fn beside_processes(mut row: Row, costs: &Costs<'_>, differ: bool) -> Row {
    if let Some(error) = row.figures.get_mut(RSE) {
        *error = Some(costs.relative_error(differ) * 100.0).filter(|error| error.is_finite());
    }
    let Some(reach) = costs.reach().filter(|_| differ) else { return row };
    let figure = row.figures.first().and_then(|(_, figure)| *figure);
    let interval = row.interval.map(|it| figure.map_or(it, |figure| it.reaching(reach, figure)));
    let wider = |it: Estimate| Estimate { interval: it.interval.reaching(reach, it.median), ..it };
    Row { interval, estimate: row.estimate.map(wider), ..row }
}

/// `row` with the ends of its interval among the figures.
fn with_ends(mut row: Row) -> Row {
    let Some(Interval { low, high }) = row.interval else { return row };
    let ends = [("low95_", low), ("high95_", high)];
    for (name, figure) in &mut row.figures {
        // There are none of any but the first figure.
        if let Some((_, end)) = ends.iter().find(|(prefix, _)| name.starts_with(prefix)) {
            *figure = Some(*end);
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiment::{BurstsSample, Latency, burst},
        failure::Failure,
        stats::Outliers,
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
    fn a_round_that_was_interrupted_does_not_count() {
        let samples: [&[f64]; 3] = [&[21.0, 21.0, 21.0], &[10.0, 30.0, 30.0], &[25.0, 25.0]];
        let costs = samples.map(|samples| Costs::of(samples.to_vec(), &[]));
        let values = slowdowns(&costs, 0).into_iter().map(|slowdown| slowdown.expect("a ratio").value);
        assert_eq!(values.map(|value| (value * 100.0).round()).collect::<Vec<_>>(), [105.0, 100.0, 125.0]);
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
        assert!(interval.low < 20_000.0 && interval.high > 41_000.0, "{row:?}");
        let Estimate { median, interval } = row.estimate.expect("an estimate");
        assert!(interval.low < 15_000.0 && median < 22_000.0 && interval.high > 30_000.0, "{row:?}");
    }

    #[test]
    fn processes_that_agree_and_two_that_do_not_leave_errors_to_the_samples() {
        let width = |row: &Row| row.interval.map_or(0.0, |it| it.high / it.low);
        let agreeing = row_of_processes(&[21, 21, 21, 21, 21]);
        assert!(agreeing.figures[RSE].is_some_and(|error| error < 0.2) && width(&agreeing) < 1.01, "{agreeing:?}");
        let two = row_of_processes(&[21, 41]);
        assert!(width(&two) < 2.0, "{two:?}");
    }

    #[test]
    fn nothing_is_compared_if_all_failed() {
        assert_eq!(slowdowns(&[None, None], 0), [None, None]);
    }
}
