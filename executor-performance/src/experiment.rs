//! What is measured. An experiment knows no executor, an executor knows no experiment: they meet in a [`Turn`].

mod bursts;
mod latency;
mod throughput;

pub use self::{bursts::Bursts, latency::Latency, throughput::Throughput};

use crate::{
    failure::Failure,
    record::{Metric, Setting},
    sampler::Pace,
    stats,
    workload::{Burst, Load},
};
use executors::Executor;
use std::{fmt, time::Duration};

/// Something to measure about executors.
pub trait Experiment {
    /// What an executor has to do to give one sample.
    type Turn: Turn;

    /// The experiment's name, as on the command line.
    fn name(&self) -> &'static str;

    /// One turn, as presently fitted.
    fn turn(&self) -> Self::Turn;

    /// Chooses how much one turn does, so that enough of them fit into the time that there is. Tries the subjects out for
    /// that. What a subject fails at here it will fail at again when it is sampled, so failures are not reported.
    fn fit(&mut self, pace: &Pace, subjects: &[Box<dyn Subject<Self::Turn>>]);

    /// The settings, for machines: always the same columns.
    fn settings(&self) -> Vec<Setting>;

    /// The settings, for people: a few lines, each with a title.
    fn description(&self) -> Vec<(&'static str, String)>;

    /// What [`figures`](Self::figures) are figures of. The first is the one by which executors are compared.
    fn metrics(&self) -> &'static [Metric];

    /// What the samples of one executor say, one figure for each metric.
    fn figures(&self, samples: &[Sample]) -> Vec<Option<f64>>;
}

/// A thing to do with an executor that gives one sample.
pub trait Turn {
    /// Does it, on an executor that was just built, and shuts that down.
    ///
    /// # Errors
    ///
    /// If there is no valid sample.
    fn run_on<E: Executor + Sync + 'static>(&self, executor: E) -> Result<Sample, Failure>;
}

/// An executor that can take turns of one kind.
pub trait Subject<T>: fmt::Debug {
    /// The executor's name.
    fn name(&self) -> &'static str;

    /// Builds the executor, takes a turn with it, and shuts it down.
    ///
    /// # Errors
    ///
    /// If there is no valid sample.
    fn take(&self, turn: &T) -> Result<Sample, Failure>;
}

/// What one turn measured.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    /// Jobs that each burst ran.
    pub jobs: u64,
    /// The bursts, in the order in which they ran.
    pub bursts: Vec<Burst>,
}

impl Sample {
    /// The mean time of a burst, in nanoseconds: the number whose scatter decides when to stop.
    pub fn burst_nanos(&self) -> f64 {
        let total: Duration = self.bursts.iter().map(|burst| burst.wall).sum();
        total.as_nanos() as f64 / self.bursts.len() as f64
    }
}

/// The scatter of the samples, by which the sampler decides when it is enough.
const RELATIVE_ERROR: Metric =
    Metric { column: "rse_percent", decimals: 3, title: ["RSE", "%"], scale: 1.0, more_is_better: false };

fn relative_error_percent(samples: &[Sample]) -> Option<f64> {
    Some(relative_error(samples) * 100.0).filter(|error| error.is_finite())
}

/// The relative standard error of the samples, as a fraction.
pub(crate) fn relative_error(samples: &[Sample]) -> f64 {
    let nanos: Vec<f64> = samples.iter().map(Sample::burst_nanos).collect();
    stats::relative_error(&nanos)
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

/// A ratio of two sums over all bursts of all samples. `None` if one is missing, or nothing divides.
fn ratio(
    samples: &[Sample],
    numerator: impl Fn(&Burst) -> Option<Duration>,
    denominator: impl Fn(&Sample, &Burst) -> f64,
) -> Option<f64> {
    let (mut above, mut below) = (Duration::ZERO, 0.0);
    for sample in samples {
        for burst in &sample.bursts {
            above += numerator(burst)?;
            below += denominator(sample, burst);
        }
    }
    (below > 0.0).then(|| above.as_nanos() as f64 / below)
}
