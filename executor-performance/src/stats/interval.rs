use serde::{Deserialize, Serialize};

/// The 95 % interval of a number. In records its ends have the names given here.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Its lower end.
    #[serde(rename = "low95")]
    pub low: f64,
    /// Its upper end.
    #[serde(rename = "high95")]
    pub high: f64,
}

impl Interval {
    /// The same, in a unit in which it is `scale` times as large.
    #[must_use]
    pub fn scaled(self, scale: f64) -> Self {
        Interval { low: self.low * scale, high: self.high * scale }
    }

    /// The same, but reaching at least from `value / reach` to `value * reach`, where `value` is the number.
    #[must_use]
    pub fn reaching(self, reach: f64, value: f64) -> Self {
        Interval { low: self.low.min(value / reach), high: self.high.max(value * reach) }
    }
}
