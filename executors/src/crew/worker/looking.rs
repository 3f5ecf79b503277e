//! Looking for jobs, or for the end, before a worker sleeps.

use super::Worker;
use crate::{
    courtesy::{self, Courtesy},
    crew::Crew,
    options::Idle,
    parker::Parker,
    source::Source,
};
use std::{
    hint,
    time::{Duration, Instant},
};

/// How, and for how long, a worker that has run dry looks for jobs before it sleeps.
#[derive(Clone, Copy)]
pub(super) enum Look {
    /// It does not.
    Not,
    /// It counts as active meanwhile.
    Active(Duration),
    /// It counts as idle, because another worker might be hired, or because a thread waits until all are idle.
    Idle(Duration),
}

impl<S, P> Worker<'_, S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// How it looks, if the parker says that it `may_go_on`, or it is new.
    pub(super) fn how_to_look(&self, may_go_on: bool) -> Look {
        let Crew { life, idle, .. } = self.crew;
        let Some(spin) = self.spin() else { return Look::Not };
        let is_welcome = may_go_on || self.outlook.is_new() && life.has_few_threads();
        if !is_welcome || life.is_closed() || !self.outlook.is_promising(self.meter.read().runs(), *idle) {
            Look::Not
        } else if S::ELASTIC && self.crew.may_grow() || life.is_awaited() {
            Look::Idle(spin)
        } else {
            Look::Active(spin)
        }
    }

    /// Whether a job comes while the worker looks, for `spin`.
    pub(super) fn sees_a_job(&self, spin: Duration) -> bool {
        let is_there = self.watch(Instant::now(), spin, || false, || Some(())).is_some();
        if is_there {
            self.outlook.finds();
        }
        is_there
    }

    /// Whether the end comes, or a job, while the worker looks, if it does. When the crew is closed the end may come
    /// soon, and the thread that declares it would have to wake this worker.
    pub(super) fn sees_the_end(&self) -> bool {
        let Crew { life, source, .. } = self.crew;
        let looks = self.spin().is_some() && life.has_few_threads() && life.is_closed();
        looks && courtesy::look(|| self.crew.end_if_due() || source.has_jobs_for(&self.local))
    }

    /// Looks around, from `begin` on for `spin`, but not for longer than the worker stays; and calls `then` whenever
    /// there is a job, until that returns something.
    ///
    /// Meanwhile it yields the core: a thread that waits for the last job may just have been woken there, and submit
    /// the next. It ends early if a thread waits for that: if the pool is closed, or if `is_awaited` says so.
    pub(super) fn watch<R>(
        &self,
        begin: Instant,
        spin: Duration,
        is_awaited: impl Fn() -> bool,
        then: impl Fn() -> Option<R>,
    ) -> Option<R> {
        let mut courtesy = self.new_courtesy().spread_over(spin);
        while !self.crew.life.is_closed() && !is_awaited() {
            for _ in 0..8 {
                if self.crew.source.has_jobs_for(&self.local)
                    && let Some(result) = then()
                {
                    courtesy.has_come();
                    return Some(result);
                }
                hint::spin_loop();
            }
            let now = Instant::now();
            if now.saturating_duration_since(begin) >= spin || self.is_to_leave(|| now) {
                break;
            }
            if courtesy.grants_yield(now, None) {
                self.step_aside(&mut courtesy, now);
            }
        }
        None
    }

    /// For how long it looks for jobs before it sleeps, if it does both.
    fn spin(&self) -> Option<Duration> {
        match self.crew.idle {
            Idle::Park { spin } if spin > Duration::ZERO => Some(self.outlook.patience(spin)),
            _ => None,
        }
    }

    fn new_courtesy(&self) -> Courtesy {
        let can_move = self.outlook.take_light_sleep() && self.crew.mask.has_others();
        if can_move { Courtesy::with_way_out() } else { Courtesy::new() }
    }

    /// Yields the core, `now`, and announces that, because it may take long to come back. If it did, and there is a job
    /// then, for which it is late, it moves to another core.
    fn step_aside(&self, courtesy: &mut Courtesy, now: Instant) {
        let tells_of_return = self.crew.parker.step_aside(self.seat);
        courtesy.yields(now);
        if courtesy.was_long() && self.crew.source.has_jobs_for(&self.local) {
            courtesy.has_come();
            self.crew.mask.move_on();
        }
        if tells_of_return {
            self.crew.parker.come_back(self.seat);
        }
    }
}
