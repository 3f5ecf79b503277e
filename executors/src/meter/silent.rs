//! The twin of `exported.rs` for builds without the feature `produce-metrics`.

use super::Reading;

#[derive(Debug)]
pub(crate) struct Exporter;

impl Exporter {
    pub(crate) fn new(_executor: &'static str) -> Self {
        Exporter
    }

    #[inline(always)]
    pub(crate) fn is_due(&self, _waiting: usize, _reading: impl FnOnce() -> Reading) -> bool {
        false
    }

    #[inline(always)]
    pub(crate) fn publish(&self, _worker: usize, _reading: impl FnOnce() -> Reading, _queued: impl FnOnce() -> usize) {}
}
