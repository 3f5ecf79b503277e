//! A distribution as it is kept in thousands, and sent to other processes.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a [`Distribution`](super::Distribution) has in it, without the places for what it has not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condensed {
    /// Times in nanoseconds, and how many are about that long.
    pub(super) buckets: Vec<(u64, u64)>,
    pub(super) sum: Duration,
    pub(super) max: Duration,
}
