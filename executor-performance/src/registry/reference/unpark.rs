//! A queue for each worker, filled in turn; the submitter of a job unparks its worker.

use super::{super::adapter::Pool, Job, Threads};
use crate::failure::Failure;
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, Thread},
};

/// There is no contention when one thread gives a burst of jobs to workers that sleep: what that costs is what
/// `Thread::unpark` costs.
///
/// A job that is given while it closes may be lost.
#[derive(Clone)]
pub(in crate::registry) struct Unpark {
    shared: Arc<Shared>,
    workers: Arc<[Thread]>,
    threads: Threads,
}

struct Shared {
    queues: Box<[Mutex<VecDeque<Job>>]>,
    /// How many jobs were given, and so which worker's turn it is.
    given: AtomicUsize,
    closed: AtomicBool,
}

impl Unpark {
    pub(in crate::registry) fn new(threads: usize) -> Result<Self, Failure> {
        let queues = (0..threads).map(|_| Mutex::default()).collect();
        let shared = Arc::new(Shared { queues, given: AtomicUsize::new(0), closed: AtomicBool::new(false) });
        let threads = Threads::start((0..threads).map(|worker| {
            let shared = Arc::clone(&shared);
            move || shared.run_jobs(worker)
        }))?;
        Ok(Unpark { shared, workers: threads.handles().into(), threads })
    }
}

impl Shared {
    /// Checks whether it is closed before it looks for jobs, so that no job that was given before is left.
    fn run_jobs(&self, worker: usize) {
        loop {
            // Acquire pairs with the Release in `close`: all jobs that were given before can be seen.
            let closed = self.closed.load(Ordering::Acquire);
            while let Some(job) = self.next_job(worker) {
                job();
            }
            if closed {
                return;
            }
            thread::park();
        }
    }

    fn next_job(&self, worker: usize) -> Option<Job> {
        self.queues[worker].lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl Pool for Unpark {
    fn spawn<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        // Relaxed: it is only a number.
        let worker = self.shared.given.fetch_add(1, Ordering::Relaxed) % self.workers.len();
        // Not under the lock, where the worker would wait for the allocator.
        let job: Job = Box::new(job);
        self.shared.queues[worker].lock().unwrap_or_else(PoisonError::into_inner).push_back(job);
        self.workers[worker].unpark();
    }

    fn close(&self) {
        // Release pairs with the Acquire in `run_jobs`.
        self.shared.closed.store(true, Ordering::Release);
        self.workers.iter().for_each(Thread::unpark);
    }

    fn finish(&self) -> Result<(), String> {
        self.close();
        self.threads.join()
    }
}
