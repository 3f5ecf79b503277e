//! How many jobs a loaded executor runs in a second.

use super::{Bursts, Experiment, Sample, Subject, ratio};
use crate::{
    failure::Failure,
    record::{Metric, Setting},
    sampler::Pace,
    stats::Summary,
    workload::{Load, nanos_per_unit},
};
use std::time::Duration;

/// Runs one load at a time and looks at the clock.
#[derive(Debug, Clone, Copy)]
pub struct Throughput {
    threads: usize,
    /// What was asked for.
    asked: Load,
    /// What one sample runs.
    sampled: Load,
    /// Whether these may differ.
    full_size: bool,
    patience: Duration,
}

const METRICS: &[Metric] = &[
    jobs_per_second("median_jobs_per_s", ["median", "M jobs/s"]),
    jobs_per_second("low95_jobs_per_s", ["95% low", "M jobs/s"]),
    jobs_per_second("high95_jobs_per_s", ["95% high", "M jobs/s"]),
    Metric { column: "cpu_ns_per_job", decimals: 3, title: ["CPU", "ns/job"], scale: 1.0, more_is_better: false },
    super::RELATIVE_ERROR,
];

const fn jobs_per_second(column: &'static str, title: [&'static str; 2]) -> Metric {
    Metric { column, decimals: 0, title, scale: 1e-6, more_is_better: true }
}

impl Throughput {
    /// The throughput of executors with `threads` workers under `load`. Unless it is to have its `full_size`, a sample may
    /// be smaller than the load.
    pub fn new(threads: usize, load: Load, full_size: bool, patience: Duration) -> Self {
        Throughput { threads, asked: load, sampled: load, full_size, patience }
    }

    fn turn_with(&self, load: Load) -> Bursts {
        let primer = load.shrunk_to(0, self.threads);
        Bursts { load, primer, count: 1, pause: Duration::ZERO, patience: self.patience }
    }

    /// The time that `subject` takes for a job of this load, in nanoseconds, by trying larger and larger pieces of it.
    fn nanos_per_job(&self, subject: &dyn Subject<Bursts>) -> Result<f64, Failure> {
        const ENOUGH: f64 = 20e6;
        let mut jobs = 5_000;
        loop {
            let piece = self.asked.shrunk_to(jobs, self.threads);
            let nanos = subject.take(&self.turn_with(piece))?.burst_nanos();
            if nanos >= ENOUGH || piece == self.asked {
                return Ok(nanos / piece.jobs() as f64);
            }
            jobs = piece.jobs().saturating_mul(8);
        }
    }
}

impl Experiment for Throughput {
    type Turn = Bursts;

