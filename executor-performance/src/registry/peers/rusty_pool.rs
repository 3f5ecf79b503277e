//! The pool of the crate `rusty_pool`, and the elastic pool of this workspace behind the same interface.

use super::{FuturePool, PATIENCE, Pool, departures::Departures};

/// An adapter called `$adapter` for the `Builder` and `ThreadPool` of `$pools`.
///
/// Called by `ThreadPool::execute`, for futures by `ThreadPool::spawn`. It never grows beyond its threads, all of which
/// are there from the beginning.
///
/// Shutting down waits for all jobs.
macro_rules! adapter {
    ($adapter:ident, $($pools:ident)::+) => {
        #[derive(Clone)]
        pub(in crate::registry) struct $adapter {
            pool: $($pools)::+::ThreadPool,
            threads: usize,
            departures: Departures,
        }

        impl $adapter {
            pub(in crate::registry) fn new(threads: usize) -> Self {
                let departures = Departures::default();
                let leaving = departures.clone();
                let builder = $($pools)::+::Builder::new().core_size(threads).max_size(threads);
                let pool = builder.on_worker_stop(move || leaving.count_one()).build();
                pool.start_core_threads();
                $adapter { pool, threads, departures }
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
                self.pool.shutdown();
                self.departures.wait_for(self.threads)
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
    };
}

adapter!(RustyPool, rusty_pool);
adapter!(CompatRustyPool, executors::compat::rusty_pool);
