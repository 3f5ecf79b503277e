//! The pool of the crate `threadpool-crossbeam-channel`.

use super::Pool;
use threadpool_crossbeam_channel::ThreadPool;

/// The crate `threadpool` with another channel, and used in the same way: see [`Threadpool`](super::Threadpool).
#[derive(Clone)]
pub(in crate::registry) struct ThreadpoolCrossbeamChannel(ThreadPool);

impl ThreadpoolCrossbeamChannel {
    pub(in crate::registry) fn new(threads: usize) -> Self {
        ThreadpoolCrossbeamChannel(ThreadPool::new(threads))
    }
}

impl Pool for ThreadpoolCrossbeamChannel {
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
