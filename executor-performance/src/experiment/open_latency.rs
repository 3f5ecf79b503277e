//! How long jobs take that come at scheduled times, however long the others take.

use super::{Experiment, JobTurn, Sample, Subject, Turn, bursts::ratio, micros, seed_of_round};
use crate::{
    failure::Failure,
    record::{Figure, Metric, Setting},
    sampler::Pace,
    stats::{Condensed, Dice, Distribution, Pooled},
    subject::BuildPlan,
    view::number,
    workload::{Burst, Labour, Stream, Streamed, poisson},
};
use executors::Executor;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Gives jobs at a rate.
///
/// An open loop: no job waits for another before it is given, and its time begins when it was scheduled to be given. So
/// if the executor, or the thread that gives the jobs, is stuck for a while, that is in the times of all jobs that were
/// scheduled meanwhile.
#[derive(Debug, Clone, Copy)]
pub struct OpenLatency {
    threads: usize,
    /// What was asked for.
    asked: OpenLatencyTurn,
    /// For how long jobs come in a sample.
    sampled: Duration,
}

/// The columns that tell whether an executor keeps up, and the threads that give it jobs.
pub(crate) mod columns {
    /// The median of times.
    pub(crate) const P50: &str = "p50_us";
    /// Their 99th percentile.
    pub(crate) const P99: &str = "p99_us";
    /// How late jobs were given, for one in a hundred.
    pub(crate) const GIVEN_LATE: &str = "given_late_p99_us";
    /// The part of the rate that was achieved.
    pub(crate) const ACHIEVED_PERCENT: &str = "achieved_percent";
    /// The rate that was achieved.
    pub(crate) const ACHIEVED: &str = "achieved_jobs_per_s";
    /// How many jobs there were.
    pub(crate) const JOBS: &str = "jobs";
}

const ACHIEVED_PERCENT: Metric = Metric::new(columns::ACHIEVED_PERCENT, ["achieved", "%"]).more_is_better();
const ACHIEVED: Metric = Metric::new(columns::ACHIEVED, ["achieved", "jobs/s"]).with_decimals(1).more_is_better();
const CPU: Metric = Metric::new("cpu_us_per_job", ["CPU", "us/job"]);
const JOBS: Metric = Metric::new(columns::JOBS, ["jobs", ""]).with_decimals(0).more_is_better();

/// Jobs that come as in a Poisson process.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct OpenLatencyTurn {
    /// How many come in a second, from all producers.
    pub rate: u64,
    /// For how long they come.
    pub time: Duration,
    /// Threads that give them.
    pub producers: usize,
    /// What each job does.
    pub labour: Labour,
    /// The seed of the times at which they come, the same for all executors of a round.
    pub seed: u64,
    /// When to give up waiting for jobs.
    pub patience: Duration,
}

impl OpenLatencyTurn {
    /// The most jobs that a sample may have: each takes 40 bytes of memory.
    pub const MOST_JOBS: u64 = 10_000_000;

    /// How many jobs come, or `u64::MAX` if there are more.
    pub fn jobs(&self) -> u64 {
        let jobs = u128::from(self.rate) * self.time.as_nanos() / 1_000_000_000;
        u64::try_from(jobs).unwrap_or(u64::MAX)
    }

    /// When each producer gives its jobs. Some may have one job more than the others.
    fn schedules(&self) -> Vec<Vec<u64>> {
        let producers = self.producers as u64;
        let schedule = |producer| {
            let jobs = (self.jobs() + producer) / producers;
            poisson(jobs, self.time, &mut Dice::new(self.seed.wrapping_mul(producers).wrapping_add(producer)))
        };
        (0..producers).map(schedule).collect()
    }
}

impl OpenLatency {
    /// For executors with `threads` workers.
    pub fn new(threads: usize, asked: OpenLatencyTurn) -> Self {
        OpenLatency { threads, asked, sampled: asked.time }
    }

    /// What was asked for.
    pub fn asked(&self) -> &OpenLatencyTurn {
        &self.asked
    }

    /// Long enough for some jobs, unless less time was asked for.
    pub fn shortest_sample(&self) -> Duration {
        const FEW: u32 = 20;
        Duration::from_secs(1).mul_f64(f64::from(FEW) / self.asked.rate as f64).min(self.asked.time)
    }
}

impl Turn for OpenLatencyTurn {
    type Sample = OpenLatencySample;

    fn own_threads(&self) -> usize {
        self.producers
    }

    fn of_round(&self, round: u64) -> Option<Self> {
        Some(OpenLatencyTurn { seed: seed_of_round(self.seed, round), ..*self })
    }
}

