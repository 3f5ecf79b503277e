//! The crew behind a burst pool, and the admission of jobs when all workers are busy.

use super::{BurstError, WhenBusy};
use crate::{
    crew::{self, Front},
    error::Rejected,
    job::{Closure, Job},
    mailbox::{Claim, Mailboxes},
    parker::{DynamicThreadData, StaticParker},
    source::mail::MailSource,
};
use std::fmt;

pub(super) type CrewHandle<const GROWS: bool> = crew::Handle<MailSource<GROWS>, StaticParker<DynamicThreadData>>;

#[derive(Clone)]
pub(super) struct Handle<const GROWS: bool> {
    pub(super) crew: CrewHandle<GROWS>,
    when_busy: WhenBusy,
}

impl<const GROWS: bool> Handle<GROWS> {
    pub(super) fn new(crew: CrewHandle<GROWS>, when_busy: WhenBusy) -> Self {
        Handle { crew, when_busy }
    }

    pub(super) fn boxes(&self) -> &Mailboxes<Job> {
        self.crew.source().boxes()
    }

    /// Deals `value` to a worker, in the form that `wrap` gives it.
    #[inline]
    pub(super) fn offer<V, W>(&self, value: V, wrap: impl FnOnce(V) -> W) -> Result<(), BurstError<V>>
    where
        W: FnOnce() + Send + 'static,
    {
        if self.crew.is_closed_to_caller() {
            return Err(BurstError::Closed(value));
        }
        match self.claim() {
            Some(claim) => {
                self.deal(claim, wrap(value));
                Ok(())
            }
            None if self.crew.is_closed_to_caller() => Err(BurstError::Closed(value)),
            None if self.boxes().workers() == 0 => Err(BurstError::NoWorkers(value)),
            None => Err(BurstError::Busy(value)),
        }
    }

    #[inline]
    pub(super) fn deal(&self, claim: Claim, job: impl FnOnce() + Send + 'static) {
        self.crew.put_by((), |source| source.put(claim, Closure(job)));
    }

    #[inline]
    fn claim(&self) -> Option<Claim> {
        match self.when_busy {
            WhenBusy::Queue => self.boxes().claim_any(),
            WhenBusy::Refuse => self.boxes().claim_idle(),
            WhenBusy::Block { timeout } => {
                // No worker can be hired while a thread waits: `BurstPool::spawn` borrows the pool uniquely.
                let in_vain = || self.boxes().workers() == 0 || self.crew.is_closed_to_caller();
                self.boxes().claim_idle().or_else(|| self.boxes().claim_within(timeout, in_vain))
            }
        }
    }
}

impl<const GROWS: bool> Front for Handle<GROWS> {
    type Source = MailSource<GROWS>;
    type Parker = StaticParker<DynamicThreadData>;

    const WHEN_FULL: &str = "has no idle worker";

    fn crew(&self) -> &CrewHandle<GROWS> {
        &self.crew
    }

    fn is_bounded(&self) -> bool {
        self.when_busy != WhenBusy::Queue
    }

    #[inline]
    fn let_in<F: FnOnce() + Send + 'static>(&self, closure: F) -> Result<(), Rejected<F>> {
        self.offer(closure, |closure| closure).map_err(|error| match error {
            BurstError::Closed(closure) => Rejected::Closed(closure),
            BurstError::Busy(closure) | BurstError::NoWorkers(closure) => Rejected::Full(closure),
        })
    }

    fn ring(&self) {
        self.boxes().ring();
    }
}

impl<const GROWS: bool> fmt::Debug for Handle<GROWS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("crew", &self.crew)
            .field("when_busy", &self.when_busy)
            .field("boxes", self.boxes())
            .finish()
    }
}
