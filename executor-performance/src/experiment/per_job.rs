//! The figures of experiments that ask what one job costs.

use super::{BurstSample, bursts::ratio};
use crate::{record::Metric, stats::Summary};

/// What one of `noun` costs.
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

/// Figures for [`metrics`].
pub(super) fn figures(samples: &[BurstSample]) -> Vec<Option<f64>> {
    let bursts = || samples.iter().flat_map(|sample| &sample.bursts);
    let nanos: Vec<f64> = bursts().map(|burst| burst.wall.as_nanos() as f64 / burst.jobs as f64).collect();
    let summary = Summary::of(&nanos);
    vec![
        summary.map(|it| it.median),
        summary.map(|it| it.low),
        summary.map(|it| it.high),
        ratio(bursts(), |burst| burst.cpu, |burst| burst.jobs as f64),
        super::relative_error_percent(samples),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::bursts::mock::burst;

    #[test]
    fn figures_are_nanoseconds_of_wall_and_cpu_time() {
        let samples = [30_000, 20_000, 70_000].map(|nanos| BurstSample { bursts: vec![burst(1000, nanos)] });
        let figures = figures(&samples);
        assert_eq!(figures.len(), metrics(["", "", "", ""], "").len());
        assert_eq!(figures[..4], [Some(30.0), Some(20.0), Some(70.0), Some(80.0)]);
    }

    #[test]
    fn no_samples_give_no_figures() {
        assert!(figures(&[]).iter().all(Option::is_none));
    }
}
