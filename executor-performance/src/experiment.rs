//! What is measured. An experiment knows no executor, an executor knows no experiment: they meet in a [`Turn`].

mod avalanche;
mod blocking;
mod bursts;
mod cut;
mod fairness;
mod fork_join;
mod futures;
mod idle;
mod latency;
mod lifecycle;
mod one_load;
mod open_latency;
mod own;
mod panics;
mod per_job;
mod repost;
mod submit;
mod throughput;
mod wake;

#[cfg(test)]
pub(crate) use self::bursts::mock::burst;
pub(crate) use self::open_latency::columns as open_latency_columns;
pub use self::{
    avalanche::Avalanche,
    blocking::Blocking,
    bursts::{BurstsSample, BurstsTurn},
    fairness::{Fairness, FairnessSample, FairnessTurn},
    fork_join::{Errand, ForkJoin, ForkJoinSample, ForkJoinTurn},
    futures::{Futures, FuturesTurn, Play},
    idle::{Idle, IdleSample, IdleTurn},
    latency::Latency,
    lifecycle::{Lifecycle, LifecycleSample, LifecycleTurn},
    one_load::{OneLoad, Question},
    open_latency::{OpenLatency, OpenLatencySample, OpenLatencyTurn},
    own::OwnJob,
    panics::{Panics, PanicsSample, PanicsTurn},
    repost::Repost,
    submit::{Submit, SubmitSample, SubmitTurn},
    throughput::Throughput,
    wake::{Wake, WakeSample, WakeTurn},
};

use crate::{
    failure::Failure,
    forker::Forker,
    record::{Figure, Metric, Setting},
    sampler::Pace,
    spawner::Spawner,
    stats::{self, Distribution, Estimate, Pooled},
    subject::BuildPlan,
    usage::{Usage, UsageMeter},
    workload::Load,
};
use executors::Executor;
use serde::{Serialize, de::DeserializeOwned};
use std::fmt;

/// Something to measure about executors.
pub trait Experiment {
    /// What an executor has to do to give one sample.
    type Turn: Turn;

    /// The experiment's name in results: as on the command line, if it has no modes.
    fn name(&self) -> &'static str;

    /// One turn, as it is fitted now.
    fn turn(&self) -> Self::Turn;

    /// Chooses how much one turn does, so that enough turns fit into the budget. Tries the subjects out for that.
    /// Failures are not reported: a subject that fails here will fail again when it is sampled.
    fn fit(&mut self, pace: &Pace, subjects: &[Box<dyn Subject<Self::Turn>>]);

    /// The settings, for machines: always the same columns.
    fn settings(&self) -> Vec<Setting>;

    /// The settings, for people: a few lines, each with a title.
    fn description(&self) -> Vec<(&'static str, String)>;

    /// What the samples of one executor say. The figures are always of the same metrics in the same order, also if
    /// there are no samples. Executors are compared by the first.
    fn figures(&self, samples: &[SampleOf<Self>]) -> Vec<Figure>;

    /// The metrics of [`figures`](Self::figures).
    fn metrics(&self) -> Vec<Metric> {
        self.figures(&[]).into_iter().map(|figure| figure.metric).collect()
    }

    /// How the first figure follows from the single times of all samples; none if it is the median of the first figures
    /// of the samples.
    fn pooled(&self) -> Option<Pooled> {
        None
    }

    /// The distribution of single times over all `samples`, if the experiment measures any.
    fn times(&self, _samples: &[SampleOf<Self>]) -> Option<Distribution> {
        None
    }

    /// Whether, with twice as many threads, the first figure should be twice as good.
    fn scales(&self) -> bool {
        false
    }
}

/// What a turn of the experiment `X` measures.
pub type SampleOf<X> = <<X as Experiment>::Turn as Turn>::Sample;

/// What is done with an executor to get one sample.
///
/// Turns are sent to other processes, and samples come back.
pub trait Turn: Serialize + DeserializeOwned + 'static {
    /// What it measures.
    type Sample: Sample + Serialize + DeserializeOwned;

    /// The turn of this round, the first of which is 0; none if it is the same in all rounds.
    fn of_round(&self, _round: u64) -> Option<Self> {
        None
    }

    /// How many threads it has at a time, besides those of the executor and the one that takes it.
    fn own_threads(&self) -> usize {
        1
    }
}

/// A turn that any executor can take.
pub trait JobTurn: Turn {
    /// Builds an executor by `plan`, takes the turn with it, and shuts it down.
    ///
    /// # Errors
    ///
    /// If there is no valid sample.
    fn run_on<E: Executor + Sync + 'static>(&self, plan: &BuildPlan<E>) -> Result<Self::Sample, Failure>;
}

/// A turn for executors that run futures.
pub trait FutureTurn: Turn {
    /// Builds an executor by `plan`, takes the turn with it, and shuts it down.
    ///
    /// # Errors
    ///
    /// If there is no valid sample.
    fn run_on<S: Spawner>(&self, plan: &BuildPlan<S>) -> Result<Self::Sample, Failure>;
}

