//! Delivery of many jobs at once.

use super::{Crew, delivery::Admission, worker::Worker};
use crate::{
    containment::ignore,
    job::{Closure, IntoJob},
    parker::{Origin, Parker},
    source::{Source, Whom},
};
use std::sync::Arc;

impl<S, P> Crew<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// Puts all jobs in, until one is refused, and announces them in steps. Returns how many were accepted.
    pub(super) fn deliver_all<F>(self: &Arc<Self>, to: S::Address, closures: impl IntoIterator<Item = F>) -> usize
    where
        F: FnOnce() + Send + 'static,
    {
        self.with_this_worker(|worker| self.deliver_all_by(worker, to, closures))
    }

    fn deliver_all_by<F>(
        self: &Arc<Self>,
        worker: Option<&Worker<'_, S, P>>,
        to: S::Address,
        closures: impl IntoIterator<Item = F>,
    ) -> usize
    where
        F: FnOnce() + Send + 'static,
    {
        let origin = if worker.is_some() { Origin::Inside } else { Origin::Outside };
        let mut batch = Batch { crew: self, to, origin, accepted: 0, announced: 0 };
        for job in closures.into_iter().map(Closure) {
            let whom = match worker {
                Some(worker) if worker.refuses() => return batch.cut_short(job),
                Some(worker) => worker.push_quietly(to, job),
                None if self.refuses(Admission::New) => return batch.cut_short(job),
                None => self.source.inject(to, job),
            };
            batch.count_one(whom);
        }
        batch.accepted
    }
}

/// Jobs that are put in one by one and announced together.
struct Batch<'a, S: Source, P: Parker + 'static> {
    crew: &'a Arc<Crew<S, P>>,
    to: S::Address,
    origin: Origin,
    accepted: usize,
    announced: usize,
}

/// The most jobs of a batch that nobody is told of yet. The first is announced at once, then two, four and so on:
/// neither a slow batch nor a long one should find the workers asleep.
const LARGEST_STEP: usize = 256;

impl<S: Source, P: Parker + 'static> Batch<'_, S, P> {
    fn count_one(&mut self, whom: Whom) {
        self.accepted += 1;
        if let Whom::Seat(_) | Whom::Owner(_) | Whom::Nobody = whom {
            self.announced += 1;
            self.crew.announce_to(self.to, whom, self.origin);
            self.see_to_late_jobs();
        } else if self.accepted - self.announced >= (self.announced + 1).min(LARGEST_STEP) {
            self.announce();
        }
    }

    fn announce(&mut self) {
        self.crew.announce(self.to, self.accepted - self.announced, self.origin);
        self.announced = self.accepted;
        self.see_to_late_jobs();
    }

    fn see_to_late_jobs(&self) {
        if self.origin == Origin::Outside {
            self.crew.check_for_late_jobs();
        }
    }

    /// The pool has been closed: `job` and what follows is not accepted.
    fn cut_short(&self, job: impl IntoJob) -> usize {
        ignore(job);
        self.accepted
    }
}

/// Also when the user's iterator panics, what is in must not be overlooked.
impl<S: Source, P: Parker + 'static> Drop for Batch<'_, S, P> {
    fn drop(&mut self) {
        if self.accepted > self.announced {
            self.announce();
        }
    }
}