    fn name(&self) -> &'static str {
        "throughput"
    }

    fn turn(&self) -> Bursts {
        self.turn_with(self.sampled)
    }

    fn fit(&mut self, pace: &Pace, subjects: &[Box<dyn Subject<Bursts>>]) {
        if self.full_size {
            return;
        }
        let nanos_per_job: f64 = subjects.iter().filter_map(|subject| self.nanos_per_job(&**subject).ok()).sum();
        if nanos_per_job * self.asked.jobs() as f64 > pace.longest_round().as_nanos() as f64 {
            let jobs = pace.good_round().as_nanos() as f64 / nanos_per_job;
            self.sampled = self.asked.shrunk_to(jobs as u64, self.threads);
        }
    }

    fn settings(&self) -> Vec<Setting> {
        let (asked, sampled, labour) = (&self.asked, &self.sampled, self.asked.labour());
        vec![
            Setting::new("threads", self.threads),
            Setting::new("producers", asked.producers()),
            Setting::new("messages_per_producer", asked.messages()),
            Setting::new("amplification", asked.amplification()),
            Setting::new("pre_units", labour.pre),
            Setting::new("post_units", labour.post),
            Setting::new("sampled_messages_per_producer", sampled.messages()),
            Setting::new("sampled_amplification", sampled.amplification()),
            Setting::new("jobs_per_sample", sampled.jobs()),
        ]
    }

    fn description(&self) -> Vec<(&'static str, String)> {
        let (asked, sampled, labour) = (&self.asked, &self.sampled, self.asked.labour());
        let cost = |units: u64| {
            let micros = if units == 0 { 0.0 } else { nanos_per_unit(units) * units as f64 / 1e3 };
            format!("{units} units ({micros:.3} us)")
        };
        let sample = if sampled == asked {
            "all of it".to_owned()
        } else {
            format!(
                "{} jobs ({} messages, amplification {}), so that enough samples fit into the budget; \
                 --full-size runs it all",
                sampled.jobs(),
                sampled.messages(),
                sampled.amplification()
            )
        };
        vec![
            ("threads", self.threads.to_string()),
            ("load", super::describe(asked)),
            ("each job", format!("{} before and {} after passing on", cost(labour.pre), cost(labour.post))),
            ("a sample", sample),
        ]
    }

    fn metrics(&self) -> &'static [Metric] {
        METRICS
    }

    fn figures(&self, samples: &[Sample]) -> Vec<Option<f64>> {
        let rates: Vec<f64> = samples.iter().map(|sample| sample.jobs as f64 / sample.burst_nanos() * 1e9).collect();
        let summary = Summary::of(&rates);
        vec![
            summary.map(|it| it.median),
            summary.map(|it| it.low),
            summary.map(|it| it.high),
            ratio(samples, |burst| burst.cpu, |sample, _| sample.jobs as f64),
            super::relative_error_percent(samples),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Burst, Labour};

    const PACE: Pace =
        Pace { warm_up: 1, min_samples: 5, max_samples: 100, target: 0.02, budget: Duration::from_secs(60) };

    /// Takes that many nanoseconds for each job.
    #[derive(Debug)]
    struct Steady(u64);

    impl Subject<Bursts> for Steady {
        fn name(&self) -> &'static str {
            "steady"
        }

        fn take(&self, turn: &Bursts) -> Result<Sample, Failure> {
            Ok(sample(turn.load.jobs(), turn.load.jobs() * self.0))
        }
    }

    #[derive(Debug)]
    struct Broken;

    impl Subject<Bursts> for Broken {
        fn name(&self) -> &'static str {
            "broken"
        }

        fn take(&self, _turn: &Bursts) -> Result<Sample, Failure> {
            Err(Failure::Submission)
        }
    }

    fn sample(jobs: u64, nanos: u64) -> Sample {
        let wall = Duration::from_nanos(nanos);
        Sample { jobs, bursts: vec![Burst { wall, cpu: Some(wall * 2), idle: Duration::ZERO, idle_cpu: None }] }
    }

    fn throughput(messages: u64, full_size: bool) -> Throughput {
        let load = Load::new(2, messages, 1, Labour::default()).expect("countable");
        Throughput::new(2, load, full_size, Duration::from_secs(1))
    }

    fn fitted(mut experiment: Throughput, subjects: &[Box<dyn Subject<Bursts>>]) -> u64 {
        experiment.fit(&PACE, subjects);
        experiment.turn().load.jobs()
    }

    #[test]
    fn a_load_that_fits_is_sampled_whole() {
        assert_eq!(fitted(throughput(1_000_000, false), &[Box::new(Steady(100)), Box::new(Steady(200))]), 4_000_000);
    }

    #[test]
    fn a_load_that_does_not_fit_is_sampled_in_pieces_that_do() {
        let subjects: [Box<dyn Subject<Bursts>>; 2] = [Box::new(Steady(6_000)), Box::new(Steady(8_000))];
        let jobs = fitted(throughput(10_000_000, false), &subjects);
        let round = Duration::from_nanos(jobs * 14_000);
        assert!(round <= PACE.good_round() && round * 2 > PACE.good_round(), "{round:?}");
    }

    #[test]
    fn full_size_is_full_size() {
        assert_eq!(fitted(throughput(10_000_000, true), &[Box::new(Steady(8_000))]), 40_000_000);
    }

    #[test]
    fn broken_executors_do_not_keep_the_others_from_fitting() {
        let alone = fitted(throughput(10_000_000, false), &[Box::new(Steady(8_000))]);
        assert_eq!(fitted(throughput(10_000_000, false), &[Box::new(Broken), Box::new(Steady(8_000))]), alone);
        assert_eq!(fitted(throughput(10_000_000, false), &[Box::new(Broken)]), 40_000_000);
    }

    #[test]
    fn figures_are_rates_of_all_jobs() {
        let figures =
            throughput(1, false).figures(&[sample(1000, 1_000_000), sample(1000, 500_000), sample(1000, 250_000)]);
        assert_eq!(figures.len(), METRICS.len());
        assert_eq!(figures[..3], [Some(2e6), Some(1e6), Some(4e6)]);
        assert_eq!(figures[3], Some(2.0 * 1_750_000.0 / 3000.0));
    }
}
