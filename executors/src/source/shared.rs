//! Lanes that all workers take from, one job at a time: no worker keeps a job that another could run.
//!
//! For crews whose workers come and go, and whose jobs may block: whatever a worker had taken beyond the job it runs
//! would be blocked with it. Jobs of one thread start in the order in which they came, unless threads met in their
//! lane. Between threads there is no order: a worker goes on to the next lane when the crew's fairness says so.
//!
//! Workers take jobs in turns where that is faster: then a single chain of jobs stays on one worker for some time, also
//! after a worker that looks for jobs has taken one of them.

use super::{
    Source, Whom,
    queue::{
        Busy, insist,
        lane::Lane,
        lanes::{self, Lanes},
        single::SingleLane,
        tenure::{Tenant, Tenure},
    },
};
use crate::{
    job::{IntoJob, Job, hand::Hand},
    meter::Meter,
};
use std::cell::Cell;

pub(crate) struct SharedSource {
    kept: Lanes,
    /// One queue, so that it is known which job is the oldest. `None` if no job is expendable.
    expendable: Option<SingleLane>,
    tenure: Tenure,
}

/// Whether a job may be dropped in favour of another.
#[derive(Clone, Copy, Default)]
pub(crate) enum Worth {
    #[default]
    Kept,
    /// [`take_oldest`](SharedSource::take_oldest) may be called.
    Expendable,
}

/// Where to look first.
pub(crate) struct SharedLocal {
    lane: Cell<usize>,
    /// Jobs of both kinds are taken in turn, so that neither is starved by the other.
    is_expendable: Cell<bool>,
    tenant: Tenant,
}

impl SharedSource {
    pub(crate) fn new() -> Self {
        SharedSource { kept: Lanes::new(lanes::suitable_number()).spread(), expendable: None, tenure: Tenure::new() }
    }

    /// A source in which some jobs are expendable.
    pub(crate) fn with_expendable() -> Self {
        SharedSource { expendable: Some(SingleLane::new()), ..Self::new() }
    }

    /// The expendable job that has waited longest.
    pub(crate) fn take_oldest(&self) -> Option<Job> {
        self.expendable.as_ref()?.pop()
    }

    fn take_expendable(&self, hand: &mut Hand) -> Result<(), Busy> {
        self.expendable.as_ref().map_or(Ok(()), |queue| queue.try_take_first(hand))
    }

    /// How many jobs have been taken, as far as has been seen here. Wraps around.
    fn taken(&self) -> usize {
        let of_lanes = self.kept.iter().map(Lane::taken).fold(0, usize::wrapping_add);
        self.expendable.as_ref().map_or(0, SingleLane::taken).wrapping_add(of_lanes)
    }

    fn expendable_len(&self) -> usize {
        self.expendable.as_ref().map_or(0, SingleLane::len)
    }

    #[inline]
    fn take_kept(&self, local: &SharedLocal, hand: &mut Hand) -> Result<(), Busy> {
        if let Some(lane) = self.kept.take_one(local.lane.get(), hand)? {
            local.lane.set(lane);
        }
        Ok(())
    }

    #[inline]
    fn take_next(&self, local: &SharedLocal, hand: &mut Hand) -> Result<(), Busy> {
        if self.expendable.is_none() { self.take_kept(local, hand) } else { self.take_in_turn(local, hand) }
    }

    fn take_in_turn(&self, local: &SharedLocal, hand: &mut Hand) -> Result<(), Busy> {
        let expendable_first = local.is_expendable.replace(!local.is_expendable.get());
        let mut take = |expendable| {
            let taken = if expendable { self.take_expendable(hand) } else { self.take_kept(local, hand) };
            taken.map(|()| hand.is_full())
        };
        let first = take(expendable_first);
        if first == Ok(true) || take(!expendable_first)? { Ok(()) } else { first.map(drop) }
    }

    /// Takes the next job, as soon as no other thread is taking one.
    fn pop(&self, local: &SharedLocal) -> Option<Job> {
        let mut hand = Hand::empty();
        insist(|| self.take_next(local, &mut hand));
        hand.into_job()
    }
}

impl Source for SharedSource {
    const ELASTIC: bool = true;

    type Address = Worth;
    type Local = SharedLocal;

    fn attach(&self, seat: Option<usize>) -> SharedLocal {
        let (lane, is_expendable) = (Cell::new(seat.unwrap_or(0)), Cell::new(false));
        SharedLocal { lane, is_expendable, tenant: Tenant::new(seat) }
    }

    #[inline(always)]
    fn inject(&self, to: Worth, job: impl IntoJob) -> Whom {
        match (to, &self.expendable) {
            (Worth::Expendable, Some(queue)) => queue.push(job),
            _ => self.kept.push(job),
        }
        Whom::Anyone
    }

    #[inline]
    fn run_next(&self, local: &SharedLocal) -> bool {
        let mut hand = Hand::empty();
        if self.tenure.admits(&local.tenant, || !self.has_jobs(), || self.taken()) {
            // If another thread is there, `search` will insist.
            let _ = self.take_next(local, &mut hand);
        }
        hand.run()
    }

    fn pop_outside(&self, local: &SharedLocal, _period: usize, _meter: &Meter) -> Option<Job> {
        // In turn, so that no lane is starved by a busy one.
        local.lane.update(|lane| lane.wrapping_add(1));
        None
    }

    fn search(&self, local: &SharedLocal, _meter: &Meter) -> Option<Job> {
        self.pop(local)
    }

    fn take(&self) -> Option<Job> {
        self.pop(&self.attach(None))
    }

    fn has_jobs(&self) -> bool {
        self.expendable_len() > 0 || self.kept.iter().any(|lane| !lane.is_empty())
    }

    fn len(&self) -> usize {
        self.expendable_len() + self.kept.iter().map(Lane::len).sum::<usize>()
    }
}
