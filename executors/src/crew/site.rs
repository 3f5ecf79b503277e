//! Where a crew's futures go on when they are woken.

use super::{Crew, delivery::Admission, holds::Hold};
use crate::{
    errand::{By, Site},
    parker::Parker,
    source::Source,
};
use std::sync::Arc;

/// An address of a crew, for a future that is not to keep the crew open.
pub(super) struct CrewSite<S: Source, P: Parker + 'static> {
    pub(super) crew: Hold<S, P>,
    pub(super) to: S::Address,
}

// SAFETY: `put` uses the site before the step is put only; after that, the crew, for which a thread that is here has a
// borrow of its own.
unsafe impl<S, P> Site for CrewSite<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// Whether the calling thread is a worker of the crew.
    #[inline(always)]
    fn is_here(&self) -> bool {
        self.crew.with_this_worker(|worker| worker.is_some())
    }

    #[inline(always)]
    unsafe fn put(site: *const Self, step: impl FnOnce() + Send + 'static, by: By) {
        // SAFETY: the caller vouches for the site.
        let (crew, to) = unsafe { (Arc::as_ptr(&(*site).crew), (*site).to) };
        // SAFETY: the site has a hold of the crew. Once the step is put, the site may be gone; but then this thread is
        // a worker of the crew, and so within a call that has borrowed the crew.
        let crew: &Crew<S, P> = unsafe { &*crew };
        crew.deliver_step(to, step, by);
    }
}

impl<S, P> Crew<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// Puts a further step of a future that the crew has accepted, or drops it if the crew is over, or discards.
    #[inline(always)]
    pub(super) fn deliver_step(&self, to: S::Address, step: impl FnOnce() + Send + 'static, by: By) {
        let admission = match by {
            By::Step => Admission::SelfWoken,
            By::Waker => Admission::Woken,
        };
        if let Err(refused) = self.deliver(to, admission, step) {
            by.let_go(refused);
        }
    }
}
