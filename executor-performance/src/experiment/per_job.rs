//! The figures of experiments that ask what one job costs.

use super::{BurstSample, bursts};
use crate::{record::Metric, workload::Pastime};
use std::time::Duration;

/// What a job costs.
pub(super) const METRICS: &[Metric] =
    &metrics(["median_ns_per_job", "low95_ns_per_job", "high95_ns_per_job", "cpu_ns_per_job"], "ns/job");

/// What one of something costs, in `unit`.
pub(super) const fn metrics(columns: [&'static str; 4], unit: &'static str) -> [Metric; 5] {
    let [median, low, high, cpu] = columns;
    [
        nanos(median, ["median", unit]),
        nanos(low, ["95% low", unit]),
        nanos(high, ["95% high", unit]),
        nanos(cpu, ["CPU", unit]),
        super::RELATIVE_ERROR,
    ]
}

pub(super) const fn nanos(column: &'static str, title: [&'static str; 2]) -> Metric {
    Metric { column, decimals: 3, title, scale: 1.0, more_is_better: false }
}

/// What a job does, for people.
pub(super) fn payload(work: Pastime) -> String {
    match work {
        Pastime::Busy(Duration::ZERO) => "nothing".to_owned(),
        Pastime::Busy(time) => {
            format!("{} us of work, which are not in the figures but for the CPU time", time.as_micros())
        }
        Pastime::Asleep(time) => format!("sleeps for {} us", time.as_micros()),
    }
}

/// Figures for [`metrics`]. What jobs do by themselves is in the CPU time only.
pub(super) fn figures(samples: &[BurstSample]) -> Vec<Option<f64>> {
    let overheads = samples.iter().flat_map(BurstSample::overheads);
    let jobs = bursts::of(samples).map(|burst| burst.jobs as f64);
    let nanos: Vec<f64> = overheads.zip(jobs).map(|(nanos, jobs)| nanos / jobs).collect();
    beside_cpu_time(&nanos, samples)
}

/// Three figures of `values`, of which there is one for each burst, and those of the CPU time of a job and of the
/// scatter.
pub(super) fn beside_cpu_time(values: &[f64], samples: &[BurstSample]) -> Vec<Option<f64>> {
    let [median, low, high] = super::median_and_interval(values);
    let cpu = bursts::cpu_nanos_per_job(bursts::of(samples));
    vec![median, low, high, cpu, super::relative_error_percent(samples)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::bursts::mock::burst;

    #[test]
    fn figures_are_nanoseconds_of_wall_and_cpu_time() {
        let samples = [30_000, 20_000, 70_000]
            .map(|nanos| BurstSample { bursts: vec![burst(1000, nanos)], ..BurstSample::default() });
        let figures = figures(&samples);
        assert_eq!(figures.len(), metrics(["", "", "", ""], "").len());
        assert_eq!(figures[..4], [Some(30.0), Some(20.0), Some(70.0), Some(80.0)]);
    }

    #[test]
    fn what_jobs_do_is_taken_off_the_time() {
        let ideal = Duration::from_nanos(20_000);
        let samples = [30_000, 50_000, 90_000].map(|nanos| BurstSample { bursts: vec![burst(1000, nanos)], ideal });
        assert_eq!(figures(&samples)[..3], [Some(30.0), Some(10.0), Some(70.0)]);
        assert_eq!(crate::experiment::costs(&samples), [10_000.0, 30_000.0, 70_000.0]);
    }

    #[test]
    fn no_samples_give_no_figures() {
        assert!(figures(&[]).iter().all(Option::is_none));
    }
}
