//! Forking: a job divides what it has to do, and another worker can take a part of it. See `part/README.md`.

use super::{Handle, worker::Worker};
use crate::{
    backing::Backing,
    courtesy, local,
    parker::Parker,
    part::{self, Fork, Forker, Stub},
    source::stealing::{StealingSource, forks::PartOf},
};

impl<P: Parker + 'static> Handle<StealingSource, P> {
    /// Runs both, and returns what they return. In a job of the crew another worker may take `other`; elsewhere the
    /// caller blocks while a job runs both.
    #[inline(always)]
    pub(crate) fn fork_join<A, B, One, Other>(&self, one: One, other: Other) -> (A, B)
    where
        One: FnOnce() -> A + Send,
        Other: FnOnce() -> B + Send,
        A: Send,
        B: Send,
    {
        let mut fork = Fork::new(one, other);
        // SAFETY: the reference is used here only.
        match unsafe { self.crew().this_worker() } {
            Some(worker) => worker.run_fork(&mut fork),
            None => self.enter(&mut fork),
        }
    }

    /// Runs both in a job. If the job is refused, or dropped, they run here.
    #[cold]
    #[inline(never)]
    fn enter<A, B, One, Other>(&self, fork: &mut Fork<One, Other, B>) -> (A, B)
    where
        One: FnOnce() -> A + Send,
        Other: FnOnce() -> B + Send,
        A: Send,
        B: Send,
    {
        let (one, other) = fork.take();
        let both = || {
            let mut fork = Fork::new(one, other);
            self.crew().with_this_worker(|worker| match worker {
                Some(worker) => worker.run_fork(&mut fork),
                None => fork.run_here(),
            })
        };
        part::lend(both, |loan| drop(self.admit(move || loan.run())))
    }
}

impl<P: Parker + 'static> Worker<'_, StealingSource, P> {
    #[inline(always)]
    fn run_fork<A, B, One, Other>(&self, fork: &mut Fork<One, Other, B>) -> (A, B)
    where
        One: FnOnce() -> A + Send,
        Other: FnOnce() -> B + Send,
        A: Send,
        B: Send,
    {
        match self.crew().source.forker(self.local()) {
            Some(forker) => forker.run(fork, || self.tell_of_part(forker), |part| self.await_part(part)),
            None => fork.run_here(),
        }
    }

    /// Tells the workers that may take the part that was put in last.
    #[inline(always)]
    fn tell_of_part(&self, forker: &Forker) {
        // Pairs with the fence in `parker::sleep`, and with that of joiners: either they see the part, or we see them.
        forker.fence_parts();
        if self.crew().may_call() {
            self.crew().call_for_part();
        }
        forker.call_joiners();
    }

    /// Another worker has the part. Runs what that worker has forked, if there is any, or waits until there is, or the
    /// part is settled. It runs nothing else, be it a job or a part: that might wait for something further down on this
    /// stack.
    #[cold]
    #[inline(never)]
    fn await_part(&self, part: &Stub) {
        match self.crew().source.take_part_of(part, self.local()) {
            PartOf::Taken(loan) => {
                self.meter().stole();
                loan.run();
            }
            PartOf::Settled => {}
            PartOf::NoneYet(forks) => {
                if !courtesy::look(|| part.is_settled() || forks.has_parts()) {
                    local::blocking(|| forks.wait(part));
                }
            }
        }
    }
}
