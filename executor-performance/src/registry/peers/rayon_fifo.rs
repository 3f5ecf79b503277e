//! The pool of `rayon`, oldest job first.

use super::{
    Adapted, Pool,
    rayon::{Rayon, by_join},
};
use crate::{
    failure::Failure,
    forker::Forker,
    workload::{Problem, Site},
};

/// Gets jobs by `ThreadPool::spawn_fifo`; everything else is as in [`Rayon`].
#[derive(Clone)]
pub(in crate::registry) struct RayonFifo(Rayon);

impl RayonFifo {
    pub(in crate::registry) fn new(threads: usize) -> Result<Self, Failure> {
        Rayon::new(threads).map(RayonFifo)
    }
}

impl Pool for RayonFifo {
    fn spawn<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        self.0.pool().spawn_fifo(job);
    }

    fn finish(&self) -> Result<(), String> {
        self.0.finish()
    }

    fn end(self) -> Result<(), String> {
        self.0.end()
    }
}

impl Forker for Adapted<RayonFifo> {
    /// Only spawning has an order of its own.
    fn solve<P: Problem>(site: Site<Self>, problem: Box<P>, done: impl FnOnce(P::Solution) + Send + 'static) {
        site.executor().pool().spawn(move || done(by_join(*problem)));
    }
}
