//! How long sleeping workers take to begin a burst of jobs.

mod stamps;

use self::stamps::Stamps;
use super::{Experiment, JobTurn, Sample, Subject, Turn, bursts, micros};
use crate::{
    failure::Failure,
    record::{Figure, Setting},
    sampler::Pace,
    stats::{Condensed, Distribution, Pooled},
    subject::BuildPlan,
    view::number,
    workload::{Burst, Load, Relay},
};
use executors::Executor;
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};

/// Gives a job to each worker after a pause. Each job reads the clock as the first thing it does.
#[derive(Debug, Clone, Copy)]
pub struct Wake {
    threads: usize,
    load: Load,
    pause: Duration,
    bursts_per_sample: u32,
    patience: Duration,
}

impl Wake {
    /// The most jobs that a burst may have: each has a stamp of 8 bytes, and a place in a queue.
    pub const MOST_JOBS: u64 = 10_000_000;

    /// For executors with `threads` workers, which sleep for `pause` before each burst of `load`.
    pub fn new(threads: usize, load: Load, pause: Duration, patience: Duration) -> Self {
        Wake { threads, load, pause, bursts_per_sample: 1, patience }
    }
}

/// Bursts of jobs that read the clock.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct WakeTurn {
    load: Load,
    count: u32,
    pause: Duration,
    patience: Duration,
}

impl Turn for WakeTurn {
    type Sample = WakeSample;
}

impl JobTurn for WakeTurn {
    fn run_on<E: Executor + Sync + 'static>(&self, plan: &BuildPlan<E>) -> Result<WakeSample, Failure> {
        let stamps = Arc::new(Stamps::of(self.load.jobs()));
        let mut relay = Relay::new(plan.build_assembled(self.patience)?, Arc::clone(&stamps), self.patience);
        relay.run(&self.load, Duration::ZERO)?;
        let (mut bursts, mut delays) = (Vec::new(), Distribution::empty());
        for _ in 0..self.count {
            stamps.clear();
            let burst = relay.run(&self.load, self.pause)?;
            delays.add(stamps.since(burst.started));
            bursts.push(burst);
        }
        relay.finish()?;
        Ok(WakeSample { bursts, delays: delays.condensed() })
    }
}

/// The bursts of one turn.
#[derive(Debug, Serialize, Deserialize)]
pub struct WakeSample {
    bursts: Vec<Burst>,
    /// From the beginning of the burst to the beginning of each job.
    delays: Condensed,
}

impl Sample for WakeSample {
    /// The mean delay, in nanoseconds.
    fn cost(&self) -> f64 {
        self.delays.mean_nanos()
    }
}

impl Experiment for Wake {
    type Turn = WakeTurn;

