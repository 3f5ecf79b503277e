//! The twin of `exported.rs` for builds without the feature `produce-metrics`.

#[derive(Debug)]
pub(crate) struct Exporter;

impl Exporter {
    pub(crate) fn new(_executor: &'static str) -> Self {
        Exporter
    }

    #[inline(always)]
    pub(crate) fn publish_after_job(
        &self,
        _worker: usize,
        _workers: usize,
        _executed: impl Fn(usize) -> u64,
        _left: impl Fn() -> usize,
    ) {
    }

    #[inline(always)]
    pub(crate) fn publish_after_strike(
        &self,
        _workers: usize,
        _executed: impl Fn(usize) -> u64,
        _left: impl Fn() -> usize,
    ) {
    }

    #[inline(always)]
    pub(crate) fn publish(&self, _worker: usize, _executed: impl FnOnce() -> u64, _queued: impl Fn() -> usize) {}
}
