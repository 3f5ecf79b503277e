//! The pool of the crate `workerpool`.

use super::Pool;
use workerpool::thunk::{Thunk, ThunkWorker};

/// Gets jobs by `Pool::execute` with a `Thunk`. The pool is built on a crossbeam channel, a feature of that crate, and
/// not on the standard library's channel behind a lock.
///
/// Shutting down waits for all jobs, for as long as they take. The threads leave with the last handle, and nothing
/// reports it.
#[derive(Clone)]
pub(in crate::registry) struct Workerpool(workerpool::Pool<ThunkWorker<()>>);

impl Workerpool {
    pub(in crate::registry) fn new(threads: usize) -> Self {
        Workerpool(workerpool::Pool::new(threads))
    }
}

impl Pool for Workerpool {
    fn spawn<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        self.0.execute(Thunk::of(job));
    }

    fn finish(&self) -> Result<(), String> {
        self.0.join();
        Ok(())
    }
}
