//! Delivery of many jobs at once.

use super::{Crew, delivery::Admission, worker::Worker};
use crate::{
    containment::{discard, guard, ignore},
    job::Closure,
    parker::Parker,
    source::{Source, Whom},
};
use std::thread;

impl<S, P> Crew<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// Puts all jobs in, until one is refused, and announces them: in steps, if it is known how many there are.
    /// Returns how many were accepted.
    pub(super) fn deliver_all<F>(&self, to: S::Address, closures: impl IntoIterator<Item = F>) -> usize
    where
        F: FnOnce() + Send + 'static,
    {
        self.with_this_worker(|worker| self.deliver_all_by(worker, to, closures))
    }

    fn deliver_all_by<F>(
        &self,
        worker: Option<&Worker<'_, S, P>>,
        to: S::Address,
        closures: impl IntoIterator<Item = F>,
    ) -> usize
    where
        F: FnOnce() + Send + 'static,
    {
        let mut closures = closures.into_iter();
        let largest_step = largest_step(&closures);
        let mut batch = Batch { crew: self, worker, to, largest_step, accepted: 0, announced: 0 };
        while let Some(closure) = closures.next() {
            let whom = match worker {
                Some(_) if self.refuses_from_inside() => return batch.cut_short(closure, closures),
                Some(worker) => {
                    let pushed = self.source.push(worker.local(), to, Closure(closure));
                    pushed.unwrap_or_else(|job| self.source.push_slowly(worker.local(), to, job))
                }
                None if self.refuses(Admission::New) => return batch.cut_short(closure, closures),
                None => self.source.inject(to, Closure(closure)),
            };
            batch.count_one(whom);
        }
        batch.accepted
    }
}

/// Jobs that are put in one by one and announced together.
struct Batch<'a, S: Source, P: Parker + 'static> {
    crew: &'a Crew<S, P>,
    /// The submitter, if it is a worker of the crew.
    worker: Option<&'a Worker<'a, S, P>>,
    to: S::Address,
    /// The most jobs that may be in and not announced yet.
    largest_step: usize,
    accepted: usize,
    announced: usize,
}

/// The first job is announced at once, then two, four and so on: workers should sleep through neither a slow batch nor
/// a long one.
const LARGEST_STEP: usize = 256;

/// A batch of unknown length may come from a channel, whose sender waits until the jobs that it has sent have run:
/// there each job is announced by itself.
fn largest_step(closures: &impl Iterator) -> usize {
    let (least, most) = closures.size_hint();
    if most == Some(least) { LARGEST_STEP } else { 1 }
}

impl<S: Source, P: Parker + 'static> Batch<'_, S, P> {
    fn count_one(&mut self, whom: Whom) {
        self.accepted += 1;
        let may_wait = self.largest_step > 1 && whom == Whom::Anyone;
        if !may_wait {
            self.announced += 1;
            self.crew.announce(self.to, whom, 1, self.worker);
        } else if self.accepted - self.announced >= (self.announced + 1).min(self.largest_step) {
            self.announce();
        }
    }

    fn announce_the_rest(&mut self) {
        if self.accepted > self.announced {
            self.announce();
        }
    }

    fn announce(&mut self) {
        let jobs = self.accepted - self.announced;
        // Before the call: a user's parker may panic, and would be called again while that unwinds.
        self.announced = self.accepted;
        self.crew.announce(self.to, Whom::Anyone, jobs, self.worker);
    }

    /// The pool has been closed: `closure` and the `rest` are not accepted.
    fn cut_short<F>(&mut self, closure: F, rest: impl Iterator<Item = F>) -> usize {
        // Before the others are dropped: their destructors may wait for those that are in.
        self.announce_the_rest();
        ignore(closure, self.crew.name());
        discard(rest);
        self.accepted
    }
}

/// Even if the user's iterator panics, jobs that are in must not be overlooked.
impl<S: Source, P: Parker + 'static> Drop for Batch<'_, S, P> {
    fn drop(&mut self) {
        if thread::panicking() {
            guard(|| self.announce_the_rest());
        } else {
            self.announce_the_rest();
        }
    }
}
