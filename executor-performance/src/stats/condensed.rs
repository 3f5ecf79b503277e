//! A distribution in a compact form, of which thousands are kept, and which is sent to other processes.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The contents of a [`Distribution`](super::Distribution), without its empty buckets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condensed {
    /// Times in nanoseconds, and how many are about that long.
    pub(super) buckets: Vec<(u64, u64)>,
    pub(super) sum: Duration,
    pub(super) max: Duration,
}

impl Condensed {
    /// The mean of all times, in nanoseconds. NaN if there are none.
    pub fn mean_nanos(&self) -> f64 {
        let count: u64 = self.buckets.iter().map(|(_, count)| count).sum();
        self.sum.as_nanos() as f64 / count as f64
    }
}
