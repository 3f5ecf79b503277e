//! The pools of the published version 0.10.0.

use super::adapter::{FuturePool, Pool, TaskPool};
use executors_published::{
    Executor, FuturesExecutor, crossbeam_channel_pool, crossbeam_workstealing_pool,
    parker::{SmallThreadData, StaticParker},
    threadpool_executor::ThreadPoolExecutor,
};

/// Forwards each call to that of the old interface.
#[derive(Debug, Clone)]
pub(super) struct Published<E>(E);

impl<E: Executor + Sync + 'static> Pool for Published<E> {
    fn spawn<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        self.0.execute(job);
    }

    fn close(&self) {
        self.0.shutdown_async();
    }

    fn finish(&self) -> Result<(), String> {
        self.0.shutdown_borrowed()
    }
}

impl<E: FuturesExecutor> FuturePool for Published<E> {
    fn spawn_future<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.0.spawn(future).detach();
    }
}

impl<E: FuturesExecutor> TaskPool for Published<E> {
    fn fork<F>(&self, future: F) -> impl Future<Output = F::Output> + Send + 'static
    where
        F: Future<Output: Send> + Send + 'static,
    {
        self.0.spawn(future)
    }
}

pub(super) fn threadpool(threads: usize) -> Published<ThreadPoolExecutor> {
    Published(ThreadPoolExecutor::new(threads))
}

pub(super) fn channel(threads: usize) -> Published<crossbeam_channel_pool::ThreadPool> {
    Published(crossbeam_channel_pool::ThreadPool::new(threads))
}

pub(super) fn workstealing(
    threads: usize,
) -> Published<crossbeam_workstealing_pool::ThreadPool<StaticParker<SmallThreadData>>> {
    Published(crossbeam_workstealing_pool::small_pool(threads))
}
