//! The pool of the crate `rusty_pool`, and the elastic pool of this workspace behind the same interface.

use super::{FuturePool, PATIENCE, Pool, TaskPool, departures::Departures};
use crate::forker::LOST;

/// An adapter called `$adapter` for the `Builder` and `ThreadPool` of `$pools`.
///
/// Gets jobs by `ThreadPool::execute`, and futures by `ThreadPool::spawn`.
///
/// Shutting down waits for all jobs.
macro_rules! adapter {
    ($adapter:ident, $($pools:ident)::+) => {
        #[derive(Clone)]
        pub(in crate::registry) struct $adapter {
            pool: $($pools)::+::ThreadPool,
            departures: Departures,
        }

        impl $adapter {
            /// With all threads from the beginning.
            pub(in crate::registry) fn new(threads: usize) -> Self {
                let this = Self::with(threads, threads);
                this.pool.start_core_threads();
                this
            }

            /// With a thread for each job that finds none idle.
            pub(in crate::registry) fn growing(threads: usize) -> Self {
                Self::with(0, threads)
            }

            fn with(core: usize, max: usize) -> Self {
                let departures = Departures::default();
                let leaving = departures.clone();
                let builder = $($pools)::+::Builder::new().core_size(core).max_size(max);
                let pool = builder.on_worker_stop(move || leaving.count_one()).build();
                $adapter { pool, departures }
            }
        }

        impl Pool for $adapter {
            fn spawn<F>(&self, job: F)
            where
                F: FnOnce() + Send + 'static,
            {
                self.pool.execute(job);
            }

            fn finish(&self) -> Result<(), String> {
                self.pool.join_timeout(PATIENCE);
                Ok(())
            }

            fn end(self) -> Result<(), String> {
                // No thread has left before: they stay for a minute without work.
                let threads = self.pool.get_current_worker_count();
                self.pool.shutdown();
                self.departures.wait_for(threads)
            }
        }

        impl FuturePool for $adapter {
            fn spawn_future<F>(&self, future: F)
            where
                F: Future<Output = ()> + Send + 'static,
            {
                self.pool.spawn(future);
            }
        }

        impl TaskPool for $adapter {
            fn fork<F>(&self, future: F) -> impl Future<Output = F::Output> + Send + 'static
            where
                F: Future<Output: Send> + Send + 'static,
            {
                let forked = self.pool.spawn_await(future).receiver;
                async move { forked.await.expect(LOST) }
            }
        }
    };
}

adapter!(RustyPool, rusty_pool);
adapter!(CompatRustyPool, executors::compat::rusty_pool);
