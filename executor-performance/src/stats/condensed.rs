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
