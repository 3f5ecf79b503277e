//! The pools of the crates `threadpool` and `threadpool-crossbeam-channel`: one interface over two channels.
//!
//! They get jobs by `ThreadPool::execute`, the only way there is. Shutting down waits for all jobs, for as long as they
//! take. The threads leave with the last handle, and nothing reports it.

use super::Pool;

pub(in crate::registry) use threadpool::ThreadPool as Threadpool;
pub(in crate::registry) use threadpool_crossbeam_channel::ThreadPool as ThreadpoolCrossbeamChannel;

macro_rules! pool {
    ($threadpool:ty) => {
        impl Pool for $threadpool {
            fn spawn<F>(&self, job: F)
            where
                F: FnOnce() + Send + 'static,
            {
                self.execute(job);
            }

            fn finish(&self) -> Result<(), String> {
                self.join();
                Ok(())
            }
        }
    };
}

pool!(Threadpool);
pool!(ThreadpoolCrossbeamChannel);
