//! One queue behind a mutex, and a condition variable to wait for jobs.

use super::{super::adapter::Pool, Job, Threads};
use crate::failure::Failure;
use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

#[derive(Clone)]
pub(in crate::registry) struct MutexCondvar {
    shared: Arc<Shared>,
    threads: Threads,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// Signals that there is a job, or that the queue is closed.
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    closed: bool,
}

impl MutexCondvar {
    pub(in crate::registry) fn new(threads: usize) -> Result<Self, Failure> {
        let shared = Arc::<Shared>::default();
        let threads = Threads::start((0..threads).map(|_| {
            let shared = Arc::clone(&shared);
            move || shared.run_jobs()
        }))?;
        Ok(MutexCondvar { shared, threads })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run_jobs(&self) {
        while let Some(job) = self.next_job() {
            job();
        }
    }

    /// Waits for a job. `None` once the queue is closed and empty.
    fn next_job(&self) -> Option<Job> {
        let wait = |queue: &mut Queue| queue.jobs.is_empty() && !queue.closed;
        self.changed.wait_while(self.lock(), wait).unwrap_or_else(PoisonError::into_inner).jobs.pop_front()
    }
}

impl Pool for MutexCondvar {
    fn spawn<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        // Not under the lock, where others would wait for the allocator.
        let job: Job = Box::new(job);
        self.shared.lock().jobs.push_back(job);
        self.shared.changed.notify_one();
    }

    fn close(&self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
    }

    fn finish(&self) -> Result<(), String> {
        self.close();
        self.threads.join()
    }
}
