//! The pool of the crate `rusty_pool`, and the elastic pool of this workspace behind the same interface.

use super::{FuturePool, PATIENCE, Pool, TaskPool, departures::Departures};
use crate::forker::LOST;
use std::time::Instant;

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
                let begin = Instant::now();
                self.pool.join_timeout(PATIENCE);
                // It does not say which of the two it was.
                if begin.elapsed() < PATIENCE {
                    Ok(())
                } else {
                    Err(format!("it was not idle after {} s", PATIENCE.as_secs()))
                }
            }

            fn end(self) -> Result<(), String> {
                // Some may have left before: after a panic, or a minute without work.
                let threads = self.departures.so_far() + self.pool.get_current_worker_count();
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::{panic, thread};

    #[test]
    fn threads_that_have_panicked_do_not_count_as_others_that_leave() {
        // The one that is not waited for may leave in time by chance.
        for _ in 0..100 {
            let pool = RustyPool::new(4);
            pool.spawn(|| panic::resume_unwind(Box::new("as the test wants it")));
            let departures = pool.departures.clone();
            while departures.so_far() == 0 {
                thread::yield_now();
            }
            pool.end().expect("in time");
            assert_eq!(departures.so_far(), 5);
        }
    }
}
