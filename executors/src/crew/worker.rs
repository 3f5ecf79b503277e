//! One worker: the loop, and what a job may ask of it.

mod finding;
mod idling;
mod looking;

use super::{Crew, account::Account, fairness::FairnessCounter, outlook::Outlook, pace::Pace};
use crate::{
    containment::{contain, discard, discard_payload, guard, tell},
    job::Job,
    local::{Attendant, Help, Post},
    meter::Meter,
    options::WorkerHook,
    parker::Parker,
    source::Source,
    sync::atomic::{
        Ordering::{Relaxed, SeqCst},
        fence,
    },
};
use std::{any::Any, cell::Cell, time::Instant};

/// What a worker counts as on the [roll](super::roll).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Duty {
    Idle,
    Active,
    /// Active, and it has found a job since it was idle. Only where that matters, see `elastic_pool/README.md`;
    /// elsewhere it stays `Active`.
    Busy,
}

pub(super) struct Worker<'a, S: Source, P: Parker + 'static> {
    crew: &'a Crew<S, P>,
    /// For handles and futures that its jobs make and drop.
    account: Account<'a, S, P>,
    seat: usize,
    meter: &'a Meter,
    local: S::Local,
    fairness: FairnessCounter,
    outlook: Outlook,
    pace: Pace,
    duty: Cell<Duty>,
    /// When it may leave, counted from when it last ran out of jobs. `None` if it stays for good.
    stays_until: Cell<Option<Instant>>,
    /// How many calls of `blocking` its job is in.
    blocked: Cell<usize>,
    /// Whether it has run its last job: what is put into its own queue from now on would never run.
    leaving: Cell<bool>,
    /// Whether this runs jobs in place of a worker, on a thread that is none: a submitter's, or a late shift's.
    is_stranger: bool,
}

