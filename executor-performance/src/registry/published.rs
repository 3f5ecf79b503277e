//! The executors of the published version 0.10.0, as executors of this version.

use crate::{
    forker::{Forker, TaskForker, solve_by_tasks},
    spawner::Spawner,
    workload::{Problem, Site},
};
use executors::{CanExecute, Executor};
use executors_published::{
    Executor as PublishedExecutor, FuturesExecutor as PublishedFuturesExecutor, crossbeam_channel_pool,
    crossbeam_workstealing_pool,
    parker::{SmallThreadData, StaticParker},
    threadpool_executor::ThreadPoolExecutor,
};

/// Forwards each call to the method of the same name.
#[derive(Debug, Clone)]
pub(super) struct Published<E>(E);

impl<E: PublishedExecutor> CanExecute for Published<E> {
    fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>) {
        self.0.execute_job(job);
    }
}

impl<E: PublishedExecutor> Executor for Published<E> {
    fn execute<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        self.0.execute(job);
    }

    fn shutdown_async(&self) {
        self.0.shutdown_async();
    }

    fn shutdown_borrowed(&self) -> Result<(), String> {
        self.0.shutdown_borrowed()
    }
}

impl<E: PublishedFuturesExecutor> Spawner for Published<E> {
    fn spawn_future<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.0.spawn(future).detach();
    }
}

impl<E: PublishedFuturesExecutor> TaskForker for Published<E> {
    fn fork<F>(&self, future: F) -> impl Future<Output = F::Output> + Send + 'static
    where
        F: Future<Output: Send> + Send + 'static,
    {
        self.0.spawn(future)
    }
}

impl<E: PublishedFuturesExecutor> Forker for Published<E> {
    fn solve<P: Problem>(site: Site<Self>, problem: Box<P>, done: impl FnOnce(P::Solution) + Send + 'static) {
        solve_by_tasks(site, problem, done);
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
