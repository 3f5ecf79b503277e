//! One queue for all workers, first in, first out: a single lane, which they use in turns.

use super::{
    Source, Whom,
    queue::{
        single::SingleLane,
        tenure::{Tenant, Tenure},
    },
};
use crate::{
    job::{IntoJob, Job, hand::Hand},
    meter::Meter,
};

pub(crate) struct FifoSource {
    queue: SingleLane,
    tenure: Tenure,
}

impl FifoSource {
    pub(crate) fn new() -> Self {
        FifoSource { queue: SingleLane::new(), tenure: Tenure::new() }
    }
}

impl Source for FifoSource {
    type Address = ();
    type Local = Tenant;

    fn attach(&self, seat: Option<usize>) -> Tenant {
        Tenant::new(seat)
    }

    #[inline(always)]
    fn inject(&self, (): (), job: impl IntoJob) -> Whom {
        self.queue.push(job);
        Whom::Anyone
    }

    #[inline]
    fn run_next(&self, tenant: &Tenant) -> bool {
        let mut hand = Hand::empty();
        if self.tenure.admits(tenant, || self.queue.is_empty(), || self.queue.taken()) {
            self.queue.take_first(&mut hand);
        }
        hand.run()
    }

    fn search(&self, _tenant: &Tenant, _meter: &Meter) -> Option<Job> {
        self.take()
    }

    fn gathers(&self, _tenant: &Tenant) -> bool {
        true
    }

    #[inline]
    fn take(&self) -> Option<Job> {
        self.queue.pop()
    }

    fn has_jobs(&self) -> bool {
        !self.queue.is_empty()
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}