impl<'a, S, P> Worker<'a, S, P>
where
    S: Source,
    P: Parker + 'static,
{
    pub(super) fn new(crew: &'a Crew<S, P>, seat: usize) -> Self {
        Worker::with(crew, seat, Some(seat))
    }

    /// For a thread that only runs what there is.
    pub(super) fn stranger(crew: &'a Crew<S, P>, seat: usize) -> Self {
        Worker::with(crew, seat, None)
    }

    /// Counted on `seat`; `own_seat` is where its own jobs are, if it has any.
    fn with(crew: &'a Crew<S, P>, seat: usize, own_seat: Option<usize>) -> Self {
        Worker {
            crew,
            account: Account::new(crew),
            seat,
            meter: crew.meters.get(seat),
            local: crew.source.attach(own_seat),
            fairness: FairnessCounter::new(crew.fairness),
            outlook: Outlook::default(),
            pace: Pace::default(),
            duty: Cell::new(Duty::Idle),
            stays_until: Cell::new(None),
            blocked: Cell::new(0),
            leaving: Cell::new(false),
            is_stranger: own_seat.is_none(),
        }
    }

    /// From the first job to the last.
    pub(super) fn work(self) {
        self.crew.time_slice.ask();
        // Where there is a start hook, the starter has counted this worker as active: see `expect_worker`.
        self.duty.set(if self.crew.options.on_start.is_some() { Duty::Active } else { Duty::Idle });
        self.crew.cold.arrived(self.seat);
        if let Err(payload) = contain(|| self.crew.parker.init(self.seat)) {
            discard_payload(payload);
            return self.at_post(|| self.falls_out());
        }
        self.on_duty(|| {
            let mut found = self.find_first_job();
            while let Some(job) = found {
                self.run_or_discard(job);
                while let Err(payload) = contain(|| self.run_own_jobs()) {
                    self.job_panicked(payload);
                }
                found = self.look_for_job();
            }
        });
    }

    /// Runs what is there and leaves, without sleeping: the pool is over, or has no thread for a worker. Without hooks:
    /// they are called for the workers that the user knows of.
    pub(super) fn work_late(self) {
        self.at_post(|| {
            self.become_active();
            self.run_what_waits();
            self.become_idle();
        });
    }

    /// Settles and publishes at the end, and runs what a logger or a recorder submits meanwhile, too: no other thread
    /// may come for it.
    fn run_what_waits(&self) {
        let last = || {
            self.account.settle();
            self.publish();
            self.search()
        };
        while let Some(job) = self.search().or_else(last) {
            self.run_or_discard(job);
        }
    }

    /// Runs a job that was found, or drops it after `shutdown_now`, which could not see it, or for which it came too
    /// late. A part runs in any case, as it belongs to a job that has begun.
    fn run_or_discard(&self, job: Job) {
        if self.crew.life.is_discarding() && !self.meter.is_at_part() {
            self.discard(job);
        } else {
            self.run(job);
        }
    }

    fn discard(&self, job: Job) {
        self.crew.discarded.fetch_add(1, Relaxed);
        discard(job);
    }

    /// Runs one job, on a thread that is no worker otherwise; and whatever waits, if there is no worker for it.
    pub(super) fn run_once(self, job: Job) {
        self.at_post(|| {
            self.become_active();
            self.run(job);
            // Before the look whether there is a worker: what is logged if this closes the crew may be a job.
            self.account.settle();
            // The next holder of the seat may take long to come, and publishes only what it finds then.
            self.publish();
            if self.crew.hires() && self.is_alone() {
                self.run_what_waits();
            }
            self.become_idle_blindly();
        });
    }

    /// Whether there may be no worker for what has been submitted here: none is hired, or all may have left for good.
    fn is_alone(&self) -> bool {
        let Crew { life, .. } = self.crew;
        // Pairs with the fence of a worker that has seen the end, in `run_what_is_left`: either that worker sees what
        // was submitted here, or we see the end.
        fence(SeqCst);
        life.roll.read().live() == 0 || life.is_over()
    }

    /// Surrounds the loop with all that is the same for every worker. The loop has to become idle before it ends.
    fn on_duty(&self, work: impl FnOnce()) {
        self.at_post(|| {
            if self.crew.options.on_start.is_some() {
                // The hook may take long: a submitter that has left a job to this worker needs another. If the parker
                // panics over that, the hook is called all the same: otherwise the stop hook would be called without
                // it.
                guard(|| self.call_for_overlooked(true));
                self.call_hook(self.crew.options.on_start.as_ref());
            } else {
                self.become_active();
            }
            // Panics of jobs and hooks are caught further in: this is for a user's parker.
            if let Err(payload) = contain(work) {
                discard_payload(payload);
                self.falls_out();
            }
            self.leaves(|| self.call_hook(self.crew.options.on_stop.as_ref()));
        });
    }

    /// The worker is lost in the middle of its work: no thread may wait for it, or rely on it.
    #[cold]
    fn falls_out(&self) {
        tell(|| log::error!("{} goes on without worker {}: its parker panicked.", self.crew.name(), self.seat));
        if self.duty.get() != Duty::Idle {
            self.become_idle_blindly();
        }
        // The parker may still list this worker as a sleeper, and call it instead of one that can come: `init` and
        // `leave` take it off the list. Each of these steps is guarded by itself: a parker that has panicked once may
        // do so again.
        guard(|| {
            self.crew.parker.init(self.seat);
            self.crew.parker.leave(self.seat);
        });
        guard(|| self.call_for_overlooked(true));
        guard(|| {
            // There may be no other worker to do so.
            if self.crew.life.is_discarding() {
                self.crew.discard_backlog();
            }
        });
        guard(|| _ = self.crew.end_if_due());
    }

    /// Whatever runs in `work` is part of a job of this worker.
    fn at_post(&self, work: impl FnOnce()) {
        self.crew.post_of(self).stand(work);
    }

    /// Whatever runs in `farewell` is not part of a job of this worker: what it submits is for other workers.
    fn leaves(&self, farewell: impl FnOnce()) {
        self.leaving.set(true);
        Post::without_worker(self.crew.id(), self).stand(farewell);
    }

    /// Whether its job goes on: it is in no call of `blocking`.
    pub(super) fn works_on(&self) -> bool {
        self.blocked.get() == 0
    }

    pub(super) fn is_stranger(&self) -> bool {
        self.is_stranger
    }

    pub(super) fn run(&self, job: Job) {
        self.account.begin();
        self.meter.work_begins();
        match contain(|| job.run()) {
            Ok(()) => self.meter.job_or_part_ended(),
            Err(payload) => self.job_panicked(payload),
        }
    }

    /// Runs its own jobs, and those from outside whose turn it is, until it has none, or those that wait are to be
    /// dropped. A job's panic passes through, and nothing else panics here: the other jobs are to be run by another
    /// call.
    fn run_own_jobs(&self) {
        // Copied out of `self`, or the compiler would read them anew after each job.
        let Crew { life, source, .. } = self.crew;
        while !life.is_discarding() {
            if self.fairness.count_job(|| source.prefers(&self.local))
                && let Some(job) = self.pop_outside()
            {
                job.run();
            } else if !source.run_next(&self.local) {
                return;
            }
            self.meter.job_ended();
        }
    }

    #[cold]
    fn job_panicked(&self, payload: Box<dyn Any + Send>) {
        self.report(&*payload);
        discard_payload(payload);
        self.meter.job_ended();
    }

    pub(super) fn crew(&self) -> &Crew<S, P> {
        self.crew
    }

    pub(super) fn meter(&self) -> &Meter {
        self.meter
    }

    pub(super) fn local(&self) -> &S::Local {
        &self.local
    }

    pub(super) fn account(&self) -> &Account<'a, S, P> {
        &self.account
    }

    #[cold]
    fn pop_outside(&self) -> Option<Job> {
        self.publish();
        self.crew.source.pop_outside(&self.local, self.fairness.period(), self.meter)
    }

    /// The worker has taken a job. A submitter that counted on it until now needs another: step T2 in
    /// `elastic_pool/README.md`.
    fn become_busy(&self) {
        if !self.crew.hires() || self.duty.replace(Duty::Busy) == Duty::Busy {
            return;
        }
        self.crew.life.roll.become_busy();
        // Pairs with S2 of a submitter: either that one does not count on us, or we see its job.
        fence(SeqCst);
        if self.crew.may_grow() {
            self.crew.grow(0);
        }
    }

    fn become_active(&self) {
        self.crew.life.roll.become_active();
        self.duty.set(Duty::Active);
    }

    /// When it has found nothing.
    fn become_idle(&self) {
        let busy = self.goes_off_duty();
        self.crew.become_idle(busy);
    }

    /// When it has not looked: see [`Crew::become_idle_blindly`].
    fn become_idle_blindly(&self) {
        let busy = self.goes_off_duty();
        self.crew.become_idle_blindly(busy);
    }

    /// Returns whether it was busy.
    fn goes_off_duty(&self) -> bool {
        self.meter.work_ends();
        self.account.settle();
        self.duty.replace(Duty::Idle) == Duty::Busy
    }

    fn search(&self) -> Option<Job> {
        self.crew.source.search(&self.local, self.meter)
    }

    fn call_hook(&self, hook: Option<&WorkerHook>) {
        if let Some(hook) = hook
            && let Err(payload) = contain(|| hook(self.seat))
        {
            self.crew.report_panic("A hook", self.seat, &*payload);
            discard_payload(payload);
        }
    }

    fn publish(&self) {
        self.crew.exporter.publish(self.seat, || self.meter.read().ended, || self.crew.source.len());
    }
}

