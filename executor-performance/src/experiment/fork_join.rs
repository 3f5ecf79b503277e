//! What it costs jobs to fork, and to wait for what they have forked.

mod errand;

pub use self::errand::Errand;

use super::{BurstsSample, Experiment, ForkTurn, Sample, Subject, Turn, bursts, per_job};
use crate::{
    failure::Failure,
    forker::Forker,
    record::{Figure, Metric, Setting},
    sampler::Pace,
    subject::BuildPlan,
    view::number,
    workload::Forks,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Solves one problem again and again.
#[derive(Debug, Clone, Copy)]
pub struct ForkJoin {
    threads: usize,
    errand: Errand,
    runs_per_sample: u32,
    patience: Duration,
}

const FORK: [Metric; 4] =
    per_job::metrics(["median_ns_per_fork", "low95_ns_per_fork", "high95_ns_per_fork", "cpu_ns_per_fork"], "ns/fork");
const RUN: Metric = super::millis("run_us", "a run");
const SPEED_UP: Metric = Metric::new("speed_up", ["speed-up", "x"]).more_is_better();

impl ForkJoin {
    /// For executors with `threads` workers that run `errand`.
    pub fn new(threads: usize, errand: Errand, patience: Duration) -> Self {
        ForkJoin { threads, errand, runs_per_sample: 1, patience }
    }
}

/// A problem that is solved several times.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ForkJoinTurn {
    errand: Errand,
    /// How often, besides the first time, which does not count.
    runs: u32,
    patience: Duration,
}

/// A problem that was solved.
#[derive(Debug, Serialize, Deserialize)]
pub struct ForkJoinSample {
    /// The runs.
    runs: BurstsSample,
    /// How long it took without an executor.
    alone: Duration,
}

impl Turn for ForkJoinTurn {
    type Sample = ForkJoinSample;
}

impl ForkTurn for ForkJoinTurn {
    /// Runs alone first, while there are no workers that could disturb it.
    fn run_on<F: Forker>(&self, plan: &BuildPlan<F>) -> Result<ForkJoinSample, Failure> {
        let alone = self.errand.run_alone(self.patience)?;
        let mut forks = Forks::new(plan.build()?, self.patience);
        self.errand.run(&mut forks, &alone)?;
        let bursts = (0..self.runs).map(|_| self.errand.run(&mut forks, &alone)).collect::<Result<_, _>>()?;
        forks.finish()?;
        Ok(ForkJoinSample { runs: BurstsSample { bursts, ideal: Duration::ZERO }, alone: alone.time })
    }
}

impl Sample for ForkJoinSample {
    /// The mean time of a run, in nanoseconds.
    fn cost(&self) -> f64 {
        self.runs.cost()
    }
}

impl Experiment for ForkJoin {
    type Turn = ForkJoinTurn;

