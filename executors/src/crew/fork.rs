//! Forking: a job divides what it has to do, and another worker may take a part of it. See `fork/README.md`.

use super::{Crew, Handle, worker::Worker};
use crate::{
    backing::Backing,
    containment::{contain, discard},
    courtesy, local,
    parker::Parker,
    part::{Loan, Part, Stub},
    source::{queue::stack::Owner, stealing::StealingSource},
};
use std::panic::resume_unwind;

impl<P: Parker + 'static> Handle<StealingSource, P> {
    /// Runs both, and returns what they return. In a job of the crew another worker may take `other`; elsewhere the
    /// caller blocks while a job does both.
    #[inline]
    pub(crate) fn fork_join<A, B, One, Other>(&self, one: One, other: Other) -> (A, B)
    where
        One: FnOnce() -> A + Send,
        Other: FnOnce() -> B + Send,
        A: Send,
        B: Send,
    {
        let crew = self.crew();
        crew.with_this_worker(|worker| match worker {
            Some(worker) => worker.fork_join(one, other),
            None => self.enter(one, other),
        })
    }

    /// Has a job do both. If it is refused, or dropped, they run here.
    fn enter<A, B, One, Other>(&self, one: One, other: Other) -> (A, B)
    where
        One: FnOnce() -> A + Send,
        Other: FnOnce() -> B + Send,
        A: Send,
        B: Send,
    {
        let crew = self.crew();
        let both = || {
            crew.with_this_worker(|worker| match worker {
                Some(worker) => worker.fork_join(one, other),
                None => (one(), other()),
            })
        };
        let bell = crew.source.bell();
        let mut part = Part::new(both, bell);
        // SAFETY: the part stays until it is settled, which is waited for below, and this is its only loan. The bell is
        // that of a crew which this handle keeps, and the job with the loan is in it.
        let loan = unsafe { Loan::new(part.stub()) };
        // Dropped if it is refused: that settles it.
        drop(self.admit(move || loan.run()));
        local::blocking(|| bell.wait_until(None, || part.is_settled()));
        part.take_outcome().unwrap_or_else(|thrown| resume_unwind(thrown))
    }
}

impl<P: Parker + 'static> Worker<'_, StealingSource, P> {
    #[inline]
    fn fork_join<A, B, One, Other>(&self, one: One, other: Other) -> (A, B)
    where
        One: FnOnce() -> A + Send,
        Other: FnOnce() -> B + Send,
        A: Send,
        B: Send,
    {
        let source = &self.crew().source;
        let Some(forks) = source.own_forks(self.local()) else { return (one(), other()) };
        let mut part = Part::new(other, source.joiners().bell());
        if !forks.push(part.stub()) {
            return (one(), part.take_closure()());
        }
        // From here on the part must not move, nor this call end, before it is known that nobody has it: so nothing may
        // be thrown past this.
        let one = contain(|| {
            self.tell_of_part(forks);
            one()
        });
        let is_own = forks.pop();
        if !is_own {
            self.await_part(|| part.is_settled());
        }
        match one {
            Ok(one) if is_own => (one, part.take_closure()()),
            Ok(one) => match part.take_outcome() {
                Ok(other) => (one, other),
                Err(thrown) => {
                    discard(one);
                    resume_unwind(thrown)
                }
            },
            Err(thrown) => {
                discard(part);
                resume_unwind(thrown)
            }
        }
    }

    /// Tells those who may take the part that was put in last.
    #[inline(always)]
    fn tell_of_part(&self, forks: &Owner<Stub>) {
        let crew = self.crew();
        // Pairs with the fence in `parker::sleep`, and with that of who listens to the bell: either they see the part,
        // or we see them.
        forks.order_pushes();
        if crew.may_call() {
            crew.call_for_part();
        }
        crew.source.joiners().part_came();
    }

    /// Another worker has the part. Runs parts of other jobs until that one is settled, and never whole jobs: they
    /// might wait for what is further down on this stack, or take long.
    #[cold]
    #[inline(never)]
    fn await_part(&self, is_settled: impl Fn() -> bool) {
        let Crew { source, .. } = self.crew();
        while !is_settled() {
            if let Some(part) = source.take_part(self.local()) {
                self.meter().stole();
                part.run();
            } else if !courtesy::look(|| is_settled() || source.has_parts(self.local())) {
                source.joiners().wait_until(&is_settled, || self.sees_part());
            }
        }
    }

    /// Whether there is a part, also if who has forked has spared a fence.
    fn sees_part(&self) -> bool {
        use crate::source::Source;
        let Crew { source, .. } = self.crew();
        source.has_parts(self.local())
            || source.spares_fences(self.local()) && {
                source.recall(self.local());
                source.has_parts(self.local())
            }
    }
}
