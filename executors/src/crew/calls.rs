//! Calls: telling the workers that a job needs that it has been put in.
//!
//! These are the steps of a submitter after S1, of `parker/README.md` and of `elastic_pool/README.md`; S2 of a single
//! job from outside is in the source. The parker decides which worker is woken, and `hiring.rs` whether one is hired.
//!
//! For jobs that any worker may run, `announce` calls `call_for_submitted` (from inside through `call_if_needed`),
//! which calls one worker, or several by `call_several`. For a job of one worker it calls `call_owner`. A single job
//! from outside takes a shorter way to the same: `announce_fenced`, and then `call_from_outside`.

use super::{Crew, worker::Worker};
use crate::{
    parker::{Origin, Parker},
    placement::core_count,
    source::{Source, Whom},
    sync::atomic::{Ordering::SeqCst, fence},
};

impl<S, P> Crew<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// Tells `whom` it concerns that `jobs` jobs have just been put into the source: by `giver`, or by no worker of the
    /// crew, and then they may be [late](Self::check_for_late_jobs).
    #[inline(always)]
    pub(super) fn announce(&self, to: S::Address, whom: Whom, jobs: usize, giver: Option<&Worker<'_, S, P>>) {
        match whom {
            Whom::Anyone => {
                // S2: pairs with the fence that a worker issues between announcing its sleep and looking for jobs once
                // more: either that look sees the jobs, or the parker sees the announcement.
                self.source.fence_pushes(giver.map(Worker::local));
                if self.source.expose(to) && self.may_call() {
                    match giver {
                        Some(worker) => self.call_if_needed(worker, to, jobs),
                        None => self.call_for_submitted(None, to, jobs),
                    }
                }
            }
            Whom::Nobody => {}
            Whom::Owner(seat) => self.call_owner(to, seat),
        }
        if giver.is_none() {
            self.check_for_late_jobs();
        }
    }

    /// The same for a job from outside that was put in [with a fence](Source::inject_fenced). All calls in here are
    /// tail calls, or this would have to save registers.
    #[inline(always)]
    pub(super) fn announce_fenced(&self, to: S::Address, whom: Whom) {
        let may_need_call = match whom {
            Whom::Anyone => self.source.expose(to) && self.may_call(),
            Whom::Owner(_) => true,
            Whom::Nobody => false,
        };
        if may_need_call {
            self.call_from_outside(to, whom);
        } else {
            self.check_for_late_jobs();
        }
    }

    /// Calls, starts or hires a worker for such a job, if one is needed, and checks whether the job is late.
    #[inline(never)]
    fn call_from_outside(&self, to: S::Address, whom: Whom) {
        if let Whom::Owner(seat) = whom {
            self.call_owner(to, seat);
        } else {
            self.call_for_submitted(None, to, 1);
        }
        self.check_for_late_jobs();
    }

    /// Tells the worker on `seat` of a job that only this worker can run.
    fn call_owner(&self, to: S::Address, seat: usize) {
        // Pairs with the fence in `parker::sleep`: either the worker sees the job, or the parker sees that it sleeps.
        fence(SeqCst);
        if self.source.expose(to) {
            self.parker.unpark(seat);
        }
    }

    /// Tells `whom` it concerns that workers may get at `jobs` jobs which were in the source before.
    pub(super) fn call_for_opened(&self, whom: Whom, jobs: usize) {
        if jobs == 0 {
            return;
        }
        // Pairs with the fence in `parker::sleep`, as S2 of a submitter does.
        fence(SeqCst);
        match whom {
            Whom::Anyone => self.call_several(jobs, self.origin_where_room_for(jobs)),
            Whom::Owner(seat) => self.parker.unpark(seat),
            Whom::Nobody => {}
        }
        // All workers may have left meanwhile, because the jobs were withheld for a moment.
        self.check_for_late_jobs();
    }

    /// Whether a worker might be called, started or hired. Relies on a fence between the reason for that and this.
    #[inline(always)]
    pub(super) fn may_call(&self) -> bool {
        let can_start_more = if S::ELASTIC { self.may_grow() } else { self.cold.are_left() };
        can_start_more || self.parker.is_anybody_asleep()
    }

    /// Calls, starts or hires a worker for jobs that `giver` has put to `to`, if one is needed. While a worker looks,
    /// or is on its way, many jobs ask this in vain: so it is cheap, and the call is in another function. Relies on a
    /// fence, too.
    #[inline(never)]
    fn call_if_needed(&self, giver: &Worker<'_, S, P>, to: S::Address, jobs: usize) {
        if S::ELASTIC || self.needs_call(|| self.origin(Some(giver), to)) {
            self.call_for_submitted(Some(giver), to, jobs);
        }
    }

    /// As [`call_if_needed`](Self::call_if_needed), for a part of a job.
    #[inline(never)]
    pub(super) fn call_for_part(&self) {
        if self.needs_call(|| Origin::Inside) {
            self.call_one(Origin::Inside);
        }
    }

    #[inline(always)]
    fn needs_call(&self, origin: impl FnOnce() -> Origin) -> bool {
        self.cold.are_left() && !self.parker.is_anybody_free() || self.parker.needs_call(origin())
    }

    /// As [`call_several`](Self::call_several). In a function of its own, so that a job that needs no call does not
    /// make room on the stack for what this needs.
    #[inline(never)]
    fn call_for_submitted(&self, giver: Option<&Worker<'_, S, P>>, to: S::Address, jobs: usize) {
        let origin = match self.origin(giver, to) {
            Origin::Outside if S::WITHHOLDS => self.origin_where_room_for(self.source.room(to)),
            origin => origin,
        };
        if jobs > 1 {
            return self.call_several(jobs, origin);
        }
        self.hire_for(1);
        // In a model it gives way whether a worker is coming or not.
        let is_one_coming = || cfg!(executors_loom) || self.parker.is_one_coming();
        if origin != Origin::Outside || !is_one_coming() || !self.gives_way() {
            self.call_one(origin);
        }
    }

    /// Calls workers for `jobs` jobs that are visible to all. Relies on a fence between that and this.
    #[inline(never)]
    fn call_several(&self, jobs: usize, origin: Origin) {
        self.hire_for(jobs);
        self.call_one(origin);
        for _ in 1..jobs.min(self.terms.max) {
            self.call_one(origin);
        }
    }

    /// Hires workers for `jobs` jobs, where they come and go and there is room.
    #[inline(always)]
    fn hire_for(&self, jobs: usize) {
        if S::ELASTIC && self.may_grow() {
            self.grow(jobs);
        }
    }

    /// Calls a worker for a job that is visible to all, if one is needed. Relies on a fence between that and this.
    #[inline]
    pub(super) fn call_one(&self, origin: Origin) {
        if !S::ELASTIC && self.cold.are_left() {
            self.call_cold(origin);
        } else {
            self.call_warm(origin);
        }
    }

    /// The same if all threads have been started.
    #[inline]
    fn call_warm(&self, origin: Origin) {
        if self.parker.is_anybody_asleep() {
            self.parker.job_arrived(origin);
        }
    }

    /// Gives way to the worker that is coming, if that is likely to be faster than calling another. Returns whether it
    /// has, and the job needs no call any more.
    #[cold]
    fn gives_way(&self) -> bool {
        let Some(mut claim) = self.precedence.claim() else { return false };
        self.parker.give_way();
        claim.give();
        if !self.parker.go_on() {
            return true;
        }
        // As in `Worker::call_for_overlooked`: a thread that has relied on this one has spared a call. No recall is
        // made, because a worker that is called looks for what a spared fence hides.
        fence(SeqCst);
        !self.source.spares_fences(None) && !self.source.has_jobs()
    }

    /// Starts threads for such a job, if they are needed, or calls a worker that is there.
    #[cold]
    fn call_cold(&self, origin: Origin) {
        if !self.starts_one(|| self.cold.coming() == 0 || self.are_more_than_coming()) {
            self.call_warm(origin);
        } else if origin != Origin::Outside {
            // Threads start as a tree rather than a chain. (A submitter from outside submits the next job soon.)
            self.starts_one(|| self.are_more_than_coming());
        }
    }

    /// Starts a thread if no thread is free and that `is_due`. Returns whether it comes.
    fn starts_one(&self, is_due: impl Fn() -> bool) -> bool {
        !self.parker.is_anybody_free() && is_due() && self.start_cold(is_due)
    }

    /// Whether there are more jobs than threads on the way that will look for some, where all jobs may run at once.
    fn are_more_than_coming(&self) -> bool {
        !S::WITHHOLDS && self.cold.coming() < self.source.len() + self.source.parts()
    }

    /// The origin of a job that was just put to `to`.
    fn origin(&self, giver: Option<&Worker<'_, S, P>>, to: S::Address) -> Origin {
        match giver {
            None => Origin::Outside,
            Some(worker) if self.source.is_lone(worker.local(), to) => Origin::Alone,
            Some(_) => Origin::Inside,
        }
    }

    /// The origin of jobs from outside of which this many may begin at once. If these are fewer than the workers that a
    /// burst may call, one is called, and each that comes calls the next.
    #[inline]
    fn origin_where_room_for(&self, jobs: usize) -> Origin {
        if jobs < self.terms.max.min(core_count()) { Origin::Waiting } else { Origin::Outside }
    }
}
