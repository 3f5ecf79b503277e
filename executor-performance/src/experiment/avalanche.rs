//! What a job costs beside its own work, from its submission to its end, when many are given at once.

use super::{BurstSample, Bursts, Experiment, Subject, cut::Cut, per_job};
use crate::{
    record::{Metric, Setting},
    sampler::Pace,
    workload::{Load, Pastime},
};
use std::time::Duration;

/// Lets one thread give many jobs, and waits until all have run.
#[derive(Debug, Clone, Copy)]
pub struct Avalanche {
    cut: Cut,
    work: Pastime,
    patience: Duration,
}

const METRICS: &[Metric] =
    &per_job::metrics(["median_ns_per_job", "low95_ns_per_job", "high95_ns_per_job", "cpu_ns_per_job"], "ns/job");

impl Avalanche {
    /// On executors with `threads` workers. Each message of `load` is a job, which does `work`.
    pub fn new(threads: usize, load: Load, work: Pastime, full_size: bool, patience: Duration) -> Self {
        Avalanche { cut: Cut::new(threads, load, full_size), work, patience }
    }
}

impl Experiment for Avalanche {
    type Turn = Bursts<Pastime>;

    fn name(&self) -> &'static str {
        "avalanche"
    }

    fn turn(&self) -> Bursts<Pastime> {
        self.cut.burst(*self.cut.sampled(), self.work, self.patience)
    }

    fn fit(&mut self, pace: &Pace, subjects: &[Box<dyn Subject<Bursts<Pastime>>>]) {
        let Avalanche { cut: whole, work, patience } = *self;
        self.cut.fit(pace, subjects, |load| whole.burst(load, work, patience), BurstSample::nanos);
    }

    fn settings(&self) -> Vec<Setting> {
        vec![
            Setting::new("threads", self.cut.threads()),
            Setting::new("jobs", self.cut.asked().jobs()),
            Setting::new("work_us", self.work.time().as_micros()),
            self.cut.jobs_per_sample(),
        ]
    }

    fn description(&self) -> Vec<(&'static str, String)> {
        vec![
            ("threads", self.cut.threads().to_string()),
            ("load", format!("{} jobs from one thread", self.cut.asked().jobs())),
            ("each job", per_job::payload(self.work)),
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
