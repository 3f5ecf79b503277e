//! Dropping jobs that will not run.

use super::Crew;
use crate::{
    containment,
    job::Job,
    local::{self, Attendant, Help, PoolId, Post},
    parker::Parker,
    source::Source,
    sync::{
        atomic::{
            Ordering::{Relaxed, SeqCst},
            fence,
        },
        thread_local,
    },
};
use std::{any::Any, cell::RefCell, iter};

impl<S, P> Crew<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// Drops the waiting jobs. Returns how many there were: none if this thread does so already, further out on its
    /// stack, and drops the rest there. (The destructor of a job may call this. Nested calls would need room on the
    /// stack for as many as there are jobs.)
    pub(super) fn discard_backlog(&self) -> u64 {
        match Sweeping::begin(self.id()) {
            Some(sweeping) => self.discard(iter::from_fn(|| self.source.take().or_else(|| sweeping.next_put_off()))),
            None => 0,
        }
    }

    /// Drops the job that `take` takes out of the source; if this thread drops another one of this crew, further out on
    /// its stack, after that one. Returns whether there was one.
    pub(super) fn discard_one(&self, take: impl FnOnce(&S) -> Option<Job>) -> bool {
        match Sweeping::begin(self.id()) {
            Some(sweeping) => {
                let one = iter::once_with(|| take(&self.source)).flatten();
                self.discard(one.chain(iter::from_fn(|| sweeping.next_put_off()))) > 0
            }
            None => take(&self.source).map(|job| Sweeping::put_off(self.id(), job)).is_some(),
        }
    }

    /// Drops `jobs`, which are taken out of the source one by one. Returns how many.
    ///
    /// The calling thread is active meanwhile: a job that is being dropped has not ended, and a thread that waits for
    /// the crew waits for that, too.
    fn discard(&self, jobs: impl Iterator<Item = Job>) -> u64 {
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
        // Workers may have looked before, and be asleep.
        self.is_over();
        dropped
    }
}

thread_local! {
    /// The crews whose jobs this thread is dropping, and the jobs that are to be dropped after these.
    static SWEPT: RefCell<Vec<(PoolId, Vec<Job>)>> = const { RefCell::new(Vec::new()) };
}

/// While this thread drops jobs of a crew.
struct Sweeping(PoolId);

impl Sweeping {
    /// `None` if it does already.
    fn begin(crew: PoolId) -> Option<Self> {
        let is_new = SWEPT.try_with(|swept| {
            let mut swept = swept.borrow_mut();
            let is_new = swept.iter().all(|(other, _)| *other != crew);
            if is_new {
                swept.push((crew, Vec::new()));
            }
            is_new
        });
        // A thread that is about to end has no list any more. (Not `then_some`: that would drop one at once, which
        // takes the crew off the list.)
        is_new.unwrap_or(true).then(|| Sweeping(crew))
    }

    /// Leaves `job` to the call further out that drops jobs of `crew`.
    fn put_off(crew: PoolId, job: Job) {
        let mut job = Some(job);
        let _ = SWEPT.try_with(|swept| {
            let mut swept = swept.borrow_mut();
            if let Some((_, put_off)) = swept.iter_mut().find(|(other, _)| *other == crew) {
                put_off.extend(job.take());
            }
        });
        containment::discard(job);
    }

    fn next_put_off(&self) -> Option<Job> {
        let next = SWEPT.try_with(|swept| {
            let mut swept = swept.borrow_mut();
            swept.iter_mut().find(|(other, _)| *other == self.0).and_then(|(_, put_off)| put_off.pop())
        });
        next.ok().flatten()
    }
}

impl Drop for Sweeping {
    fn drop(&mut self) {
        // The list may have ended meanwhile.
        let _ = SWEPT.try_with(|swept| swept.borrow_mut().retain(|(crew, _)| *crew != self.0));
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
    /// and possibly the limit of its part; blocking would be a wait of the thread for itself. So it is dropped now.
    fn help(&self, _part: usize) -> Help {
        let life = &self.0.life;
        // Otherwise a job is dropped to make room for another, in a pool without parts.
        if life.is_discarding() || life.is_over() { Help::Drop } else { Help::Run }
    }
}
