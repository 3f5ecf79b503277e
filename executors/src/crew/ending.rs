//! How a crew ends, and when it is idle, without which it does not end.
//!
//! These are steps 1 and 3 of "The end" in `crew/README.md`, the look of "Idle", and what is asked there: "What if
//! somebody submits meanwhile?"

use super::{Crew, worker::Worker};
use crate::{
    containment::guard,
    parker::Parker,
    source::Source,
    sync::atomic::{Ordering::SeqCst, fence},
};
use std::sync::Arc;

impl<S, P> Crew<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// Takes no more jobs from outside. Returns whether it did until now.
    pub(super) fn close(&self) -> bool {
        let closed = self.life.close();
        if closed {
            if !self.life.is_discarding() {
                self.source.on_close();
            }
            fence(SeqCst);
            // If all are asleep, or there is no worker, nobody else would declare the end. Otherwise sleepers must find
            // out.
            if !self.is_over() {
                self.parker.unpark_all();
            }
            guard(|| log::debug!("{} is closing.", self.name()));
        }
        closed
    }

    /// Has the source give out what it withholds: the backlog has been dropped, but some jobs may come in late.
    pub(super) fn give_out(&self) {
        self.source.on_close();
        // Pairs with the fence in `parker::sleep`, as in `Crew::announce`.
        fence(SeqCst);
        self.parker.unpark_all();
    }

    /// Whether the crew's work is done for good; declares the end if this is the moment.
    pub(super) fn is_over(&self) -> bool {
        if self.life.is_over() {
            return true;
        }
        if self.life.is_closed() && self.is_idle() && self.life.end() {
            // Pairs with the fence in `parker::sleep`: either who falls asleep sees the end, or the parker sees the
            // sleeper.
            fence(SeqCst);
            self.parker.unpark_all();
        }
        self.life.is_over()
    }

    /// Whether nothing is waiting and nobody works. What was put in before this call has run if so.
    pub(super) fn is_idle(&self) -> bool {
        // In this order: a worker becomes active before it takes a job, so a job that is not in the source any more is
        // at an active worker until it has run, and so are the jobs that it spawns.
        if self.source.has_unfinished() {
            return false;
        }
        fence(SeqCst);
        self.life.active() == 0
    }

    /// Counts out a worker, or who has done its work, when it has found nothing more to do.
    pub(super) fn become_idle(&self, busy: bool) {
        // The look and the change are those of `is_idle`, in the same order.
        self.life.become_idle(busy, || !self.source.has_unfinished());
    }

    /// To be called after jobs from outside were put in and announced. They were admitted while the crew was open, but
    /// the last worker may have left before they came in.
    #[inline(always)]
    pub(super) fn check_for_late_jobs(self: &Arc<Self>) {
        // The fence in `Crew::announce` pairs with the one in `Worker::await_job`, or with the recall there: either the
        // leaving worker's last search sees the jobs, or we see that the crew is over.
        if self.life.is_over() {
            self.settle_late_jobs();
        }
    }

    /// Runs jobs that were admitted just before the end and put in just after it, on one more thread; or on this one,
    /// if the operating system refuses that.
    #[cold]
    fn settle_late_jobs(self: &Arc<Self>) {
        let seat = self.vacancies.take();
        let spawned = self.spawn(seat, |crew, seat| Worker::stranger(crew, seat).work_late());
        if spawned.is_err() {
            self.vacancies.give_back(seat);
            self.stand_in(|worker| worker.work_late());
        }
    }
}

#[cfg(all(test, target_os = "linux", feature = "cb-channel-exec", not(executors_loom)))]
pub(super) mod tests {
    use super::*;
    use crate::{
        crew::{Charter, Setup, Terms},
        job::Closure,
        options::{Fairness, Idle, Options},
        parker::{self, Parker},
        placement::Mask,
        source::fifo::FifoSource,
        time_slice::TimeSlice,
    };
    use std::{ops::Range, sync::mpsc, thread};

    /// A crew of one worker, whose thread is there or `cold`.
    pub(in crate::crew) fn setup(cold: Range<usize>, options: Options) -> Setup<FifoSource, impl Parker + 'static> {
        let charter = Charter {
            label: "one worker",
            thread_name: |seat| seat.to_string(),
            idle: Idle::PARK,
            fairness: Fairness::COUNTED,
            time_slice: TimeSlice::Usual,
        };
        Setup { terms: Terms::fixed(1), cold, source: FifoSource::new(), parker: parker::dynamic(), charter, options }
    }

    /// A `job` that was admitted before the end of a crew, and comes in after it, from a thread that `prepare`s itself.
    fn late_job<R>(stack_size: Option<usize>, prepare: impl FnOnce(), job: fn() -> R) -> R
    where
        R: Send + 'static,
    {
        let options = Options { stack_size, ..Options::new() };
        let crew = Crew::start(setup(0..1, options)).expect("there is no thread to be refused");
        crew.close();
        assert!(crew.is_over());
        let (tell, told) = mpsc::channel();
        prepare();
        crew.put_from_outside((), Closure(move || assert!(tell.send(job()).is_ok(), "the test listens")));
        let result = told.recv().expect("it runs");
        crew.join_threads();
        assert_eq!((crew.report().finished, crew.report().discarded), (1, 0));
        result
    }

    #[test]
    fn late_jobs_run_on_one_more_thread_or_on_their_submitter() {
        let place = |stack_size| late_job(stack_size, || (), || thread::current().id());
        assert_ne!(place(None), thread::current().id());
        let too_large_for_any_system = usize::MAX / 2;
        assert_eq!(place(Some(too_large_for_any_system)), thread::current().id());
    }

    #[test]
    fn late_jobs_are_not_pinned_by_their_submitter() {
        let all = Mask::of_this_thread();
        let Some(one) = all.first_of_several() else { return };
        let submitter = move || late_job(None, || one.apply(), Mask::of_this_thread);
        assert_eq!(thread::spawn(submitter).join().expect("no panic"), all);
    }
}
