//! Adapts pools that are not executors of this workspace to its interface.

use crate::{
    forker::{Forker, TaskForker, solve_by_tasks},
    spawner::Spawner,
    workload::{Problem, Site},
};
use executors::{CanExecute, Executor};

/// A handle to a pool.
pub(super) trait Pool: Clone + Send + Sync + 'static {
    /// Gives it a job.
    fn spawn<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static;

    /// Lets its threads end, without waiting for them. Does nothing for pools whose threads stay while there are
    /// handles.
    fn close(&self) {}

    /// Waits for its jobs, and lets its threads end if they can while there are handles.
    ///
    /// # Errors
    ///
    /// If it takes too long, or the pool cannot be waited for while there is a handle.
    fn finish(&self) -> Result<(), String>;

    /// Drops the last handle, and so lets the threads end; waits for the jobs, and for the threads if the pool tells
    /// when they leave.
    ///
    /// # Errors
    ///
    /// If it takes too long.
    fn end(self) -> Result<(), String> {
        self.finish()
    }
}

/// A pool that runs futures, too.
pub(super) trait FuturePool: Pool {
    /// Gives it a future whose end is not awaited.
    fn spawn_future<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static;
}

/// A pool of futures that returns their results.
pub(super) trait TaskPool: FuturePool {
    /// Gives it a future. The returned future gives its output.
    fn fork<F>(&self, future: F) -> impl Future<Output = F::Output> + Send + 'static
    where
        F: Future<Output: Send> + Send + 'static;
}

/// Makes a pool an executor of this workspace.
#[derive(Clone)]
pub(super) struct Adapted<P>(P);

impl<P> Adapted<P> {
    pub(super) fn of(pool: P) -> Self {
        Adapted(pool)
    }

    /// The pool itself, to call its other methods.
    #[cfg(feature = "peers")]
    pub(super) fn pool(&self) -> &P {
        &self.0
    }
}

impl<P: Pool> CanExecute for Adapted<P> {
    fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>) {
        self.0.spawn(job);
    }
}

impl<P: Pool> Executor for Adapted<P> {
    fn execute<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        self.0.spawn(job);
    }

    fn shutdown_async(&self) {
        self.0.close();
    }

    fn shutdown(self) -> Result<(), String> {
        self.0.end()
    }

    fn shutdown_borrowed(&self) -> Result<(), String> {
        self.0.finish()
    }
}

impl<P: FuturePool> Spawner for Adapted<P> {
    fn spawn_future<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.0.spawn_future(future);
    }
}

impl<P: TaskPool> TaskForker for Adapted<P> {
    fn fork<F>(&self, future: F) -> impl Future<Output = F::Output> + Send + 'static
    where
        F: Future<Output: Send> + Send + 'static,
    {
        self.0.fork(future)
    }
}

impl<P: TaskPool> Forker for Adapted<P> {
    fn solve<T: Problem>(site: Site<Self>, problem: Box<T>, done: impl FnOnce(T::Solution) + Send + 'static) {
        solve_by_tasks(site, problem, done);
    }
}

/// Checks that all jobs have run when `pool` has ended, although nothing waited for them before.
#[cfg(test)]
pub(super) fn ends_after_its_jobs<P: Pool>(pool: P) {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    let ran = Arc::new(AtomicUsize::new(0));
    for _ in 0..100 {
        let ran = Arc::clone(&ran);
        pool.spawn(move || {
            ran.fetch_add(1, Ordering::Relaxed);
        });
    }
    pool.end().expect("no job panics, and it does not take too long");
    assert_eq!(ran.load(Ordering::Relaxed), 100);
}
