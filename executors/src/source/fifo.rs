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
        if self.tenure.is_due(tenant) {
            if self.lane.is_empty() {
                return None;
            }
            self.tenure.pass_to(tenant, || Mark::now(self.lane.taken()));
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

    #[inline]
    fn shows_by_taking(&self, _tenant: &Tenant) -> bool {
        // Jobs are taken in their order, under one lock. So who sees that one was taken (by the lane's count) sees what
        // its taker, and those of all jobs before it, had put in until then.
        true
    }

    fn has_jobs(&self) -> bool {
        !self.lane.is_empty()
    }

    fn len(&self) -> usize {
        self.lane.len()
    }
}
