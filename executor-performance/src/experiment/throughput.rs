//! How many jobs a loaded executor runs in a second.

use super::{BurstsSample, Question, bursts, per_job};
use crate::{
    record::{Figure, Metric, Setting},
    workload::{Labour, Load, nanos_per_unit},
};

/// Lets producers start chains. The field is what each job does.
#[derive(Debug, Clone, Copy)]
pub struct Throughput(pub Labour);

const fn jobs_per_second(column: &'static str, name: &'static str) -> Metric {
    Metric::new(column, [name, "M jobs/s"]).with_decimals(0).scaled(1e-6).more_is_better()
}

impl Question for Throughput {
    type Work = Labour;

    const NAME: &'static str = "throughput";

    fn work(&self) -> Labour {
        self.0
    }

    fn settings(&self, asked: &Load, sampled: &Load) -> Vec<Setting> {
        vec![
            Setting::new("producers", asked.producers()),
            Setting::new("messages_per_producer", asked.messages()),
            Setting::new("amplification", asked.amplification()),
            Setting::new("pre_units", self.0.pre),
            Setting::new("post_units", self.0.post),
            Setting::fitted("sampled_messages_per_producer", sampled.messages()),
            Setting::fitted("sampled_amplification", sampled.amplification()),
        ]
    }

    fn description(&self, asked: &Load) -> Vec<(&'static str, String)> {
        let cost = |units: u64| {
            let micros = if units == 0 { 0.0 } else { nanos_per_unit(units) * units as f64 / 1e3 };
            format!("{units} units ({micros:.3} us)")
        };
        let job = format!("{} before and {} after passing on", cost(self.0.pre), cost(self.0.post));
        vec![("load", super::describe(asked)), ("each job", job)]
    }

    fn figures(samples: &[BurstsSample]) -> Vec<Figure> {
        let metrics = [
            jobs_per_second("median_jobs_per_s", "median"),
            jobs_per_second("low95_jobs_per_s", "95% low"),
            jobs_per_second("high95_jobs_per_s", "95% high"),
            per_job::nanos("cpu_ns_per_job", ["CPU", "ns/job"]),
        ];
        let rates: Vec<f64> = bursts::of(samples).map(|burst| burst.jobs as f64 / burst.wall.as_secs_f64()).collect();
        per_job::beside_cpu_time(metrics, &rates, samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{bursts::mock::burst, mock::values};

    #[test]
    fn figures_are_rates_of_all_jobs() {
        let samples = [1_000_000, 500_000, 250_000]
            .map(|nanos| BurstsSample { bursts: vec![burst(1000, nanos)], ..BurstsSample::default() });
        let figures = values(&Throughput::figures(&samples));
        assert_eq!(figures[..3], [Some(2e6), Some(1e6), Some(4e6)]);
        assert_eq!(figures[3], Some(2.0 * 1_750_000.0 / 3000.0));
    }
}
