//! What somebody's own job costs.

use super::{BurstSample, Bursts, Experiment, Subject, cut::Cut, per_job};
use crate::{
    record::{Metric, Setting},
    sampler::Pace,
    workload::{Load, Work},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use std::{fmt, sync::Arc, time::Duration};

/// Runs somebody's own job over and over.
#[derive(Debug, Clone)]
pub struct Own {
    cut: Cut,
    job: OwnJob,
    patience: Duration,
}

/// Somebody's own job.
#[derive(Clone)]
pub struct OwnJob(Arc<dyn Fn() + Send + Sync>);

impl OwnJob {
    /// That calls `job`.
    pub fn new(job: impl Fn() + Send + Sync + 'static) -> Self {
        OwnJob(Arc::new(job))
    }
}

impl Work for OwnJob {
    fn before(&self) {
        (self.0)();
    }
}

const STAYS: &str = "code cannot go to another process";

impl Serialize for OwnJob {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(ser::Error::custom(STAYS))
    }
}

impl<'de> Deserialize<'de> for OwnJob {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(de::Error::custom(STAYS))
    }
}

impl fmt::Debug for OwnJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnJob").finish_non_exhaustive()
    }
}

const METRICS: &[Metric] =
    &per_job::metrics(["median_ns_per_job", "low95_ns_per_job", "high95_ns_per_job", "cpu_ns_per_job"], "ns/job");

impl Own {
    /// On executors with `threads` workers. All jobs of `load` are this `job`.
    pub fn new(threads: usize, load: Load, job: OwnJob, patience: Duration) -> Self {
        Own { cut: Cut::new(threads, load, false), job, patience }
    }
}

impl Experiment for Own {
    type Turn = Bursts<OwnJob>;

    fn name(&self) -> &'static str {
        "own"
    }

    fn turn(&self) -> Bursts<OwnJob> {
        self.cut.burst(*self.cut.sampled(), self.job.clone(), self.patience)
    }

    fn fit(&mut self, pace: &Pace, subjects: &[Box<dyn Subject<Bursts<OwnJob>>>]) {
        let Own { cut: whole, job, patience } = self.clone();
        self.cut.fit(pace, subjects, |load| whole.burst(load, job.clone(), patience), BurstSample::nanos);
    }

    fn settings(&self) -> Vec<Setting> {
        vec![
            Setting::new("threads", self.cut.threads()),
            Setting::new("amplification", self.cut.asked().amplification()),
            self.cut.jobs_per_sample(),
        ]
    }

    fn description(&self) -> Vec<(&'static str, String)> {
        vec![
            ("threads", self.cut.threads().to_string()),
            ("load", super::describe(self.cut.asked())),
            self.cut.description(),
        ]
    }

    fn metrics(&self) -> &'static [Metric] {
        METRICS
    }

    fn figures(&self, samples: &[BurstSample]) -> Vec<Option<f64>> {
        per_job::figures(samples)
    }
}
