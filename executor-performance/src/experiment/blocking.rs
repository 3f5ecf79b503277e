//! How long an executor takes for jobs that wait and leave their cores to others.

use super::{BurstsSample, BurstsTurn, Experiment, Subject, bursts, millis};
use crate::{
    record::{Figure, Metric, Setting},
    sampler::Pace,
    workload::{Load, Pastime},
};
use std::time::Duration;

/// Lets one thread give jobs that sleep, and waits until all have run.
#[derive(Debug, Clone, Copy)]
pub struct Blocking {
    threads: usize,
    load: Load,
    sleep: Duration,
    patience: Duration,
}

const TIMES_IDEAL: Metric = Metric::new("times_ideal", ["of", "ideal"]);
const CPU: Metric = Metric::new("cpu_us_per_job", ["CPU", "us/job"]);

impl Blocking {
    /// For executors with up to `threads` workers. Each message of `load` is a job that sleeps for the time `sleep`.
    pub fn new(threads: usize, load: Load, sleep: Duration, patience: Duration) -> Self {
        Blocking { threads, load, sleep, patience }
    }

    /// The time if all threads slept all the time, and no longer than they were told.
    fn ideal(&self) -> Duration {
        self.load.ideal(self.sleep, self.threads)
    }
}

impl Experiment for Blocking {
    type Turn = BurstsTurn<Pastime>;

    fn name(&self) -> &'static str {
        "blocking"
    }

    /// A single job is run before, so that there is a worker. With more jobs, executors that begin with few workers
    /// would grow before the measurement, and their growth is part of it.
    fn turn(&self) -> BurstsTurn<Pastime> {
        BurstsTurn {
            load: self.load,
            work: Pastime::Asleep(self.sleep),
            assembled: false,
            primer: self.load.with_messages(1),
            count: 1,
            pause: Duration::ZERO,
            patience: self.patience,
        }
    }

    /// There is nothing to choose: fewer jobs would be another question.
    fn fit(&mut self, _pace: &Pace, _subjects: &[Box<dyn Subject<BurstsTurn<Pastime>>>]) {}

    fn settings(&self) -> Vec<Setting> {
        vec![
            Setting::new("threads", self.threads),
            Setting::new("jobs", self.load.jobs()),
            Setting::new("sleep_us", self.sleep.as_micros()),
        ]
    }

    fn description(&self) -> Vec<(&'static str, String)> {
        vec![
            ("threads", format!("up to {}", self.threads)),
            ("load", format!("{} jobs from one thread", self.load.jobs())),
            ("each job", super::per_job::payload(Pastime::Asleep(self.sleep))),
            ("ideal", format!("{:.3} ms", self.ideal().as_secs_f64() * 1e3)),
        ]
    }

    fn scales(&self) -> bool {
        true
    }

    fn figures(&self, samples: &[BurstsSample]) -> Vec<Figure> {
        let micros: Vec<f64> = bursts::of(samples).map(|burst| burst.wall.as_nanos() as f64 / 1e3).collect();
        let times = [millis("median_us", "all ran"), millis("low95_us", "95% low"), millis("high95_us", "95% high")];
        let [median, low, high] = super::median_and_interval(times, &micros);
        let ideal = self.ideal().as_nanos() as f64 / 1e3;
        vec![
            median,
            low,
            high,
            TIMES_IDEAL.figure(median.value.map(|median| median / ideal)),
            CPU.figure(bursts::ratio(bursts::of(samples), |burst| burst.cpu, |burst| burst.jobs as f64 * 1e3)),
            super::relative_error_figure(samples),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{bursts::mock::burst, mock::values};

    #[test]
    fn figures_are_times_and_what_they_are_of_the_ideal() {
        let (load, second) = (Load::new(1, 1000, 0).expect("countable"), Duration::from_secs(1));
        let blocking = Blocking::new(128, load, Duration::from_millis(1), second);
        let samples = [16, 12, 20]
            .map(|millis| BurstsSample { bursts: vec![burst(1000, millis * 1_000_000)], ..Default::default() });
        let figures = values(&blocking.figures(&samples));
        assert_eq!(figures[..4], [Some(16_000.0), Some(12_000.0), Some(20_000.0), Some(2.0)]);
        assert_eq!(figures[4], Some(32.0));
    }
}
