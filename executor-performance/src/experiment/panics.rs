//! What it costs an executor when jobs panic, and whether it loses anything by that.

use super::{Experiment, JobTurn, Sample, Subject, Turn, per_job::nanos};
use crate::{
    failure::Failure,
    record::{Figure, Setting},
    sampler::Pace,
    subject::BuildPlan,
    workload::wait_for,
};
use executors::Executor;
use serde::{Deserialize, Serialize};
use std::{
    panic::{self, AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Lets one thread give jobs that end normally, then as many that panic, then as many that end normally.
#[derive(Debug, Clone, Copy)]
pub struct Panics {
    threads: usize,
    turn: PanicsTurn,
}

impl Panics {
    /// For executors with `threads` workers, with `jobs` jobs of each kind.
    pub fn new(threads: usize, jobs: u64, patience: Duration) -> Self {
        Panics { threads, turn: PanicsTurn { jobs, patience } }
    }
}

/// Jobs that end normally, jobs that panic, and jobs that end normally.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct PanicsTurn {
    jobs: u64,
    patience: Duration,
}

impl PanicsTurn {
    /// Nanoseconds per job, from the first submission until all have run. The panic of the last job ends after that,
    /// and is not included.
    fn run<E: Executor>(&self, executor: &E, panics: bool) -> Result<f64, Failure> {
        let tally = Arc::new(Tally::of(self.jobs));
        let give = || {
            for _ in 0..self.jobs {
                let tally = Arc::clone(&tally);
                executor.execute(move || {
                    tally.count();
                    drop(tally);
                    if panics {
                        // Like a panic, but without the message.
                        panic::resume_unwind(Box::new("as the measurement wants it"));
                    }
                });
            }
        };
        catch_unwind(AssertUnwindSafe(give)).map_err(|_| Failure::Submission)?;
        wait_for(self.jobs, self.patience, || tally.ran())?;
        Ok(tally.nanos_per_job())
    }

    fn measure<E: Executor>(&self, executor: &E) -> Result<PanicsSample, Failure> {
        // Not measured: it makes sure that workers are there.
        self.run(executor, false)?;
        let before = self.run(executor, false)?;
        let panicking = self.run(executor, true)?;
        let after = self.run(executor, false)?;
        Ok(PanicsSample { before, panicking, after })
    }
}

/// Tells when all of some jobs have run. The last job takes the time, because the waiting thread looks only now and
/// then.
#[derive(Debug)]
struct Tally {
    jobs: u64,
    ran: AtomicU64,
    began: Instant,
    took: OnceLock<Duration>,
}

impl Tally {
    fn of(jobs: u64) -> Self {
        Tally { jobs, ran: AtomicU64::new(0), began: Instant::now(), took: OnceLock::new() }
    }

    /// Counts one more job that has run.
    fn count(&self) {
        // Relaxed: what the last job publishes is in `took`.
        if self.ran.fetch_add(1, Ordering::Relaxed) + 1 == self.jobs {
            _ = self.took.set(self.began.elapsed());
        }
    }

    /// How many have run. It is less than all until it is known how long they took.
    fn ran(&self) -> u64 {
        let ran = self.ran.load(Ordering::Relaxed);
        if self.took.get().is_some() { ran } else { ran.min(self.jobs.saturating_sub(1)) }
    }

    /// The nanoseconds per job, once all have run.
    fn nanos_per_job(&self) -> f64 {
        self.took.get().map_or(0.0, |took| took.as_nanos() as f64 / self.jobs as f64)
    }
}

impl Turn for PanicsTurn {
    type Sample = PanicsSample;
}

impl JobTurn for PanicsTurn {
    fn run_on<E: Executor + Sync + 'static>(&self, plan: &BuildPlan<E>) -> Result<PanicsSample, Failure> {
        let executor = plan.build_assembled(self.patience)?;
        let sample = self.measure(&executor);
        if sample.is_err() {
            executor.shutdown_async();
            return sample;
        }
        executor.shutdown().map_err(Failure::Shutdown)?;
        sample
    }
}

/// Nanoseconds per job of each kind.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct PanicsSample {
    before: f64,
    panicking: f64,
    after: f64,
}

impl Sample for PanicsSample {
    /// Nanoseconds per job that panics.
    fn cost(&self) -> f64 {
        self.panicking
    }
}

impl Experiment for Panics {
    type Turn = PanicsTurn;

    fn name(&self) -> &'static str {
        "panics"
    }

    fn turn(&self) -> PanicsTurn {
        self.turn
    }

    /// There is nothing to choose: the jobs are few.
    fn fit(&mut self, _pace: &Pace, _subjects: &[Box<dyn Subject<PanicsTurn>>]) {}

    fn settings(&self) -> Vec<Setting> {
        vec![Setting::new("threads", self.threads), Setting::new("jobs", self.turn.jobs)]
    }

    fn description(&self) -> Vec<(&'static str, String)> {
        vec![
            super::assembled(self.threads),
            ("load", format!("{} jobs that end, {0} that panic, {0} that end, from one thread", self.turn.jobs)),
        ]
    }

    fn figures(&self, samples: &[PanicsSample]) -> Vec<Figure> {
        let all = |time: fn(&PanicsSample) -> f64| samples.iter().map(time).collect::<Vec<f64>>();
        let median = |time| super::median(&all(time));
        let panicking = [
            nanos("median_ns_per_panic", ["panics", "ns/job"]),
            nanos("low95_ns_per_panic", ["95% low", "ns/job"]),
            nanos("high95_ns_per_panic", ["95% high", "ns/job"]),
        ];
        let mut figures = super::median_and_interval(panicking, &all(|it| it.panicking)).to_vec();
        figures.extend([
            nanos("before_ns_per_job", ["before", "ns/job"]).figure(median(|it| it.before)),
            nanos("after_ns_per_job", ["after", "ns/job"]).figure(median(|it| it.after)),
            super::relative_error_figure(samples),
        ]);
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::mock::values;
    use executors::crossbeam_channel_pool::ThreadPool;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_pool_that_contains_panics_loses_nothing() {
        let turn = PanicsTurn { jobs: 50, patience: LONG };
        let sample = turn.run_on(&BuildPlan::new(|threads| Ok(ThreadPool::new(threads)), 2)).expect("all ran");
        assert!(sample.before > 0.0 && sample.panicking > 0.0 && sample.after > 0.0, "{sample:?}");
    }

    #[test]
    fn figures_are_nanoseconds_of_each_kind_of_job() {
        // The last sample was disturbed.
        let samples = [(1.0, 40.0, 2.0), (1.0, 20.0, 2.0), (100.0, 30.0, 200.0)];
        let samples = samples.map(|(before, panicking, after)| PanicsSample { before, panicking, after });
        let panics = Panics::new(2, 50, LONG);
        let figures = values(&panics.figures(&samples));
        assert_eq!(figures[..5], [Some(30.0), Some(20.0), Some(40.0), Some(1.0), Some(2.0)]);
        assert_eq!(values(&panics.figures(&[])), [None; 6]);
    }
}
