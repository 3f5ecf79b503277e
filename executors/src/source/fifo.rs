//! One queue for all, first in, first out: a single lane, which workers use in turns.

use super::{
    Source, Whom,
    queue::{
        insist,
        lane::Lane,
        tenure::{Mark, Tenant, Tenure},
    },
};
use crate::{
    job::{IntoJob, Job},
    meter::Meter,
};

pub(crate) struct FifoSource {
    lane: Lane,
    tenure: Tenure,
}

impl FifoSource {
    pub(crate) fn new() -> Self {
        FifoSource { lane: Lane::new(), tenure: Tenure::new() }
    }
}

impl Source for FifoSource {
    type Address = ();
    type Local = Tenant;
    type Own<'a> = Job;

    fn attach(&self, seat: Option<usize>) -> Tenant {
        Tenant::new(seat)
    }

    #[inline(always)]
    fn inject(&self, (): (), job: impl IntoJob) -> Whom {
        self.lane.push(job);
        Whom::Anyone
    }

    #[inline(always)]
    fn push(&self, _tenant: &Tenant, (): (), job: impl IntoJob) -> Whom {
        self.inject((), job)
    }

    #[inline]
    fn pop(&self, tenant: &Tenant) -> Option<Job> {
        if !self.tenure.lets_in(tenant) {
            if self.lane.is_empty() {
                return None;
            }
            self.tenure.await_turn(tenant, || Mark::now(self.lane.taken()));
        }
        self.take()
    }

    fn search(&self, _tenant: &Tenant, _meter: &Meter) -> Option<Job> {
        self.take()
    }

    #[inline]
    fn take(&self) -> Option<Job> {
        insist(|| self.lane.take_first())
    }

    fn has_jobs(&self) -> bool {
        !self.lane.is_empty()
    }

    fn len(&self) -> usize {
        self.lane.len()
    }
}