impl JobTurn for OpenLatencyTurn {
    fn run_on<E: Executor + Sync + 'static>(&self, plan: &BuildPlan<E>) -> Result<OpenLatencySample, Failure> {
        const PRIMER_PER_THREAD: usize = 16;
        let mut stream = Stream::new(plan.build_assembled(self.patience)?, self.labour, self.patience);
        stream.run(&[vec![0; PRIMER_PER_THREAD * plan.threads()]])?;
        let streamed = stream.run(&self.schedules())?;
        stream.finish()?;
        Ok(OpenLatencySample::of(&streamed, self.time))
    }
}

/// Jobs that came and went.
#[derive(Debug, Serialize, Deserialize)]
pub struct OpenLatencySample {
    burst: Burst,
    /// From the beginning until the scheduled time was over and the last job had ended.
    time: Duration,
    /// The median of the latencies, in microseconds.
    median: f64,
    latencies: Condensed,
    lateness: Condensed,
}

impl OpenLatencySample {
    fn of(streamed: &Streamed, time: Duration) -> Self {
        let of = |times: &[Duration]| Distribution::of(times.iter().copied());
        let condensed = |times: Option<&Distribution>| times.map(Distribution::condensed).unwrap_or_default();
        let latencies = of(&streamed.latencies);
        OpenLatencySample {
            burst: streamed.burst,
            time: time.max(streamed.burst.wall),
            median: latencies.as_ref().map_or(0.0, |latencies| latencies.quantile_us(0.5)),
            latencies: condensed(latencies.as_ref()),
            lateness: condensed(of(&streamed.lateness).as_ref()),
        }
    }
}

impl Sample for OpenLatencySample {
    /// The median latency, in microseconds. The mean would depend on the few longest, which are mostly due to the
    /// machine.
    fn cost(&self) -> f64 {
        self.median
    }
}

impl Experiment for OpenLatency {
    type Turn = OpenLatencyTurn;

