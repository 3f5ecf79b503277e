//! How long an idle executor takes for a burst of jobs.

use super::{BurstsSample, BurstsTurn, Experiment, Subject, bursts, millis};
use crate::{
    record::{Figure, Metric, Setting},
    sampler::Pace,
    stats::{Distribution, Pooled},
    view::number,
    workload::{Labour, Load},
};
use std::time::Duration;

/// Runs a load again and again, with idle time in between.
///
/// A closed loop: the next burst begins only after the last has ended and the pause is over, so a slow burst delays the
/// following ones instead of adding to their time.
#[derive(Debug, Clone, Copy)]
pub struct Latency {
    threads: usize,
    load: Load,
    labour: Labour,
    pause: Duration,
    bursts_per_sample: u32,
    patience: Duration,
}

const IDLE_CPU: Metric = Metric::new("idle_cpu_percent", ["idle CPU", "% of core"]);

impl Latency {
    /// The latency of executors with `threads` workers under bursts of `load`, whose jobs do `labour`, with `pause`
    /// before each.
    pub fn new(threads: usize, load: Load, labour: Labour, pause: Duration, patience: Duration) -> Self {
        Latency { threads, load, labour, pause, bursts_per_sample: 1, patience }
    }
}

impl Experiment for Latency {
    type Turn = BurstsTurn<Labour>;

    fn name(&self) -> &'static str {
        "latency"
    }

    fn turn(&self) -> BurstsTurn<Labour> {
        BurstsTurn {
            load: self.load,
            work: self.labour,
            assembled: true,
            primer: self.load,
            count: self.bursts_per_sample,
            pause: self.pause,
            patience: self.patience,
        }
    }

    /// A sample has as many bursts as there is time for, because each sample also costs an unmeasured burst.
    fn fit(&mut self, pace: &Pace, subjects: &[Box<dyn Subject<BurstsTurn<Labour>>>]) {
        let one_burst = BurstsTurn { count: 1, pause: Duration::ZERO, ..self.turn() };
        let samples = subjects.iter().filter_map(|subject| subject.take(&one_burst).ok());
        let bursts: Vec<f64> = samples.map(|sample| sample.nanos()).collect();
        self.bursts_per_sample = bursts::that_fit(pace, Duration::ZERO, self.pause, &bursts);
    }

    fn settings(&self) -> Vec<Setting> {
        let (load, labour) = (&self.load, self.labour);
        vec![
            Setting::new("threads", self.threads),
            Setting::new("producers", load.producers()),
            Setting::new("messages_per_producer", load.messages()),
            Setting::new("amplification", load.amplification()),
            Setting::new("pre_units", labour.pre),
            Setting::new("post_units", labour.post),
            Setting::new("sleep_ms", self.pause.as_millis()),
            Setting::new("jobs_per_burst", load.jobs()),
            Setting::fitted("bursts_per_sample", self.bursts_per_sample),
        ]
    }

    fn description(&self) -> Vec<(&'static str, String)> {
        vec![
            super::assembled(self.threads),
            ("burst", super::describe(&self.load)),
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

    fn scales(&self) -> bool {
        true
    }

    fn figures(&self, samples: &[BurstsSample]) -> Vec<Figure> {
        let bursts = || bursts::of(samples);
        let times = self.times(samples);
        let time =
            |column, name, of: &dyn Fn(&Distribution) -> f64| millis(column, name).figure(times.as_ref().map(of));
        let percentile = |column, name, part| super::percentile(millis(column, name), times.as_ref(), part);
        let idle_cpu = bursts::ratio(bursts(), |burst| burst.idle_cpu, |burst| burst.idle.as_nanos() as f64 / 100.0);
        let [low, high] = super::ends_of_interval(millis, ["low95_mean_us", "high95_mean_us"]);
        vec![
            time("mean_us", "mean", &Distribution::mean_us),
            low,
            high,
            percentile("p50_us", "p50", 0.5),
            percentile("p90_us", "p90", 0.9),
            percentile("p99_us", "p99", 0.99),
            time("max_us", "max", &Distribution::max_us),
            super::relative_error_figure(samples),
            bursts::cpu_per_burst(bursts()),
            IDLE_CPU.figure(idle_cpu),
            bursts::COUNT.figure(times.as_ref().map(|times| times.count() as f64)),
            percentile("p999_us", "p99.9", 0.999),
        ]
    }

    fn pooled(&self) -> Option<Pooled> {
        Some(Pooled::Mean)
    }

    fn times(&self, samples: &[BurstsSample]) -> Option<Distribution> {
        Distribution::of(bursts::of(samples).map(|burst| burst.wall))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiment::{
            bursts,
            mock::{value, values},
        },
        workload::Burst,
    };

    fn latency() -> Latency {
        let load = Load::new(1, 100, 1).expect("countable");
        Latency::new(2, load, Labour::default(), Duration::from_millis(100), Duration::from_secs(1))
    }

    fn sample(micros: impl IntoIterator<Item = u64>) -> BurstsSample {
        let burst = |micros| Burst {
            idle: Duration::from_millis(100),
            idle_cpu: Some(Duration::from_millis(25)),
            ..bursts::mock::burst(200, 1000 * micros)
        };
        BurstsSample { bursts: micros.into_iter().map(burst).collect(), ..BurstsSample::default() }
    }

    fn figure(figures: &[Figure], column: &str) -> f64 {
        value(figures, column).expect(column)
    }

    #[test]
    fn figures_are_those_of_all_bursts() {
        let figures = latency().figures(&[sample(1..=50), sample(51..=100)]);
        assert_eq!(figure(&figures, "mean_us"), 50.5);
        for (column, micros) in [("p50_us", 50.0), ("p90_us", 90.0), ("p99_us", 99.0), ("max_us", 100.0)] {
            assert!((figure(&figures, column) / micros - 1.0).abs() < 0.002, "{column}");
        }
        assert_eq!(figure(&figures, "cpu_us_per_burst"), 101.0);
        assert_eq!(figure(&figures, "idle_cpu_percent"), 25.0);
        assert_eq!(figure(&figures, "bursts"), 100.0);
    }

    #[test]
    fn the_error_is_that_between_samples() {
        let same = latency().figures(&[sample([1, 9]), sample([4, 6])]);
        assert_eq!(figure(&same, "rse_percent"), 0.0);
        let other = latency().figures(&[sample([1, 1]), sample([3, 3])]);
        assert_eq!(figure(&other, "rse_percent"), 50.0);
    }

    #[test]
    fn no_samples_give_no_figures() {
        assert_eq!(values(&latency().figures(&[])), [None; 12]);
    }
}