    fn name(&self) -> &'static str {
        "fork-join"
    }

    fn turn(&self) -> ForkJoinTurn {
        ForkJoinTurn { errand: self.errand, runs: self.runs_per_sample, patience: self.patience }
    }

    /// A sample has as many runs as there is time for, because each sample also costs one run that does not count, and
    /// two runs alone.
    fn fit(&mut self, pace: &Pace, subjects: &[Box<dyn Subject<ForkJoinTurn>>]) {
        let one_run = ForkJoinTurn { runs: 1, ..self.turn() };
        let samples: Vec<ForkJoinSample> = subjects.iter().filter_map(|subject| subject.take(&one_run).ok()).collect();
        let alone = samples.iter().map(|sample| 2 * sample.alone).sum();
        let runs: Vec<f64> = samples.iter().map(ForkJoinSample::cost).collect();
        self.runs_per_sample = bursts::that_fit(pace, alone, Duration::ZERO, &runs);
    }

    fn settings(&self) -> Vec<Setting> {
        let (size, cutoff) = self.errand.size_and_cutoff();
        let seed = if let Errand::Sort { seed, .. } = self.errand { seed } else { 0 };
        vec![
            Setting::new("threads", self.threads),
            Setting::new("workload", self.errand.name()),
            Setting::new("size", size),
            Setting::new("cutoff", cutoff),
            Setting::new("seed", seed),
            Setting::fitted("runs_per_sample", self.runs_per_sample),
        ]
    }

    fn description(&self) -> Vec<(&'static str, String)> {
        vec![
            ("threads", self.threads.to_string()),
            ("workload", format!("{}: {}", self.errand.name(), self.errand.summary())),
            (
                "a sample",
                format!(
                    "{} on a new executor, after one that does not count",
                    number(self.runs_per_sample as usize, "run")
                ),
            ),
        ]
    }

    fn scales(&self) -> bool {
        true
    }

    fn figures(&self, samples: &[ForkJoinSample]) -> Vec<Figure> {
        let runs = || samples.iter().flat_map(|sample| &sample.runs.bursts);
        let forks = runs().map(|run| run.jobs as f64).next().unwrap_or_default();
        // Figures are of samples, not of runs, of which there may be too many.
        let all = |number: &dyn Fn(&ForkJoinSample) -> f64| samples.iter().map(number).collect::<Vec<f64>>();
        let speed_ups = all(&|sample| sample.alone.as_nanos() as f64 / sample.cost());
        let [median, low, high, cpu] = FORK;
        let mut figures =
            super::median_and_interval([median, low, high], &all(&|sample| sample.cost() / forks)).to_vec();
        figures.extend([
            cpu.figure(bursts::cpu_nanos_per_job(runs())),
            RUN.figure(super::median(&all(&|sample| sample.cost() / 1e3))),
            SPEED_UP.figure(super::median(&speed_ups)),
            super::relative_error_figure(samples),
        ]);
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{bursts::mock::burst, mock::values};
    use executors::crossbeam_workstealing_pool::ThreadPool;

    const LONG: Duration = Duration::from_secs(60);
    const FIB: Errand = Errand::Fib { index: 15, cutoff: 2 };
    const SORT: Errand = Errand::Sort { elements: 1000, cutoff: 10, seed: 7 };

    #[test]
    fn figures_are_of_a_fork_and_of_a_run_beside_running_alone() {
        let samples = [30_000, 20_000, 60_000].map(|nanos| ForkJoinSample {
            runs: BurstsSample { bursts: vec![burst(1000, nanos)], ideal: Duration::ZERO },
            alone: Duration::from_nanos(60_000),
        });
        let fork_join = ForkJoin::new(2, FIB, LONG);
        let figures = values(&fork_join.figures(&samples));
        assert_eq!(figures[..3], [Some(30.0), Some(20.0), Some(60.0)]);
        assert_eq!(figures[4..6], [Some(30.0), Some(2.0)]);
        assert_eq!(values(&fork_join.figures(&[])), [None; 7]);
    }

    #[test]
    fn what_takes_too_long_alone_is_no_failure_of_an_executor() {
        let plan = BuildPlan::new(|_| -> Result<ThreadPool, Failure> { panic!("there is nothing for it to do") }, 2);
        let turn = ForkJoinTurn { errand: Errand::Fib { index: 40, cutoff: 2 }, runs: 1, patience: Duration::ZERO };
        let complaint = turn.run_on(&plan).expect_err("no time at all").to_string();
        assert!(complaint.contains("lower --fib, or raise --patience"), "{complaint}");
    }

    #[test]
    fn every_fork_is_a_job_and_the_first_is_one() {
        let build = |threads| ThreadPool::builder().threads(threads).build().map_err(|it| Failure::of_build(&it));
        let plan = BuildPlan::new(build, 2);
        for (errand, jobs) in [(FIB, 987), (SORT, 128), (Errand::Fib { index: 5, cutoff: 9 }, 1)] {
            let sample = ForkJoinTurn { errand, runs: 3, patience: LONG }.run_on(&plan).expect("solved");
            let counted: Vec<u64> = sample.runs.bursts.iter().map(|run| run.jobs).collect();
            assert_eq!(counted, [jobs; 3], "{errand:?}");
        }
    }
}
