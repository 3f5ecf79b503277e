//! The pool of the crate `threadpool`.

use super::Pool;
use threadpool::ThreadPool;

/// Called by `ThreadPool::execute`, the only way there is.
///
/// Shutting down waits for all jobs, for as long as they take. The threads leave with the last handle and tell nobody.
#[derive(Clone)]
pub(in crate::registry) struct Threadpool(ThreadPool);

impl Threadpool {
    pub(in crate::registry) fn new(threads: usize) -> Self {
        Threadpool(ThreadPool::new(threads))
    }
}

impl Pool for Threadpool {
    fn spawn<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        self.0.execute(job);
    }

    fn finish(&self) -> Result<(), String> {
        self.0.join();
        Ok(())
    }
}
