//! How many jobs a loaded executor runs in a second.

use super::{BurstSample, Bursts, Experiment, Subject, bursts::ratio, cut::Cut};
use crate::{
    record::{Metric, Setting},
    sampler::Pace,
    stats::Summary,
    workload::{Labour, Load, nanos_per_unit},
};
use std::time::Duration;

/// Runs one load at a time and looks at the clock.
#[derive(Debug, Clone, Copy)]
pub struct Throughput {
    cut: Cut,
    labour: Labour,
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
    /// The throughput of executors with `threads` workers under `load`, whose jobs do `labour`. Unless it is to have
    /// its `full_size`, a sample may be smaller than the load.
    pub fn new(threads: usize, load: Load, labour: Labour, full_size: bool, patience: Duration) -> Self {
        Throughput { cut: Cut::new(threads, load, full_size), labour, patience }
    }
}

impl Experiment for Throughput {
    type Turn = Bursts<Labour>;

    fn name(&self) -> &'static str {
        "throughput"
    }

    fn turn(&self) -> Bursts<Labour> {
        self.cut.burst(*self.cut.sampled(), self.labour, self.patience)
    }

    fn fit(&mut self, pace: &Pace, subjects: &[Box<dyn Subject<Bursts<Labour>>>]) {
        let Throughput { cut: whole, labour, patience } = *self;
        self.cut.fit(pace, subjects, |load| whole.burst(load, labour, patience), BurstSample::nanos);
    }

    fn settings(&self) -> Vec<Setting> {
        let (asked, sampled) = (self.cut.asked(), self.cut.sampled());
        vec![
            Setting::new("threads", self.cut.threads()),
            Setting::new("producers", asked.producers()),
            Setting::new("messages_per_producer", asked.messages()),
            Setting::new("amplification", asked.amplification()),
            Setting::new("pre_units", self.labour.pre),
            Setting::new("post_units", self.labour.post),
            Setting::fitted("sampled_messages_per_producer", sampled.messages()),
            Setting::fitted("sampled_amplification", sampled.amplification()),
            self.cut.jobs_per_sample(),
        ]
    }

    fn description(&self) -> Vec<(&'static str, String)> {
        let cost = |units: u64| {
            let micros = if units == 0 { 0.0 } else { nanos_per_unit(units) * units as f64 / 1e3 };
            format!("{units} units ({micros:.3} us)")
        };
        vec![
            ("threads", self.cut.threads().to_string()),
            ("load", super::describe(self.cut.asked())),
            ("each job", format!("{} before and {} after passing on", cost(self.labour.pre), cost(self.labour.post))),
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
        let bursts = || samples.iter().flat_map(|sample| &sample.bursts);
        let rates: Vec<f64> = bursts().map(|burst| burst.jobs as f64 / burst.wall.as_secs_f64()).collect();
        let summary = Summary::of(&rates);
        vec![
            summary.map(|it| it.median),
            summary.map(|it| it.low),
            summary.map(|it| it.high),
            ratio(bursts(), |burst| burst.cpu, |burst| burst.jobs as f64),
            super::relative_error_percent(samples),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::bursts::mock::burst;

    #[test]
    fn figures_are_rates_of_all_jobs() {
        let load = Load::new(2, 1, 1).expect("countable");
        let throughput = Throughput::new(2, load, Labour::default(), false, Duration::from_secs(1));
        let samples = [1_000_000, 500_000, 250_000]
            .map(|nanos| BurstSample { bursts: vec![burst(1000, nanos)], ..BurstSample::default() });
        let figures = throughput.figures(&samples);
        assert_eq!(figures.len(), METRICS.len());
        assert_eq!(figures[..3], [Some(2e6), Some(1e6), Some(4e6)]);
        assert_eq!(figures[3], Some(2.0 * 1_750_000.0 / 3000.0));
    }
}
