//! The multi-threaded runtime of `tokio`.

use super::{FuturePool, PATIENCE, Pool, TaskPool, yield_until};
use crate::{failure::Failure, forker::LOST};
use std::{
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};
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

/// Waits until it is `done`, which nothing reports, but not for longer than a pool may take to shut down.
///
/// Yields first, and then sleeps for longer and longer, because all of that counts as part of the shutdown: the time by
/// which the end is noticed late, and the CPU time of looking for it.
fn look_until(done: impl Fn() -> bool) {
    const SHORTEST: Duration = Duration::from_micros(20);
    const LONGEST: Duration = Duration::from_millis(1);
    let (begin, mut nap) = (Instant::now(), SHORTEST);
    let mut is_done = yield_until(&done);
    while !is_done && begin.elapsed() < PATIENCE {
        thread::sleep(nap);
        nap = (2 * nap).min(LONGEST);
        is_done = done();
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
        look_until(|| tasks.num_alive_tasks() == 0);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::{cell::Cell, iter};

    #[test]
    fn what_ends_soon_is_not_slept_through() {
        let waited = || {
            let (looks, begin) = (Cell::new(0), Instant::now());
            look_until(|| looks.replace(looks.get() + 1) == 3);
            assert_eq!(looks.get(), 4);
            begin.elapsed()
        };
        // On a busy machine few waits are undisturbed.
        let begin = Instant::now();
        let mut waits = iter::repeat_with(waited).take_while(|_| begin.elapsed() < Duration::from_secs(20));
        assert!(waits.any(|time| time < Duration::from_micros(100)));
    }

    #[test]
    fn what_takes_long_is_not_looked_at_all_the_time() {
        let (looks, begin) = (Cell::new(0), Instant::now());
        look_until(|| {
            looks.set(looks.get() + 1);
            begin.elapsed() >= Duration::from_millis(10)
        });
        // While it yields, while naps become longer, and once in a millisecond.
        let most = 9 + 6 + begin.elapsed().as_millis() + 1;
        assert!(looks.get() <= most, "{} of {most}", looks.get());
    }
}
