//! What tasks that spawn, wait and yield cost on executors that run futures.

mod play;

pub use self::play::Play;

use super::{BurstsSample, Experiment, FutureTurn, Subject, Turn, cut::Cut, per_job};
use crate::{
    failure::Failure,
    record::{Figure, Setting},
    sampler::Pace,
    spawner::Spawner,
    subject::BuildPlan,
    workload::{Load, Tasks},
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Runs many operations of one kind.
#[derive(Debug, Clone, Copy)]
pub struct Futures {
    play: Play,
    cut: Cut,
    patience: Duration,
}

impl Futures {
    /// For executors with `threads` workers, where each message of `load` is an operation of `play`.
    pub fn new(threads: usize, play: Play, load: Load, full_size: bool, patience: Duration) -> Self {
        Futures { play, cut: Cut::new(threads, load, full_size), patience }
    }

    fn turn_with(&self, load: Load) -> FuturesTurn {
        FuturesTurn {
            play: self.play,
            operations: load.jobs(),
            primer: self.cut.primer().jobs(),
            patience: self.patience,
        }
    }
}

/// A number of operations of one play.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct FuturesTurn {
    play: Play,
    operations: u64,
    /// How many operations are done before, unmeasured.
    primer: u64,
    patience: Duration,
}

impl Turn for FuturesTurn {
    type Sample = BurstsSample;
}

impl FutureTurn for FuturesTurn {
    fn run_on<S: Spawner>(&self, plan: &BuildPlan<S>) -> Result<BurstsSample, Failure> {
        let mut tasks = Tasks::new(plan.build()?, self.patience);
        self.play.perform(&mut tasks, self.primer)?;
        let burst = self.play.perform(&mut tasks, self.operations)?;
        tasks.finish()?;
        Ok(BurstsSample { bursts: vec![burst], ideal: Duration::ZERO })
    }
}

impl Experiment for Futures {
    type Turn = FuturesTurn;

    fn name(&self) -> &'static str {
        "futures"
    }

    fn turn(&self) -> FuturesTurn {
        self.turn_with(*self.cut.sampled())
    }

    fn fit(&mut self, pace: &Pace, subjects: &[Box<dyn Subject<FuturesTurn>>]) {
        let this = *self;
        self.cut.fit(pace, subjects, |load| this.turn_with(load), BurstsSample::nanos);
    }

    fn settings(&self) -> Vec<Setting> {
        vec![
            Setting::new("threads", self.cut.threads()),
            Setting::new("workload", self.play.name()),
            Setting::new("operations", self.cut.asked().jobs()),
            Setting::fitted("operations_per_sample", self.cut.sampled().jobs()),
        ]
    }

    fn description(&self) -> Vec<(&'static str, String)> {
        vec![
            ("threads", self.cut.threads().to_string()),
            ("workload", format!("{}: {}", self.play.name(), self.play.summary())),
            ("load", format!("{} operations", self.cut.asked().jobs())),
            self.cut.description(),
        ]
    }

    /// All but a chain, which is at one place at a time.
    fn scales(&self) -> bool {
        self.play != Play::Chain
    }

    fn figures(&self, samples: &[BurstsSample]) -> Vec<Figure> {
        let columns =
            ["median_ns_per_operation", "low95_ns_per_operation", "high95_ns_per_operation", "cpu_ns_per_operation"];
        per_job::figures_of(per_job::metrics(columns, "ns/op"), samples)
    }
}
