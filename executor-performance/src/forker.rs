//! Executors whose jobs can fork, and wait for what they have forked: each in the best way that it offers.
//!
//! All begin in the same way: of two parts, the second is given to the executor, and the first is solved at once. They
//! differ in how they wait for the second. Executors whose workers would only block are not among these: soon all
//! workers would wait for jobs that no worker is left to run.

use crate::{
    spawner::Spawner,
    workload::{Division, Problem, Site},
};
use executors::{
    Executor, Pool, burst_pool, crossbeam_channel_pool, crossbeam_workstealing_pool, dispatcher, elastic_pool,
    parker::Parker, threadpool_executor,
};

/// An executor that solves problems by forking and joining.
pub trait Forker: Executor + Sync + 'static {
    /// Solves `problem` with jobs of the executor at `site`, and calls `done` with the solution in the first of them.
    /// By then neither the site nor the problem is used any more. The problem is in a box, so that not even a reference
    /// in it is left on the stack.
    fn solve<P: Problem>(site: Site<Self>, problem: Box<P>, done: impl FnOnce(P::Solution) + Send + 'static)
    where
        Self: Sized;
}

/// Other pools of this workspace: a job that waits for one that has not begun runs it.
macro_rules! impl_forker_by_handles {
    ($($pool:ty),+ $(,)?) => {$(
        impl Forker for $pool {
            fn solve<P: Problem>(site: Site<Self>, problem: Box<P>, done: impl FnOnce(P::Solution) + Send + 'static) {
                site.executor().execute(move || done(by_handles(site, *problem)));
            }
        }
    )+};
}

impl_forker_by_handles!(
    threadpool_executor::ThreadPoolExecutor,
    crossbeam_channel_pool::ThreadPool,
    elastic_pool::ThreadPool,
    burst_pool::ThreadPool,
    dispatcher::Dispatcher,
);

/// The pool that has a method of its own for this.
impl<K: Parker + Clone + 'static> Forker for crossbeam_workstealing_pool::ThreadPool<K> {
    fn solve<P: Problem>(site: Site<Self>, problem: Box<P>, done: impl FnOnce(P::Solution) + Send + 'static) {
        site.executor().execute(move || done(by_fork_join(site, *problem)));
    }
}

fn by_fork_join<K: Parker + Clone + 'static, P: Problem>(
    site: Site<crossbeam_workstealing_pool::ThreadPool<K>>,
    problem: P,
) -> P::Solution {
    match problem.divide() {
        Division::Solved(solution) => solution,
        Division::Parts(one, other) => {
            let (one, other) = site.executor().fork_join(|| by_fork_join(site, one), || by_fork_join(site, other));
            P::join(one, other)
        }
    }
}

fn by_handles<E: Pool + 'static, P: Problem>(site: Site<E>, problem: P) -> P::Solution {
    match problem.divide() {
        Division::Solved(solution) => solution,
        Division::Parts(one, other) => {
            let other = site.executor().submit(move || by_handles(site, other));
            let one = by_handles(site, one);
            P::join(one, other.wait().expect(LOST))
        }
    }
}

/// An executor of futures that returns their results.
pub(crate) trait TaskForker: Spawner {
    /// Polls `future` until it is done. The returned future gives its output.
    fn fork<F>(&self, future: F) -> impl Future<Output = F::Output> + Send + 'static
    where
        F: Future<Output: Send> + Send + 'static;
}

/// [`Forker::solve`] for executors of futures: tasks that await others hold no thread.
pub(crate) fn solve_by_tasks<S: TaskForker, P: Problem>(
    site: Site<S>,
    problem: Box<P>,
    done: impl FnOnce(P::Solution) + Send + 'static,
) {
    site.executor().spawn_future(async move { done(by_tasks(site, *problem).await) });
}

#[expect(clippy::manual_async_fn, reason = "of an `async fn` that spawns itself it cannot be shown that it is `Send`")]
fn by_tasks<S: TaskForker, P: Problem>(site: Site<S>, problem: P) -> impl Future<Output = P::Solution> + Send {
    async move {
        match problem.divide() {
            Division::Solved(solution) => solution,
            Division::Parts(one, other) => joined(site, one, other).await,
        }
    }
}

/// A part that is small is solved without a box.
#[expect(clippy::manual_async_fn, reason = "as above")]
fn joined<S: TaskForker, P: Problem>(site: Site<S>, one: P, other: P) -> impl Future<Output = P::Solution> + Send {
    async move {
        let other = site.executor().fork(by_tasks(site, other));
        let one = match one.divide() {
            Division::Solved(solution) => solution,
            Division::Parts(one, other) => Box::pin(joined(site, one, other)).await,
        };
        P::join(one, other.await)
    }
}

/// Why a job that waits for another gives up.
pub(crate) const LOST: &str = "a job that another waited for was lost";
