//! Hiring: how workers come to a crew in which they come and go; and how another thread does a worker's work, in any
//! crew, if no worker can be had.
//!
//! These are steps S3 to S5 of `elastic_pool/README.md`. `staff.rs` decides whether a hire is due.

use super::{Crew, backoff::SpawnBackoff, threads::SpawnError, worker::Worker};
use crate::{
    containment::tell,
    parker::Parker,
    source::Source,
    sync::atomic::{Ordering::SeqCst, fence},
};
use std::{
    fmt::Display,
    sync::{MutexGuard, PoisonError},
};

impl<S, P> Crew<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// Whether jobs bring workers.
    pub(super) fn hires(&self) -> bool {
        S::ELASTIC && self.terms.max > 0
    }

    /// Whether more workers can be hired. Relies on a fence between the reason for asking and this.
    #[inline]
    pub(super) fn may_grow(&self) -> bool {
        self.terms.have_room(self.life.roll.read())
    }

    /// Hires `for_core` workers until the core is full, and beyond it as many as waiting jobs make due.
    ///
    /// Not only one for the caller's job: another submitter may have counted on the worker that is hired here.
    #[cold]
    pub(super) fn grow(&self, for_core: usize) {
        let Crew { life, source, terms, .. } = self;
        let jobs = || source.len();
        // Asked twice, so that the back-off is locked only if a worker is due.
        let is_due = |fill_core| terms.want_more(life.roll.read(), jobs, fill_core) && !self.is_backing_off();
        let hire = |fill_core| is_due(fill_core) && terms.hire(&life.roll, jobs, fill_core) && self.start_hired();
        if (0..for_core).all(|_| hire(true)) {
            while hire(false) {}
        }
    }

    /// Starts a thread for a worker that has been counted. Returns whether that succeeded; not if the crew is over.
    fn start_hired(&self) -> bool {
        match self.seat_one(|_seat| (), |_seat| ()) {
            Ok(()) => {
                self.backoff().end();
                return true;
            }
            Err(SpawnError::Over) => {
                self.life.roll.cancel_hire();
                // A submitter may have counted on this hire when the crew was not over yet. Pairs with its S2, as in
                // `go_on_without`: it has read the roll before this changed it, so its job is seen after this, where
                // each caller looks for late jobs.
                fence(SeqCst);
            }
            Err(SpawnError::Thread(error)) => self.go_on_without(&error),
            Err(SpawnError::Name(error)) => self.go_on_without(&error),
        }
        false
    }

    /// Whether no thread is asked for, because some have been refused, and a worker is there for the job: as if the
    /// limit were reached.
    fn is_backing_off(&self) -> bool {
        self.life.roll.read().live() > 0 && self.backoff().holds()
    }

    /// The next worker that is due is asked for, whatever was refused before.
    pub(super) fn reset_backoff(&self) {
        self.backoff().end();
    }

    fn backoff(&self) -> MutexGuard<'_, SpawnBackoff> {
        self.backoff.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A worker that has been counted does not come, because its thread was `refused`. If no worker is left, this
    /// thread does their work.
    #[cold]
    fn go_on_without(&self, refused: &dyn Display) {
        let left = self.life.roll.cancel_hire().live();
        self.backoff().count_refusal();
        tell(|| log::error!("{} goes on with {left} threads, as one more was refused: {refused}", self.name()));
        // After the change of the roll, as in any other step of `elastic_pool/README.md`: a submitter that has counted
        // on this hire has put its job in before.
        fence(SeqCst);
        // A thread that stands in for a worker already will look for waiting jobs when its job has ended: doing so now
        // would take stack for each job of a chain.
        if left == 0 && !self.caller_stands_in() {
            // No other thread would run it.
            self.stand_in(|worker| worker.work_late());
        }
    }

    /// Whether the caller is in a job that its thread runs in place of a worker.
    pub(super) fn caller_stands_in(&self) -> bool {
        self.with_this_worker(|worker| worker.is_some_and(Worker::is_stranger))
    }

    /// Starts a thread for a worker on a vacant seat, after telling `prepare` which seat. If it does not come, that is
    /// told to `give_up` before the seat is another's.
    pub(super) fn seat_one(&self, prepare: impl FnOnce(usize), give_up: impl FnOnce(usize)) -> Result<(), SpawnError> {
        let seat = self.vacancies.take();
        prepare(seat);
        let spawned = self.myself().spawn_worker(seat).map(drop);
        spawned.inspect_err(|_| {
            give_up(seat);
            self.vacancies.give_back(seat);
        })
    }

    /// Does a worker's `work` on this thread, on a vacant seat.
    pub(super) fn stand_in(&self, work: impl FnOnce(Worker<'_, S, P>)) {
        let seat = self.vacancies.take();
        work(Worker::stranger(&self.myself(), seat));
        self.vacancies.give_back(seat);
        // This thread may have been the last active one, and workers that sleep have looked before.
        self.end_if_due();
    }
}
