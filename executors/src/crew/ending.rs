//! How a crew ends, and when it is idle, which it has to be before it ends.
//!
//! These are steps 1, 3 and 4 of "The end" in `crew/README.md`, the check of "Idle", and the answers to "What if
//! somebody submits meanwhile?".

use super::{Crew, worker::Worker};
use crate::{
    containment::{contain, guard, tell},
    parker::{Origin, Parker},
    source::Source,
    sync::atomic::{Ordering::SeqCst, fence},
};
use std::panic;

impl<S, P> Crew<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// Takes no more jobs from outside. Returns whether the crew was open until now.
    pub(super) fn close(&self) -> bool {
        // Before the close: when the end is declared, nothing is withheld any more, also from late jobs.
        if !self.life.is_closed() && !self.life.is_discarding() {
            self.source.on_close();
        }
        let closed = self.life.close();
        if closed {
            // Pairs with the fence in `parker::sleep`: either a worker that falls asleep sees the close, and asks for
            // the end, or the parker sees the sleeper.
            fence(SeqCst);
            // If all workers are asleep, or there is none, no other thread would declare the end. Otherwise sleepers
            // must find out.
            if !self.end_if_due() {
                if self.life.is_discarding() { self.parker.unpark_all() } else { self.call_all() }
            }
            tell(|| log::debug!("{} is closing.", self.name()));
        }
        closed
    }

    /// Makes the source give out what it withholds: the backlog has been dropped, but some jobs may come in late.
    pub(super) fn give_out(&self) {
        self.source.on_close();
        // Pairs with the fence in `parker::sleep`, as S2 of a submitter does.
        fence(SeqCst);
        self.call_all();
    }

    /// Calls all sleepers; and for jobs that were withheld until now, calls a worker even if none sleeps. A worker that
    /// comes calls the next.
    fn call_all(&self) {
        self.parker.unpark_all();
        if S::WITHHOLDS && self.source.has_jobs() {
            self.call_one(Origin::Waiting);
        }
    }

    /// Declares the end if the crew is closed and idle. Returns whether it is over.
    pub(super) fn end_if_due(&self) -> bool {
        if self.life.is_over() {
            return true;
        }
        if self.life.is_closed() && self.is_idle() && self.life.end() {
            // Pairs with the fence in `parker::sleep`: either a worker that falls asleep sees the end, or the parker
            // sees the sleeper.
            fence(SeqCst);
            self.send_all_home();
        }
        self.life.is_over()
    }

    /// Calls all sleepers for the last time. A user's parker that panics gets a second chance.
    fn send_all_home(&self) {
        if let Err(payload) = contain(|| self.parker.unpark_all()) {
            guard(|| self.parker.unpark_all());
            panic::resume_unwind(payload);
        }
    }

    /// Drops what waits if neither a handle nor a thread is left and the crew is not over: a user's parker has panicked
    /// on each worker. No other thread would drop it, and a future that waits keeps the crew.
    ///
    /// To be called when no handle is left and when a thread has been counted out, also one that was refused: the lock
    /// under which the former is recorded makes the later of the two see both. (Not after a late shift was refused:
    /// its submitter drops what waits if jobs are to be dropped, and otherwise the crew is over.)
    pub(super) fn give_up_if_deserted(&self) {
        // Where workers come and go, there may be none at any time. (Users do not choose the parker there.)
        let is_deserted = || self.unjoined.nobody_waits() && self.life.threads() == 0;
        if !S::ELASTIC && !self.life.is_over() && is_deserted() {
            self.life.begin_discarding();
            self.discard_backlog();
        }
    }

    /// Whether no job waits and no thread is at work. If so, what was put in before this call has run.
    pub(super) fn is_idle(&self) -> bool {
        // In this order: a worker becomes active before it takes a job, so a job that is not in the source any more is
        // at an active worker until it has run, and so are the jobs that it spawns.
        let blind_exits = self.life.blind_exits();
        if self.source.has_unfinished() {
            return false;
        }
        // Keeps the two looks in this order, whatever the orderings of the source's loads. It pairs with no fence, but
        // with the Release by which a worker stores that its job is gone: that worker has changed the roll before.
        fence(SeqCst);
        self.life.roll.read().active() == 0 && self.life.blind_exits() == blind_exits
    }

    /// Counts out a worker, or a thread that has done a worker's work, when it has found nothing more to do.
    pub(super) fn become_idle(&self, busy: bool) {
        // The check and the change come in the same order as in `is_idle`.
        self.life.become_idle(busy, || !self.source.has_unfinished());
    }

    /// Counts out a thread that has not looked: what its last job has put in is for others. It has to ask for the
    /// [end](Self::end_if_due) afterwards: others that have asked meanwhile may have been told that it is not due.
    pub(super) fn become_idle_blindly(&self, busy: bool) {
        self.life.become_idle_blindly(busy, || self.is_idle());
    }

    /// To be called after jobs from outside were put in and announced. They were admitted while the crew was open, but
    /// the last worker may have left before they came in, or the backlog may have been dropped.
    #[inline(always)]
    pub(super) fn check_for_late_jobs(&self) {
        // S2 of the jobs pairs with the fence in `run_what_is_left` and that in `discard_backlog`, or with the recall
        // there: either that thread sees the jobs, or we see that the crew is over, or discards.
        if self.life.is_discarding_or_over() {
            self.see_to_late_jobs();
        }
    }

    /// Runs late jobs, whichever worker they are for, as a late shift does. For a worker that leaves because the crew
    /// is over; `local` is what it has of the source.
    pub(super) fn run_what_is_left(&self, local: &S::Local) {
        // Pairs with S2 of a submitter, or the recall does: a job that was put in by a thread which did not see the end
        // is seen here. And with the fence of a late shift, as G2 of `dispatcher/README.md`: either the late shift
        // finds the gate open, or its job is seen here.
        fence(SeqCst);
        self.source.recall(Some(local));
        // A job that is in but not announced yet is left to its submitter.
        if self.source.len() > 0 && self.source.has_jobs_for(&self.source.attach(None)) {
            self.stand_in(|worker| worker.work_late());
        }
    }

    /// [Runs or drops](Self::run_or_discard_the_rest) jobs that were admitted just before the end and put in just after
    /// it, on one more thread: all workers may be busy. On this thread only if the operating system refuses the other:
    /// destructors of other jobs may wait for this one, or for a lock that it holds.
    ///
    /// Not in the middle of a start of another thread, for a job that an allocator has submitted there: the start was
    /// for a job that was submitted before, and when that has been announced, its submitter comes here.
    #[cold]
    fn see_to_late_jobs(&self) {
        if self.source.len() == 0 || self.unjoined.are_locked_here() {
            return; // another thread has taken them, or they are left to a call further out on this thread's stack
        }
        let seat = self.vacancies.take();
        if self.myself().spawn(seat, |crew, seat| crew.run_or_discard_the_rest(Worker::stranger(crew, seat))).is_err() {
            self.vacancies.give_back(seat);
            self.stand_in(|worker| self.run_or_discard_the_rest(worker));
        }
    }

    /// Runs what is left, or drops it, if jobs are to be dropped.
    fn run_or_discard_the_rest(&self, worker: Worker<'_, S, P>) {
        if self.life.is_discarding() {
            self.discard_backlog();
        } else {
            worker.work_late();
        }
    }
}
