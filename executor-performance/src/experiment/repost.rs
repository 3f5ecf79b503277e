//! What it costs to give one's successor to the executor from inside.

use super::{BurstSample, Bursts, Experiment, Subject, cut::Cut, per_job};
use crate::{
    record::{Metric, Setting},
    sampler::Pace,
    workload::{Load, Pastime},
};
use std::time::Duration;

/// Runs a few long chains of jobs that do little or nothing but give the next job to the executor.
#[derive(Debug, Clone, Copy)]
pub struct Repost {
    cut: Cut,
    work: Pastime,
    patience: Duration,
}

const METRICS: &[Metric] =
    &per_job::metrics(["median_ns_per_hop", "low95_ns_per_hop", "high95_ns_per_hop", "cpu_ns_per_hop"], "ns/hop");

impl Repost {
    /// Of executors with `threads` workers. Each message of `load` is a chain, whose jobs do `work`.
    pub fn new(threads: usize, load: Load, work: Pastime, full_size: bool, patience: Duration) -> Self {
        Repost { cut: Cut::new(threads, load, full_size), work, patience }
    }
}

impl Experiment for Repost {
    type Turn = Bursts<Pastime>;

    fn name(&self) -> &'static str {
        "repost"
    }

    fn turn(&self) -> Bursts<Pastime> {
        self.cut.burst(*self.cut.sampled(), self.work, self.patience)
    }

    fn fit(&mut self, pace: &Pace, subjects: &[Box<dyn Subject<Bursts<Pastime>>>]) {
        let Repost { cut: whole, work, patience } = *self;
        self.cut.fit(pace, subjects, |load| whole.burst(load, work, patience), BurstSample::nanos);
    }

    fn settings(&self) -> Vec<Setting> {
        vec![
            Setting::new("threads", self.cut.threads()),
            Setting::new("chains", self.cut.asked().messages()),
            Setting::new("hops_per_chain", self.cut.asked().amplification()),
            Setting::new("work_us", self.work.time().as_micros()),
            Setting::fitted("sampled_hops_per_chain", self.cut.sampled().amplification()),
            self.cut.jobs_per_sample(),
        ]
    }

    fn description(&self) -> Vec<(&'static str, String)> {
        let asked = self.cut.asked();
        vec![
            ("threads", self.cut.threads().to_string()),
            ("load", format!("{} x {} hops (chains x jobs)", asked.messages(), asked.amplification())),
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
