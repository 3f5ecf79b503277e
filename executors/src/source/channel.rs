//! One queue for all: an unbounded crossbeam channel.
//!
//! Workers never block in the channel, they sleep on the crew's parker. So a sender finds no registered receiver, and
//! its wake path in the channel is a single load.

use super::{Source, Whom};
use crate::{
    job::{IntoJob, Job},
    meter::Meter,
};
use crossbeam_channel::{Receiver, Sender, unbounded};

#[derive(Debug)]
pub(crate) struct ChannelSource {
    sender: Sender<Job>,
    receiver: Receiver<Job>,
}

impl ChannelSource {
    pub(crate) fn new() -> Self {
        let (sender, receiver) = unbounded();
        ChannelSource { sender, receiver }
    }
}

impl Source for ChannelSource {
    type Address = ();
    type Local = ();
    type Own<'a> = Job;

    fn attach(&self, _seat: Option<usize>) {}

    #[inline]
    fn inject(&self, (): (), job: impl IntoJob) -> Whom {
        if self.sender.send(job.into_job()).is_err() {
            unreachable!("the source holds a receiver itself");
        }
        Whom::Anyone
    }

    #[inline]
    fn push(&self, (): &(), (): (), job: impl IntoJob) -> Whom {
        self.inject((), job)
    }

    #[inline]
    fn pop(&self, (): &()) -> Option<Job> {
        self.receiver.try_recv().ok()
    }

    fn search(&self, (): &(), _meter: &Meter) -> Option<Job> {
        self.take()
    }

    fn take(&self) -> Option<Job> {
        self.receiver.try_recv().ok()
    }

    fn has_jobs(&self) -> bool {
        !self.receiver.is_empty()
    }

    fn len(&self) -> usize {
        self.receiver.len()
    }
}
