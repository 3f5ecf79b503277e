//! The pool of `rayon`, newest job first.

use super::{Adapted, Pool, departures::Departures, needs_last_handle};
use crate::{
    failure::Failure,
    forker::Forker,
    workload::{Division, Problem, Site},
};
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;

/// Gets jobs by `ThreadPool::spawn`. In a worker, this puts the job where `rayon::spawn` puts it; that function counts
/// one more reference to find the pool.
///
/// Shutting down waits for all jobs, which rayon counts. It has a handler of panics, without which a job that panics
/// ends the process.
#[derive(Clone)]
pub(in crate::registry) struct Rayon {
    pool: Arc<ThreadPool>,
    departures: Departures,
}

impl Rayon {
    pub(in crate::registry) fn new(threads: usize) -> Result<Self, Failure> {
        let departures = Departures::default();
        let leaving = departures.clone();
        let builder = ThreadPoolBuilder::new().num_threads(threads).panic_handler(drop);
        let pool = builder.exit_handler(move |_| leaving.count_one()).build();
        let pool = Arc::new(pool.map_err(|error| Failure::of_build(&error))?);
        Ok(Rayon { pool, departures })
    }

    /// The pool itself, to call its other methods.
    pub(super) fn pool(&self) -> &ThreadPool {
        &self.pool
    }
}

impl Pool for Rayon {
    fn spawn<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        self.pool.spawn(job);
    }

    fn finish(&self) -> Result<(), String> {
        needs_last_handle()
    }

    fn end(self) -> Result<(), String> {
        let threads = self.pool.current_num_threads();
        drop(self.pool);
        self.departures.wait_for(threads)
    }
}

impl Forker for Adapted<Rayon> {
    fn solve<P: Problem>(site: Site<Self>, problem: Box<P>, done: impl FnOnce(P::Solution) + Send + 'static) {
        site.executor().pool().pool.spawn(move || done(by_join(*problem)));
    }
}

/// A worker that waits runs other jobs meanwhile.
pub(super) fn by_join<P: Problem>(problem: P) -> P::Solution {
    match problem.divide() {
        Division::Solved(solution) => solution,
        Division::Parts(one, other) => {
            let (one, other) = rayon_core::join(|| by_join(one), || by_join(other));
            P::join(one, other)
        }
    }
}
