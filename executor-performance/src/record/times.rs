use crate::stats::Distribution;
use serde::{Deserialize, Serialize};

/// The distribution of single times over all samples of one executor, in microseconds, to three digits. A percentile
/// beyond which there would be less than one time is missing; in older records it is the longest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// How many times.
    pub count: u64,
    /// Their mean.
    pub mean_us: f64,
    /// Half of them are at most this long.
    pub p50_us: Option<f64>,
    /// 90 % of them are.
    pub p90_us: Option<f64>,
    /// 99 % of them are.
    pub p99_us: Option<f64>,
    /// 99.9 % of them are.
    pub p999_us: Option<f64>,
    /// All are.
    pub max_us: f64,
    /// Pairs of a time and how many are about that long, but not longer; times without any are left out.
    pub histogram: Vec<(f64, u64)>,
}

impl Times {
    /// The `distribution`, in a form that can be written.
    pub fn of(distribution: &Distribution) -> Self {
        let quantile = |quantile| distribution.percentile_us(quantile);
        Times {
            count: distribution.count(),
            mean_us: distribution.mean_us(),
            p50_us: quantile(0.5),
            p90_us: quantile(0.9),
            p99_us: quantile(0.99),
            p999_us: quantile(0.999),
            max_us: distribution.max_us(),
            histogram: distribution.buckets().collect(),
        }
    }
}
