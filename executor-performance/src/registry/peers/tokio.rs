//! The multi-threaded runtime of `tokio`.

use super::{FuturePool, PATIENCE, Pool, TaskPool, wait_until};
use crate::{failure::Failure, forker::LOST};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::{Builder, Handle, Runtime};

/// Gets jobs by `Handle::spawn`, from outside and from inside: a worker finds its own queue, and `tokio::spawn` would
/// only look for the handle first. A job is a task that is never pending. The runtime has no drivers of I/O or time.
///
/// Tokio drops tasks that have not begun when it is shut down; so its tasks are awaited first.
#[derive(Clone)]
pub(in crate::registry) struct Tokio {
    handle: Handle,
    runtime: Arc<Mutex<Option<Runtime>>>,
}

impl Tokio {
    pub(in crate::registry) fn new(threads: usize) -> Result<Self, Failure> {
        let runtime =
            Builder::new_multi_thread().worker_threads(threads).build().map_err(|error| Failure::of_build(&error))?;
        let handle = runtime.handle().clone();
        Ok(Tokio { handle, runtime: Arc::new(Mutex::new(Some(runtime))) })
    }

    fn take_runtime(&self) -> Option<Runtime> {
        self.runtime.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Pool for Tokio {
    fn spawn<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        self.handle.spawn(async move { job() });
    }

    fn close(&self) {
        if let Some(runtime) = self.take_runtime() {
            runtime.shutdown_background();
        }
    }

    fn finish(&self) -> Result<(), String> {
        let runtime = self.take_runtime().ok_or("closed before")?;
        let tasks = self.handle.metrics();
        wait_until(|| tasks.num_alive_tasks() == 0);
        let left = tasks.num_alive_tasks();
        runtime.shutdown_timeout(PATIENCE);
        if left > 0 { Err(format!("{left} tasks were left after {} s", PATIENCE.as_secs())) } else { Ok(()) }
    }
}

impl FuturePool for Tokio {
    fn spawn_future<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.handle.spawn(future);
    }
}

impl TaskPool for Tokio {
    fn fork<F>(&self, future: F) -> impl Future<Output = F::Output> + Send + 'static
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let forked = self.handle.spawn(future);
        async move { forked.await.expect(LOST) }
    }
}
