//! The static executor of the crate `async-executor`.

use super::{FuturePool, Pool, TaskPool};
use crate::failure::Failure;
use async_executor::{Executor, StaticExecutor};
use futures::{channel::oneshot, executor::block_on};
use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
};

/// Gets jobs by `StaticExecutor::spawn`, which costs less than the same method of an executor that can be dropped. A
/// job is a task that is never pending. The crate has no threads, so each of ours does nothing but run the executor.
///
/// Shutting down waits for all jobs. Only the executor itself remains: it lives as long as the program.
#[derive(Clone)]
pub(in crate::registry) struct AsyncExecutor {
    executor: &'static StaticExecutor,
    runners: Arc<Mutex<Vec<Runner>>>,
}

/// A thread, and the leash that keeps it running.
struct Runner {
    leash: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl AsyncExecutor {
    pub(in crate::registry) fn new(threads: usize) -> Result<Self, Failure> {
        let executor = Executor::new().leak();
        let runners = (0..threads).map(|_| Runner::start(executor)).collect::<Result<_, _>>()?;
        Ok(AsyncExecutor { executor, runners: Arc::new(Mutex::new(runners)) })
    }

    fn take_runners(&self) -> Vec<Runner> {
        mem::take(&mut self.runners.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Runner {
    fn start(executor: &'static StaticExecutor) -> Result<Self, Failure> {
        let (leash, loose) = oneshot::channel::<()>();
        let run = move || {
            // Ends when the other end is dropped, even if there are still jobs.
            let _ = block_on(executor.run(loose));
            while executor.try_tick() {}
        };
        let thread = thread::Builder::new().name("async-executor".to_owned()).spawn(run);
        Ok(Runner { leash, thread: thread.map_err(|error| Failure::of_build(&error))? })
    }
}

impl Pool for AsyncExecutor {
    fn spawn<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        self.executor.spawn(async move { job() }).detach();
    }

    fn close(&self) {
        self.take_runners();
    }

    fn finish(&self) -> Result<(), String> {
        let (leashes, threads): (Vec<_>, Vec<_>) =
            self.take_runners().into_iter().map(|runner| (runner.leash, runner.thread)).unzip();
        drop(leashes);
        for thread in threads {
            thread.join().map_err(|_| "a job panicked")?;
        }
        Ok(())
    }
}

impl FuturePool for AsyncExecutor {
    fn spawn_future<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.executor.spawn(future).detach();
    }
}

impl TaskPool for AsyncExecutor {
    fn fork<F>(&self, future: F) -> impl Future<Output = F::Output> + Send + 'static
    where
        F: Future<Output: Send> + Send + 'static,
    {
        self.executor.spawn(future)
    }
}
