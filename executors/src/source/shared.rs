//! Lanes that all workers take from, one job at a time: nobody keeps a job that another could run.
//!
//! For crews whose workers come and go, and whose jobs may block: what a worker had taken beyond the job it runs would
//! block with it. Jobs of one thread start in the order in which they came, unless threads got into each other's way in
//! their lane.

use super::{Source, Whom};
use crate::{
    job::{IntoJob, Job},
    meter::Meter,
    queue::{
        insist,
        lanes::{self, Lanes},
    },
};
use std::cell::Cell;

pub(crate) struct SharedSource(Lanes);

/// The lane to look at first.
pub(crate) struct NextLane(Cell<usize>);

impl SharedSource {
    pub(crate) fn new() -> Self {
        SharedSource(Lanes::new(lanes::suitable_number()))
    }
}

impl Source for SharedSource {
    const ELASTIC: bool = true;

    type Address = ();
    type Local = NextLane;
    type Own<'a> = Job;

    fn attach(&self, seat: usize) -> NextLane {
        NextLane(Cell::new(seat))
    }

    #[inline(always)]
    fn inject(&self, (): (), job: impl IntoJob) -> Whom {
        self.0.push(job);
        Whom::Anyone
    }

    #[inline(always)]
    fn push(&self, _next: &NextLane, (): (), job: impl IntoJob) -> Whom {
        self.inject((), job)
    }

    #[inline]
    fn pop(&self, next: &NextLane) -> Option<Job> {
        let (job, lane) = self.0.take_one(next.0.get()).ok()??;
        next.0.set(lane);
        Some(job)
    }

    fn pop_outside(&self, next: &NextLane) -> Option<Job> {
        // In turn, so that no lane is starved by a busy one.
        next.0.set(next.0.get() + 1);
        None
    }

    fn search(&self, next: &NextLane, _meter: &Meter) -> Option<Job> {
        let (job, lane) = insist(|| self.0.take_one(next.0.get()))?;
        next.0.set(lane);
        Some(job)
    }

    fn take(&self) -> Option<Job> {
        insist(|| self.0.take_one(0)).map(|(job, _lane)| job)
    }

    fn has_own(&self, _next: &NextLane) -> bool {
        false
    }

    fn shows_by_taking(&self, _next: &NextLane) -> bool {
        false // the worker may go on to another lane
    }

    fn has_crowds(&self, _next: &NextLane) -> bool {
        self.has_jobs()
    }

    fn has_jobs(&self) -> bool {
        !self.0.is_empty()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}