    fn name(&self) -> &'static str {
        "wake"
    }

    fn turn(&self) -> WakeTurn {
        WakeTurn { load: self.load, count: self.bursts_per_sample, pause: self.pause, patience: self.patience }
    }

    fn fit(&mut self, pace: &Pace, subjects: &[Box<dyn Subject<WakeTurn>>]) {
        let one_burst = WakeTurn { count: 1, pause: Duration::ZERO, ..self.turn() };
        let samples = subjects.iter().filter_map(|subject| subject.take(&one_burst).ok());
        let nanos: Vec<f64> = samples.map(|sample| sample.bursts[0].wall.as_nanos() as f64).collect();
        self.bursts_per_sample = bursts::that_fit(pace, Duration::ZERO, self.pause, &nanos);
    }

    fn settings(&self) -> Vec<Setting> {
        vec![
            Setting::new("threads", self.threads),
            Setting::new("jobs_per_burst", self.load.jobs()),
            Setting::new("sleep_ms", self.pause.as_millis()),
            Setting::fitted("bursts_per_sample", self.bursts_per_sample),
        ]
    }

    fn description(&self) -> Vec<(&'static str, String)> {
        vec![
            super::assembled(self.threads),
            (
                "burst",
                format!("{} jobs from one thread, each of which reads the clock when it starts", self.load.jobs()),
            ),
            ("pause", format!("{} ms before each burst", self.pause.as_millis())),
            (
                "a sample",
                format!(
                    "{} on a new executor, after one that does not count",
                    number(self.bursts_per_sample as usize, "burst")
                ),
            ),
        ]
    }

    fn figures(&self, samples: &[WakeSample]) -> Vec<Figure> {
        let delays = self.times(samples);
        let bursts = || samples.iter().flat_map(|sample| &sample.bursts);
        let count = Some(bursts().count() as f64).filter(|count| *count > 0.0);
        let percentile = |column, name, part| super::percentile(micros(column, name), delays.as_ref(), part);
        let [low, high] = super::ends_of_interval(micros, ["low95_mean_us", "high95_mean_us"]);
        vec![
            micros("mean_us", "mean").figure(delays.as_ref().map(Distribution::mean_us)),
            low,
            high,
            percentile("p20_us", "p20", 0.2),
            percentile("p40_us", "p40", 0.4),
            percentile("p60_us", "p60", 0.6),
            percentile("p80_us", "p80", 0.8),
            percentile("p99_us", "p99", 0.99),
            bursts::cpu_per_burst(bursts()),
            super::relative_error_figure(samples),
            bursts::COUNT.figure(count),
            percentile("p50_us", "p50", 0.5),
            percentile("p90_us", "p90", 0.9),
            percentile("p999_us", "p99.9", 0.999),
            micros("max_us", "max").figure(delays.as_ref().map(Distribution::max_us)),
        ]
    }

    fn pooled(&self) -> Option<Pooled> {
        Some(Pooled::Mean)
    }

    fn times(&self, samples: &[WakeSample]) -> Option<Distribution> {
        Distribution::of_condensed(samples.iter().map(|sample| &sample.delays))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{
        bursts::mock::burst,
        mock::{value, values},
    };
    use executors::{crossbeam_channel_pool::ThreadPool, elastic_pool};
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn wake() -> Wake {
        Wake::new(2, Load::new(1, 2, 0).expect("countable"), Duration::from_millis(1), Duration::from_secs(60))
    }

    fn sample(micros: impl IntoIterator<Item = u64>) -> WakeSample {
        let delays = Distribution::of(micros.into_iter().map(Duration::from_micros)).expect("delays");
        WakeSample { bursts: (0..delays.count()).map(|_| burst(1, 5_000)).collect(), delays: delays.condensed() }
    }

    #[test]
    fn figures_are_those_of_all_jobs() {
        let figures = wake().figures(&[sample(1..=50), sample(51..=100)]);
        let quantiles = [("p20_us", 20.0), ("p40_us", 40.0), ("p50_us", 50.0), ("p60_us", 60.0), ("p80_us", 80.0)];
        let longest = [("p90_us", 90.0), ("p99_us", 99.0), ("max_us", 100.0)];
        for (column, expected) in quantiles.into_iter().chain(longest).chain([("mean_us", 50.5)]) {
            let figure = value(&figures, column).expect(column);
            assert!((figure / expected - 1.0).abs() < 0.002, "{column}: {figure}");
        }
        assert_eq!(value(&figures, "cpu_us_per_burst"), Some(10.0));
        assert_eq!(value(&figures, "bursts"), Some(100.0));
        assert_eq!(value(&figures, "p999_us"), None, "it would be the longest");
    }

    #[test]
    fn no_samples_give_no_figures() {
        assert_eq!(values(&wake().figures(&[])), [None; 15]);
    }

    #[test]
    fn all_workers_are_there_although_a_burst_has_fewer_jobs() {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let build = |threads| {
            let growing = elastic_pool::ThreadPool::builder().core(0).max(threads);
            let count = |_: usize| _ = STARTED.fetch_add(1, Ordering::Relaxed);
            growing.on_start(count).build().map_err(|error| Failure::of_build(&error))
        };
        let one_job = Load::new(1, 1, 0).expect("countable");
        let turn = Wake::new(4, one_job, Duration::ZERO, Duration::from_secs(60)).turn();
        turn.run_on(&BuildPlan::new(build, 4)).expect("every job ran");
        assert_eq!(STARTED.load(Ordering::Relaxed), 4);
    }

    #[test]
    fn each_job_of_each_burst_has_a_delay_within_it() {
        let turn = WakeTurn { count: 3, ..wake().turn() };
        let sample = turn.run_on(&BuildPlan::new(|threads| Ok(ThreadPool::new(threads)), 2)).expect("every job ran");
        let delays = Distribution::of_condensed([&sample.delays]).expect("delays");
        assert_eq!((sample.bursts.len(), delays.count()), (3, 6));
        let longest = sample.bursts.iter().map(|burst| burst.wall).max().expect("bursts");
        assert!(delays.max_us() <= longest.as_nanos() as f64 / 1e3, "{delays:?} in {longest:?}");
    }

    /// Samples of millions of jobs are sent to another process, and all are kept.
    #[test]
    fn a_sample_of_many_jobs_is_short() {
        let load = Load::new(1, 100_000, 0).expect("countable");
        let turn = WakeTurn { load, pause: Duration::ZERO, ..wake().turn() };
        let sample = turn.run_on(&BuildPlan::new(|threads| Ok(ThreadPool::new(threads)), 2)).expect("every job ran");
        let text = serde_json::to_string(&sample).expect("plain data");
        assert!(text.len() < 300_000, "{} bytes", text.len());
    }
}
