//! Dropping jobs that are not to run.

use super::Crew;
use crate::{
    containment,
    job::Job,
    local::{self, Attendant, Help, Post},
    parker::Parker,
    source::Source,
    sync::atomic::{
        Ordering::{Relaxed, SeqCst},
        fence,
    },
};
use std::{any::Any, iter};

impl<S, P> Crew<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// Drops what is waiting. Returns how many jobs that were.
    pub(super) fn discard_backlog(&self) -> u64 {
        self.discard(iter::from_fn(|| self.source.take()))
    }

    /// Drops `jobs`, which are taken out of the source one by one. Returns how many.
    ///
    /// Whoever does this is active meanwhile: a job that is being dropped has not ended, and who waits for the crew
    /// waits for that, too.
    pub(super) fn discard(&self, jobs: impl Iterator<Item = Job>) -> u64 {
        let sweep = || {
            self.life.become_active();
            // Pairs with the fence in `Worker::see_to_the_rest`: what was on its way from one queue to another is
            // dropped here or there.
            fence(SeqCst);
            let dropped = jobs.map(containment::discard).count() as u64;
            self.discarded.fetch_add(dropped, Relaxed);
            self.become_idle(false);
            dropped
        };
        // A destructor must not wait for its own end: it is told that it is part of a job, as on a worker.
        let dropped =
            if local::is_at(self.id()) { sweep() } else { Post::without_worker(self.id(), &Sweep(self)).stand(sweep) };
        // Workers may have looked before, and sleep.
        self.is_over();
        dropped
    }
}

/// A thread that drops jobs, and is no worker of the crew.
struct Sweep<'a, S: Source, P>(&'a Crew<S, P>);

impl<S, P> Attendant for Sweep<'_, S, P>
where
    S: Source,
    P: Parker + 'static,
{
    fn accept(&self, job: Job) -> bool {
        let accepted = !self.0.life.is_closed();
        if accepted {
            self.0.myself().put_from_outside(self.0.source.anywhere(), job);
        } else {
            containment::discard(job);
        }
        accepted
    }

    fn report(&self, payload: &(dyn Any + Send)) {
        let Crew { options, panicked_in_sweeps, .. } = self.0;
        panicked_in_sweeps.fetch_add(1, Relaxed);
        containment::report(payload, format_args!("A job of {}", self.0.name()), options.panic_handler.as_ref());
    }

    /// A destructor may wait for a job that is to be dropped after it. Running that job would violate `shutdown_now`,
    /// and possibly the limit of its part; blocking would be waiting for oneself. So it is dropped now.
    fn help(&self, _part: usize) -> Help {
        let life = &self.0.life;
        // Otherwise one job makes room for another, in a pool without parts.
        if life.is_discarding() || life.is_over() { Help::Drop } else { Help::Run }
    }
}