    fn name(&self) -> &'static str {
        "open-latency"
    }

    fn turn(&self) -> OpenLatencyTurn {
        OpenLatencyTurn { time: self.sampled, ..self.asked }
    }

    /// Jobs come for as long as was asked for, or for less time so that enough samples fit: an executor that cannot
    /// keep up takes longer than that. But the time is long enough for some jobs.
    fn fit(&mut self, pace: &Pace, subjects: &[Box<dyn Subject<OpenLatencyTurn>>]) {
        let shortest = self.shortest_sample();
        let good = pace.good_round() / subjects.len().max(1) as u32;
        let tried = OpenLatencyTurn { time: (good / 10).max(shortest).min(self.asked.time), ..self.asked };
        let samples = subjects.iter().filter_map(|subject| subject.take(&tried).ok());
        let times_as_long: f64 = samples.map(|sample| sample.time.as_secs_f64() / tried.time.as_secs_f64()).sum();
        let fitting = pace.good_round().as_secs_f64() / times_as_long.max(1.0);
        self.sampled = Duration::try_from_secs_f64(fitting).unwrap_or(Duration::MAX).max(shortest).min(self.asked.time);
    }

    fn settings(&self) -> Vec<Setting> {
        let OpenLatencyTurn { rate, time, producers, labour, seed, .. } = self.asked;
        vec![
            Setting::new("threads", self.threads),
            Setting::new("producers", producers),
            Setting::new("rate_per_s", rate),
            Setting::new("run_time_ms", time.as_millis()),
            Setting::new("pre_units", labour.pre),
            Setting::new("post_units", labour.post),
            Setting::new("seed", seed),
            Setting::fitted("sampled_ms", self.sampled.as_millis()),
            Setting::fitted("jobs_per_sample", self.turn().jobs()),
        ]
    }

    fn description(&self) -> Vec<(&'static str, String)> {
        let (asked, turn) = (&self.asked, self.turn());
        vec![
            super::assembled(self.threads),
            ("load", format!("{} jobs/s from {}, at random times", asked.rate, number(asked.producers, "thread"))),
            ("time", "from when a job was to come to its end".to_owned()),
            ("a sample", format!("{} ms of that, or {} jobs, on a new executor", turn.time.as_millis(), turn.jobs())),
        ]
    }

    fn figures(&self, samples: &[OpenLatencySample]) -> Vec<Figure> {
        let bursts = || samples.iter().map(|sample| &sample.burst);
        let times = self.times(samples);
        let of = |column, name, of: &dyn Fn(&Distribution) -> f64| micros(column, name).figure(times.as_ref().map(of));
        let percentile = |column, name, part| super::percentile(micros(column, name), times.as_ref(), part);
        let late = Distribution::of_condensed(samples.iter().map(|sample| &sample.lateness));
        let jobs: u64 = bursts().map(|burst| burst.jobs).sum();
        let seconds: f64 = samples.iter().map(|sample| sample.time.as_secs_f64()).sum();
        let achieved = (seconds > 0.0).then(|| jobs as f64 / seconds);
        // As many as could come in that time, not as many as were asked for: a sample has a whole number of jobs.
        let possible = jobs as f64 / (self.sampled.as_secs_f64() * samples.len() as f64);
        let [low, high] = super::ends_of_interval(micros, ["low95_p50_us", "high95_p50_us"]);
        vec![
            // Always shown, because executors are compared by it.
            of(columns::P50, "p50", &|times| times.quantile_us(0.5)),
            low,
            high,
            percentile("p90_us", "p90", 0.9),
            percentile(columns::P99, "p99", 0.99),
            percentile("p999_us", "p99.9", 0.999),
            of("max_us", "max", &Distribution::max_us),
            of("mean_us", "mean", &Distribution::mean_us),
            ACHIEVED_PERCENT.figure(achieved.map(|achieved| achieved / possible * 100.0)),
            ACHIEVED.figure(achieved),
            super::percentile(micros(columns::GIVEN_LATE, "late p99"), late.as_ref(), 0.99),
            CPU.figure(ratio(bursts(), |burst| burst.cpu, |burst| burst.jobs as f64 * 1e3)),
            JOBS.figure((jobs > 0).then_some(jobs as f64)),
            super::relative_error_figure(samples),
        ]
    }

    fn pooled(&self) -> Option<Pooled> {
        Some(Pooled::Quantile(0.5))
    }

    fn times(&self, samples: &[OpenLatencySample]) -> Option<Distribution> {
        Distribution::of_condensed(samples.iter().map(|sample| &sample.latencies))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{
        bursts::mock::burst,
        mock::{value, values},
    };
    use executors::crossbeam_channel_pool::ThreadPool;

    const TURN: OpenLatencyTurn = OpenLatencyTurn {
        rate: 100_000,
        time: Duration::from_millis(10),
        producers: 3,
        labour: Labour { pre: 0, post: 0 },
        seed: 7,
        patience: Duration::from_secs(60),
    };

    fn sample(micros: impl IntoIterator<Item = u64>, wall: Duration) -> OpenLatencySample {
        let latencies: Vec<Duration> = micros.into_iter().map(Duration::from_micros).collect();
        let mut burst = burst(latencies.len() as u64, 1_000_000);
        burst.wall = wall;
        OpenLatencySample::of(&Streamed { burst, lateness: latencies.clone(), latencies }, TURN.time)
    }

    fn figure(samples: &[OpenLatencySample], column: &str) -> f64 {
        value(&OpenLatency::new(2, TURN).figures(samples), column).expect(column)
    }

    #[test]
    fn figures_are_those_of_all_jobs() {
        let samples = [sample(1..=500, Duration::ZERO), sample(501..=1000, Duration::ZERO)];
        for (column, expected) in
            [("p50_us", 500.0), ("p99_us", 990.0), ("p999_us", 999.0), ("given_late_p99_us", 990.0)]
        {
            assert!((figure(&samples, column) / expected - 1.0).abs() < 0.002, "{column}");
        }
        for (column, expected) in [("mean_us", 500.5), ("max_us", 1000.0), ("jobs", 1000.0), ("cpu_us_per_job", 4.0)] {
            assert_eq!(figure(&samples, column), expected, "{column}");
        }
        assert_eq!(values(&OpenLatency::new(2, TURN).figures(&[])), [None; 14]);
    }

    #[test]
    fn an_executor_that_cannot_keep_up_does_not_achieve_the_rate() {
        for (wall, percent, rate) in [(5, 100.0, 100_000.0), (40, 25.0, 25_000.0)] {
            let sample = [sample(1..=1000, Duration::from_millis(wall))];
            assert!((figure(&sample, "achieved_percent") - percent).abs() < 1e-9, "{wall} ms");
            assert!((figure(&sample, "achieved_jobs_per_s") - rate).abs() < 1e-6, "{wall} ms");
        }
    }

    #[test]
    fn all_producers_together_give_all_jobs_at_different_times() {
        let schedules = OpenLatencyTurn { rate: 100_100, ..TURN }.schedules();
        assert_eq!(schedules.iter().map(Vec::len).collect::<Vec<_>>(), [333, 334, 334]);
        assert_ne!(schedules[1], schedules[2]);
        assert_ne!(OpenLatencyTurn { seed: 8, ..TURN }.schedules(), TURN.schedules());
    }

    #[test]
    fn jobs_come_at_other_times_in_each_round() {
        let of = |round| TURN.of_round(round).expect("rounds differ").schedules();
        assert_eq!(of(3), of(3), "for all executors alike");
        assert!(of(0) != of(1) && of(1) != of(2));
        assert_ne!(of(1), OpenLatencyTurn { seed: 8, ..TURN }.of_round(0).expect("rounds differ").schedules());
    }

    #[test]
    fn every_job_is_served() {
        let sample = TURN.run_on(&BuildPlan::new(|threads| Ok(ThreadPool::new(threads)), 2)).expect("every job ran");
        assert_eq!(sample.burst.jobs, 1000);
        assert!(sample.time >= TURN.time && sample.cost() > 0.0, "{sample:?}");
    }
}
