//! The pool of the crate `forte`.

use super::{Adapted, FuturePool, Pool};
use crate::{
    failure::Failure,
    forker::Forker,
    workload::{Division, Problem, Site},
};
use forte::{ThreadPool, Worker};

/// Gets jobs by `Worker::spawn` in its workers, which shares the job with others at the next heartbeat, and by
/// `ThreadPool::spawn` from outside.
///
/// It loses wake-ups: a thread that gives a job from outside looks for sleepers by relaxed loads, with no fence between
/// them and the push, so that each side can miss the other. About one run in a thousand stalls because of that, and is
/// reported as stalled.
///
/// It must not be older than 1.0.0-beta: in earlier versions, a thread that gave it a job ran that job itself.
///
/// Shutting down joins the threads. There is no way to wait for jobs. Only the pool itself remains: it lives as long as
/// the program. It has a handler of panics, without which a job that panics ends the process.
#[derive(Clone)]
pub(in crate::registry) struct Forte(&'static ThreadPool);

impl Forte {
    /// A pool has this many seats, and each worker takes one.
    pub(in crate::registry) const MAX_THREADS: usize = 32;

    pub(in crate::registry) fn new(threads: usize) -> Result<Self, Failure> {
        let pool: &'static ThreadPool = Box::leak(Box::new(ThreadPool::new()));
        pool.set_panic_handler(drop);
        match pool.resize_to(threads) {
            started if started == threads => Ok(Forte(pool)),
            started => {
                pool.depopulate();
                Err(Failure::Build(format!("only {started} of {threads} threads were started")))
            }
        }
    }
}

impl Pool for Forte {
    fn spawn<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'static,
    {
        let job = move |_: &Worker| job();
        self.0.get_worker(|worker| match worker {
            Some(worker) => worker.spawn(job),
            None => self.0.spawn(job),
        });
    }

    fn finish(&self) -> Result<(), String> {
        self.0.depopulate();
        Ok(())
    }
}

impl FuturePool for Forte {
    fn spawn_future<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.0.get_worker(|worker| match worker {
            Some(worker) => worker.spawn(future).detach(),
            None => self.0.spawn(future).detach(),
        });
    }
}

impl Forker for Adapted<Forte> {
    fn solve<P: Problem>(site: Site<Self>, problem: Box<P>, done: impl FnOnce(P::Solution) + Send + 'static) {
        site.executor().pool().0.spawn(move |worker: &Worker| done(by_join(worker, *problem)));
    }
}

/// A worker that waits runs other jobs meanwhile.
fn by_join<P: Problem>(worker: &Worker, problem: P) -> P::Solution {
    match problem.divide() {
        Division::Solved(solution) => solution,
        Division::Parts(one, other) => {
            let (one, other) = worker.join(|worker| by_join(worker, one), |worker| by_join(worker, other));
            P::join(one, other)
        }
    }
}
