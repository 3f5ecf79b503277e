//! What an empty job costs, from its submission to its end, when many are given at once.

use super::{BurstSample, Bursts, Experiment, Sample, Subject, cut::Cut, per_job};
use crate::{
    record::{Metric, Setting},
    sampler::Pace,
    workload::Load,
};
use std::time::Duration;

/// Lets one thread give many empty jobs, and waits until all have run.
#[derive(Debug, Clone, Copy)]
pub struct Avalanche {
    cut: Cut,
    patience: Duration,
}

const METRICS: &[Metric] =
    &per_job::metrics(["median_ns_per_job", "low95_ns_per_job", "high95_ns_per_job", "cpu_ns_per_job"], "ns/job");

impl Avalanche {
    /// On executors with `threads` workers. Each message of `load` is a job.
    pub fn new(threads: usize, load: Load, full_size: bool, patience: Duration) -> Self {
        Avalanche { cut: Cut::new(threads, load, full_size), patience }
    }
}

impl Experiment for Avalanche {
    type Turn = Bursts<()>;

    fn name(&self) -> &'static str {
        "avalanche"
    }

    fn turn(&self) -> Bursts<()> {
        self.cut.burst(*self.cut.sampled(), (), self.patience)
    }

    fn fit(&mut self, pace: &Pace, subjects: &[Box<dyn Subject<Bursts<()>>>]) {
        let (whole, patience) = (self.cut, self.patience);
        self.cut.fit(pace, subjects, |load| whole.burst(load, (), patience), BurstSample::cost);
    }

    fn settings(&self) -> Vec<Setting> {
        vec![
            Setting::new("threads", self.cut.threads()),
            Setting::new("jobs", self.cut.asked().jobs()),
            self.cut.jobs_per_sample(),
        ]
    }

    fn description(&self) -> Vec<(&'static str, String)> {
        vec![
            ("threads", self.cut.threads().to_string()),
            ("load", format!("{} empty jobs from one thread", self.cut.asked().jobs())),
            self.cut.description(),
        ]
    }

    fn metrics(&self) -> &'static [Metric] {
        METRICS
    }

    fn scales(&self) -> bool {
        true
    }

    fn figures(&self, samples: &[BurstSample]) -> Vec<Option<f64>> {
        per_job::figures(samples)
    }
}
