//! What it costs a thread to give jobs to an executor, whatever becomes of them.

mod hold;

use self::hold::Hold;
use super::{Experiment, JobTurn, Sample, Subject, Turn, bursts, cut::Cut, per_job::nanos};
use crate::{
    failure::Failure,
    record::{Figure, Setting},
    sampler::Pace,
    subject::BuildPlan,
    workload::{Burst, Load, Relay},
};
use executors::Executor;
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};

/// Lets producers give single jobs and looks at the clock when the last producer is done, and again when the last job
/// is.
#[derive(Debug, Clone, Copy)]
pub struct Submit {
    cut: Cut,
    sleep: Duration,
    patience: Duration,
}

impl Submit {
    /// For executors with `threads` workers. Each message of `load` is a job, which sleeps for `sleep` if it begins
    /// while jobs are submitted.
    pub fn new(threads: usize, load: Load, sleep: Duration, full_size: bool, patience: Duration) -> Self {
        Submit { cut: Cut::new(threads, load, full_size), sleep, patience }
    }

    fn turn_with(&self, load: Load) -> SubmitTurn {
        SubmitTurn { load, sleep: self.sleep, primer: self.cut.primer(), patience: self.patience }
    }
}

/// One load, submitted and run.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct SubmitTurn {
    load: Load,
    sleep: Duration,
    primer: Load,
    patience: Duration,
}

impl Turn for SubmitTurn {
    type Sample = SubmitSample;

    fn own_threads(&self) -> usize {
        self.load.producers()
    }
}

impl JobTurn for SubmitTurn {
    fn run_on<E: Executor + Sync + 'static>(&self, plan: &BuildPlan<E>) -> Result<SubmitSample, Failure> {
        let hold = Arc::new(Hold::new(self.sleep));
        let mut relay = Relay::new(plan.build_assembled(self.patience)?, Arc::clone(&hold), self.patience);
        relay.run(&self.primer, Duration::ZERO)?;
        hold.close(self.load.producers());
        let burst = relay.run(&self.load, Duration::ZERO);
        // If a producer has panicked, it is not open yet.
        hold.open();
        let sample = SubmitSample(burst?);
        relay.finish()?;
        Ok(sample)
    }
}

/// What was submitted and run.
#[derive(Debug, Serialize, Deserialize)]
pub struct SubmitSample(Burst);

impl SubmitSample {
    fn per_job(&self, time: Duration) -> f64 {
        time.as_nanos() as f64 / self.0.jobs as f64
    }
}

impl Sample for SubmitSample {
    /// Nanoseconds for each job until the last producer was done.
    fn cost(&self) -> f64 {
        self.per_job(self.0.submitting)
    }
}

impl Experiment for Submit {
    type Turn = SubmitTurn;

    fn name(&self) -> &'static str {
        "submit"
    }

    fn turn(&self) -> SubmitTurn {
        self.turn_with(*self.cut.sampled())
    }

    fn fit(&mut self, pace: &Pace, subjects: &[Box<dyn Subject<SubmitTurn>>]) {
        let this = *self;
        self.cut.fit(pace, subjects, |load| this.turn_with(load), |sample| sample.0.wall.as_nanos() as f64);
    }

    fn settings(&self) -> Vec<Setting> {
        let asked = self.cut.asked();
        vec![
            Setting::new("threads", self.cut.threads()),
            Setting::new("producers", asked.producers()),
            Setting::new("jobs_per_producer", asked.messages()),
            Setting::new("work_ms", self.sleep.as_millis()),
            self.cut.jobs_per_sample(),
        ]
    }

    fn description(&self) -> Vec<(&'static str, String)> {
        let asked = self.cut.asked();
        let job = match self.sleep.as_millis() {
            0 => "empty".to_owned(),
            millis => format!("sleeps for {millis} ms, but no longer than until the last was submitted"),
        };
        vec![
            super::assembled(self.cut.threads()),
            ("load", format!("{} x {} (producers x jobs)", asked.producers(), asked.messages())),
            ("each job", job),
            self.cut.description(),
        ]
    }

    fn figures(&self, samples: &[SubmitSample]) -> Vec<Figure> {
        let submitting = [
            nanos("median_ns_per_submission", ["submit", "ns/job"]),
            nanos("low95_ns_per_submission", ["95% low", "ns/job"]),
            nanos("high95_ns_per_submission", ["95% high", "ns/job"]),
        ];
        let completed: Vec<f64> = samples.iter().map(|sample| sample.per_job(sample.0.wall)).collect();
        let cpu = bursts::cpu_nanos_per_job(samples.iter().map(|sample| &sample.0));
        let mut figures = super::median_and_interval(submitting, &super::costs(samples)).to_vec();
        figures.extend([
            nanos("completed_ns_per_job", ["all ran", "ns/job"]).figure(super::median(&completed)),
            nanos("cpu_ns_per_job", ["CPU", "ns/job"]).figure(cpu),
            super::relative_error_figure(samples),
        ]);
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{bursts::mock::burst, mock::values};
    use executors::crossbeam_channel_pool::ThreadPool;

    fn submit(sleep: Duration) -> Submit {
        let load = Load::new(3, 40, 0).expect("countable");
        Submit::new(2, load, sleep, true, Duration::from_secs(60))
    }

    #[test]
    fn figures_are_of_submitting_and_of_running() {
        let samples = [30_000, 20_000, 70_000].map(|nanos| SubmitSample(burst(1000, nanos)));
        let figures = values(&submit(Duration::ZERO).figures(&samples));
        assert_eq!(figures[..5], [Some(15.0), Some(10.0), Some(35.0), Some(30.0), Some(80.0)]);
        assert_eq!(values(&submit(Duration::ZERO).figures(&[])), [None; 6]);
    }

    /// Jobs that sleep for an hour each, if nothing wakes them.
    #[test]
    fn all_jobs_end_once_the_last_is_submitted() {
        let sample =
            submit(Duration::from_secs(3600)).turn().run_on(&BuildPlan::new(|threads| Ok(ThreadPool::new(threads)), 2));
        let SubmitSample(burst) = sample.expect("every job ran");
        assert_eq!(burst.jobs, 120);
        assert!(burst.wall < Duration::from_secs(3600) && burst.submitting > Duration::ZERO);
    }
}