impl<S, P> Attendant for Worker<'_, S, P>
where
    S: Source,
    P: Parker + 'static,
{
    fn accept(&self, job: Job) -> bool {
        let accepted = !self.leaving.get() && !self.crew.refuses_from_inside();
        if accepted {
            let Crew { source, .. } = self.crew;
            self.crew.put_from_inside(self, source.here(&self.local).unwrap_or_else(|| source.anywhere()), job);
        } else {
            discard(job);
        }
        accepted
    }

    fn report(&self, payload: &(dyn Any + Send)) {
        self.meter.job_panicked();
        self.crew.report_panic("A job", self.seat, payload);
    }

    fn seat(&self) -> Option<usize> {
        Some(self.seat)
    }

    fn help(&self, division: usize) -> Help {
        let Crew { life, source, .. } = self.crew;
        if life.is_discarding() {
            // It may be among the jobs that this thread itself is dropping: no other thread would come to it.
            Help::Drop
        } else if self.leaving.get() {
            // This worker counts as idle, and no thread would run what that job submits to it.
            Help::Nothing
        } else if source.here(&self.local).map(S::division) == Some(division) {
            Help::Run
        } else {
            Help::Nothing
        }
    }

    fn blocks(&self) {
        self.crew.source.on_block(&self.local);
        self.blocked.update(|calls| calls + 1);
        if self.duty.get() == Duty::Busy && self.blocked.get() == 1 {
            self.crew.life.roll.block();
            // Pairs with S2 of a submitter: either that one sees that there is room, or we see its job.
            fence(SeqCst);
            self.crew.grow(0);
        }
    }

    fn goes_on(&self) {
        self.blocked.update(|calls| calls - 1);
        if self.duty.get() == Duty::Busy && self.blocked.get() == 0 {
            self.crew.life.roll.go_on();
        }
    }
}
