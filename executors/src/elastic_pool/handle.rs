//! The crew behind an elastic pool, and what stands before it when all are busy.

use super::{
    CHARTER, Refusal, Saturation,
    semaphore::{Semaphore, Slot},
};
use crate::{
    backing::{Backing, impl_backing_by_crew},
    crew::{self, Setup, Terms},
    futures_executor::JoinHandle,
    job::Closure,
    options::Options,
    parker::{self, DynamicThreadData, StaticParker},
    source::{
        Source,
        shared::{SharedSource, Worth},
    },
};
use std::{future::Future, sync::Arc, time::Duration};

pub(super) type CrewHandle = crew::Handle<SharedSource, StaticParker<DynamicThreadData>>;

/// How long a submitter that finds neither room nor a job to discard sleeps, before it looks for one again. Picked
/// to cost next to no CPU time; whoever gives room back ends the sleep.
const A_MOMENT: Duration = Duration::from_millis(1);

#[derive(Clone, Debug)]
pub(super) struct Handle {
    crew: CrewHandle,
    /// `None` if every job is admitted.
    semaphore: Option<Arc<Semaphore>>,
    saturation: Saturation,
}

impl Handle {
    /// A new crew, in which at most `terms.max` jobs run; and those that submitters run while no thread can be started.
    pub(super) fn new(terms: Terms, saturation: Saturation, options: Options) -> Self {
        let semaphore = saturation.queue().map(|queue| Semaphore::new(terms.max.saturating_add(queue)));
        let source = match saturation {
            Saturation::DiscardOldest { .. } => SharedSource::with_expendable(),
            _ => SharedSource::new(),
        };
        let crew = CrewHandle::found(Setup {
            terms,
            cold: 0..0,
            source,
            parker: parker::last_first(),
            charter: CHARTER,
            options,
        });
        Handle { crew, semaphore, saturation }
    }

    pub(super) fn crew(&self) -> &CrewHandle {
        &self.crew
    }

    pub(super) fn spawn<R: Send + 'static>(&self, future: impl Future<Output = R> + Send + 'static) -> JoinHandle<R> {
        self.crew.spawn(future)
    }

    #[inline]
    pub(super) fn offer<F: FnOnce() + Send + 'static>(&self, closure: F) -> Result<(), Refusal<F>> {
        match &self.semaphore {
            None => self.crew.admit(closure).map_err(Refusal::Closed),
            Some(semaphore) => self.offer_at(semaphore, closure),
        }
    }

    fn offer_at<F: FnOnce() + Send + 'static>(&self, semaphore: &Arc<Semaphore>, closure: F) -> Result<(), Refusal<F>> {
        loop {
            if let Some(slot) = semaphore.take() {
                return self.admit_with(slot, closure);
            }
            if self.crew.is_closed_to_caller() {
                return Err(Refusal::Closed(closure));
            }
            match self.saturation {
                Saturation::Queue | Saturation::Refuse { .. } => return Err(Refusal::Full(closure)),
                Saturation::RunOnCaller { .. } => return self.crew.run_here(closure).map_err(Refusal::Closed),
                Saturation::Block { timeout, .. } => {
                    return match semaphore.take_within(timeout, || self.crew.is_closed_to_caller()) {
                        Some(slot) => self.admit_with(slot, closure),
                        None if self.crew.is_closed_to_caller() => Err(Refusal::Closed(closure)),
                        None => Err(Refusal::Full(closure)),
                    };
                }
                Saturation::DiscardOldest { .. } => {
                    if self.crew.discard_one(SharedSource::take_oldest) {
                        continue;
                    }
                    // None waits: some other submitter has a slot and has not put its job in yet, which rings no bell;
                    // or those who run jobs in place of threads that were refused have slots, too, perhaps for long.
                    // Each of these does here what it does where there is room, as others may wait for what it has.
                    if self.crew.caller_stands_in() {
                        return self.crew.run_here(closure).map_err(Refusal::Closed);
                    }
                    if let Some(slot) = semaphore.take_within(Some(A_MOMENT), || self.crew.is_closed_to_caller()) {
                        return self.admit_with(slot, closure);
                    }
                }
            }
        }
    }

    fn admit_with<F: FnOnce() + Send + 'static>(&self, slot: Slot, closure: F) -> Result<(), Refusal<F>> {
        if self.crew.is_closed_to_caller() {
            return Err(Refusal::Closed(closure));
        }
        let job = move || {
            let _slot = slot;
            closure();
        };
        let to = Worth::Expendable;
        self.crew.put_by(to, |source| source.inject(to, Closure(job)));
        Ok(())
    }
}

impl Backing for Handle {
    impl_backing_by_crew!();

    #[inline]
    fn admit<F: FnOnce() + Send + 'static>(&self, closure: F) -> Result<(), F> {
        self.offer(closure).map_err(Refusal::into_job)
    }

    fn refusal_while_open(&self) -> Option<&'static str> {
        (!self.crew.is_closed_to_caller()).then_some("is full")
    }

    fn execute_batch<I>(&self, closures: I) -> usize
    where
        I: IntoIterator,
        I::Item: FnOnce() + Send + 'static,
    {
        match self.semaphore {
            None => self.crew.execute_batch(closures),
            Some(_) => self.admit_each(closures),
        }
    }

    fn close(&self) -> bool {
        let closed = self.crew.close();
        self.semaphore.iter().for_each(|semaphore| semaphore.ring());
        closed
    }

    fn discard(&self) {
        self.crew.discard();
        self.semaphore.iter().for_each(|semaphore| semaphore.ring());
    }
}
