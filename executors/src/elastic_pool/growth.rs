//! When an elastic pool grows.

/// When an elastic pool hires beyond its core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Growth {
    /// When a job comes in and no worker is idle.
    #[default]
    WhenBusy,
    /// Only in place of workers that block inside [`blocking`](super::blocking), or while a future waits that
    /// [`complete`](super::ThreadPool::complete) was given, so that as many as the core has can go on, however many
    /// block. A worker whose job blocks and does not say so is not replaced: jobs may wait behind it. Workers that were hired so stay at work when the others go on, too, until they are
    /// idle for the keep-alive: for a time there may be more at work than the core has.
    WhenBlocked,
}
