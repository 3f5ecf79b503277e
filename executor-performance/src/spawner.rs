//! Executors that run futures.

use executors::{Executor, FuturesExecutor};

/// An executor that polls futures whose end is not awaited.
pub trait Spawner: Executor + Sync + 'static {
    /// Polls `future` until it is done.
    fn spawn_future<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static;
}

impl<E: FuturesExecutor> Spawner for E {
    fn spawn_future<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.spawn_detached(future);
    }
}
