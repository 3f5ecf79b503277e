//! The figures of experiments that ask what one job costs.

use super::{BurstsSample, bursts};
use crate::{
    record::{Figure, Metric},
    workload::Pastime,
};
use std::time::Duration;

/// The metrics of a cost in `unit`: its median, the ends of its interval, and the CPU time.
pub(super) const fn metrics([median, low, high, cpu]: [&'static str; 4], unit: &'static str) -> [Metric; 4] {
    [
        nanos(median, ["median", unit]),
        nanos(low, ["95% low", unit]),
        nanos(high, ["95% high", unit]),
        nanos(cpu, ["CPU", unit]),
    ]
}

pub(super) const fn nanos(column: &'static str, title: [&'static str; 2]) -> Metric {
    Metric::new(column, title)
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

/// What a job costs.
pub(super) fn figures(samples: &[BurstsSample]) -> Vec<Figure> {
    let columns = ["median_ns_per_job", "low95_ns_per_job", "high95_ns_per_job", "cpu_ns_per_job"];
    figures_of(metrics(columns, "ns/job"), samples)
}

/// What a job costs, as figures of these `metrics`. The jobs' own work is only in the CPU time.
pub(super) fn figures_of(metrics: [Metric; 4], samples: &[BurstsSample]) -> Vec<Figure> {
    let overheads = samples.iter().flat_map(BurstsSample::overheads);
    let jobs = bursts::of(samples).map(|burst| burst.jobs as f64);
    let nanos: Vec<f64> = overheads.zip(jobs).map(|(nanos, jobs)| nanos / jobs).collect();
    beside_cpu_time(metrics, &nanos, samples)
}

/// The median of `values`, of which there is one for each burst, its interval, the CPU time of a job, and the scatter.
pub(super) fn beside_cpu_time(
    [median, low, high, cpu]: [Metric; 4],
    values: &[f64],
    samples: &[BurstsSample],
) -> Vec<Figure> {
    let mut figures = super::median_and_interval([median, low, high], values).to_vec();
    figures.push(cpu.figure(bursts::cpu_nanos_per_job(bursts::of(samples))));
    figures.push(super::relative_error_figure(samples));
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{bursts::mock::burst, mock::values};

    #[test]
    fn figures_are_nanoseconds_of_wall_and_cpu_time() {
        let samples = [30_000, 20_000, 70_000]
            .map(|nanos| BurstsSample { bursts: vec![burst(1000, nanos)], ..BurstsSample::default() });
        assert_eq!(values(&figures(&samples))[..4], [Some(30.0), Some(20.0), Some(70.0), Some(80.0)]);
    }

    #[test]
    fn what_jobs_do_is_taken_off_the_time() {
        let ideal = Duration::from_nanos(20_000);
        let samples = [30_000, 50_000, 90_000].map(|nanos| BurstsSample { bursts: vec![burst(1000, nanos)], ideal });
        assert_eq!(values(&figures(&samples))[..3], [Some(30.0), Some(10.0), Some(70.0)]);
        assert_eq!(crate::experiment::costs(&samples), [10_000.0, 30_000.0, 70_000.0]);
    }

    #[test]
    fn no_samples_give_no_figures() {
        assert_eq!(values(&figures(&[])), [None; 5]);
    }
}
