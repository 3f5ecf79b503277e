//! When an elastic pool grows.

/// When an elastic pool hires workers beyond its core.
///
/// # Examples
///
/// ```
/// use executors::{Executor, Pool, elastic_pool::{Growth, ThreadPool}};
/// use std::sync::mpsc;
///
/// for (growth, workers) in [(Growth::WhenBusy, 2), (Growth::WhenBlocked, 1)] {
///     let pool = ThreadPool::builder().core(1).max(2).growth(growth).build()?;
///     let ((begin, begun), (tell, told)) = (mpsc::channel(), mpsc::channel::<()>());
///     pool.execute(move || {
///         begin.send(()).expect("it is waited for");
///         // Blocks, and does not say so.
///         assert!(told.recv().is_err());
///     });
///     begun.recv()?;
///     pool.execute(|| ());
///     assert_eq!(pool.worker_count(), workers);
///     drop(tell);
///     pool.shutdown()?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Growth {
    /// When a job comes in and no worker is idle.
    #[default]
    WhenBusy,
    /// Only to replace workers that block inside [`blocking`](super::blocking); or while a future waits that the worker
    /// itself polls to its end, because it was given to [`complete`](super::ThreadPool::complete), or because the
    /// worker waits for it and it had not begun; or inside the `fork_join` of another pool. So (up to the maximum) as
    /// many workers as the core has can go on, however many block. A worker whose job blocks otherwise and does not say
    /// so is not replaced, not even if it waits for [a handle](crate::TaskHandle) or for
    /// [room](super::Saturation::Block): jobs may wait behind it.
    ///
    /// Workers hired in this way stay at work even when the others go on, until they have been idle for the keep-alive
    /// time: for a while more workers may be at work than the core has.
    WhenBlocked,
}