/// A turn for executors whose jobs can wait for jobs.
pub trait ForkTurn: Turn {
    /// Builds an executor by `plan`, takes the turn with it, and shuts it down.
    ///
    /// # Errors
    ///
    /// If there is no valid sample.
    fn run_on<F: Forker>(&self, plan: &BuildPlan<F>) -> Result<Self::Sample, Failure>;
}

/// What one turn measured.
pub trait Sample {
    /// The number by which executors are compared. Less is better. Its scatter decides when to stop.
    fn cost(&self) -> f64;
}

/// An executor that can take turns of one kind.
pub trait Subject<T: Turn>: fmt::Debug {
    /// The executor's name.
    fn name(&self) -> &'static str;

    /// Builds the executor, takes a turn with it, and shuts it down.
    ///
    /// # Errors
    ///
    /// If there is no valid sample.
    fn take(&self, turn: &T) -> Result<T::Sample, Failure>;

    /// As [`take`](Self::take), and also returns what the process used for it.
    ///
    /// # Errors
    ///
    /// If there is no valid sample.
    fn take_metered(&self, turn: &T) -> Result<(T::Sample, Usage), Failure> {
        let meter = UsageMeter::start();
        self.take(turn).map(|sample| (sample, meter.read()))
    }

    /// Lets a new process take the following turns, unless this process takes them.
    fn renew(&self) {}
}

/// The costs of all samples.
pub(crate) fn costs<S: Sample>(samples: &[S]) -> Vec<f64> {
    samples.iter().map(Sample::cost).collect()
}

/// The relative standard error of the samples, as a fraction.
pub(crate) fn relative_error<S: Sample>(samples: &[S]) -> f64 {
    stats::relative_error(&costs(samples))
}

/// The column of the relative standard error.
pub(crate) const RSE: &str = "rse_percent";

/// The scatter of the samples, by which the sampler decides when there are enough. That of processes may be larger.
fn relative_error_figure<S: Sample>(samples: &[S]) -> Figure {
    let percent = Some(relative_error(samples) * 100.0).filter(|error| error.is_finite());
    Metric::new(RSE, ["RSE", "%"]).figure(percent)
}

/// The median of `values`, and the ends of its 95 % interval, as figures of these three metrics.
fn median_and_interval([median, low, high]: [Metric; 3], values: &[f64]) -> [Figure; 3] {
    let estimate = Estimate::of(values);
    [
        median.figure(estimate.map(|it| it.median)),
        low.figure(estimate.map(|it| it.interval.low)),
        high.figure(estimate.map(|it| it.interval.high)),
    ]
}

/// The median of `values`; none if there are none.
fn median(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| stats::median(values))
}

/// The seed of a round, where `seed` is that of all. No round of a seed below 2^32 has that of another seed.
fn seed_of_round(seed: u64, round: u64) -> u64 {
    seed.wrapping_add(round << 32)
}

/// A time in microseconds.
const fn micros(column: &'static str, name: &'static str) -> Metric {
    Metric::new(column, [name, "us"])
}

/// A time in microseconds for machines, and in milliseconds for people.
const fn millis(column: &'static str, name: &'static str) -> Metric {
    Metric::new(column, [name, "ms"]).scaled(1e-3)
}

/// The ends of the interval of the first figure, where that is of single times: the row fills them in, which knows the
/// samples of all processes.
fn ends_of_interval(time: fn(&'static str, &'static str) -> Metric, [low, high]: [&'static str; 2]) -> [Figure; 2] {
    [(low, "95% low"), (high, "95% high")].map(|(column, name)| time(column, name).figure(None))
}

/// The percentile of `times` that `part` of them do not exceed, as a figure of this metric; none if it would be the
/// longest.
fn percentile(metric: Metric, times: Option<&Distribution>, part: f64) -> Figure {
    metric.figure(times.and_then(|times| times.percentile_us(part)))
}

/// How many threads there are, for people, if all of them were started before.
fn assembled(threads: usize) -> (&'static str, String) {
    ("threads", format!("{threads}, all there after as many jobs that waited for each other"))
}

fn describe(load: &Load) -> String {
    format!(
        "{} x {} x (1 + {}) = {} jobs (producers x messages x (1 + amplification))",
        load.producers(),
        load.messages(),
        load.amplification(),
        load.jobs()
    )
}

#[cfg(test)]
pub(crate) mod mock {
    use super::Figure;

    /// The value that the metric called `column` has among `figures`.
    pub(crate) fn value(figures: &[Figure], column: &str) -> Option<f64> {
        figures.iter().find(|figure| figure.metric.column == column).expect(column).value
    }

    /// The values of all `figures`.
    pub(crate) fn values(figures: &[Figure]) -> Vec<Option<f64>> {
        figures.iter().map(|figure| figure.value).collect()
    }
}
