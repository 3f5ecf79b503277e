//! The crew behind an elastic pool, and the admission of jobs when all workers are busy.

#[cfg(all(test, executors_loom))]
mod model;

use super::{
    CHARTER, Saturation,
    semaphore::{Semaphore, Slot},
};
use crate::{
    backing::{Backing, HUGE, impl_backing_by_crew},
    crew::{self, Setup, Terms},
    error::Rejected,
    futures_executor::JoinHandle,
    job::Closure,
    options::Options,
    parker::{self, DynamicThreadData, StaticParker},
    source::{
        Source, Whom,
        shared::{SharedSource, Worth},
    },
};
use std::{future::Future, sync::Arc, time::Duration};

pub(super) type CrewHandle = crew::Handle<SharedSource, StaticParker<DynamicThreadData>>;

/// How long a submitter that finds neither room nor a job to discard sleeps before it looks again. Chosen to cost next
/// to no CPU time; a slot that is given back ends the sleep.
const NEXT_LOOK: Duration = Duration::from_millis(1);

#[derive(Clone, Debug)]
pub(super) struct Handle {
    crew: CrewHandle,
    /// `None` if every job is admitted. Behind a pointer, because jobs own handles, and only small ones need no
    /// allocation.
    bound: Option<Arc<Bound>>,
}

/// How many jobs are admitted, and what happens to further ones.
#[derive(Debug)]
struct Bound {
    semaphore: Arc<Semaphore>,
    saturation: Saturation,
}

impl Handle {
    /// A new crew, in which at most `terms.max` jobs run, besides those that submitters run themselves (with
    /// `RunOnCaller`, or while no thread can be started).
    pub(super) fn new(terms: Terms, saturation: Saturation, options: Options) -> Self {
        let bound = saturation.queue().map(|queue| {
            let semaphore = Semaphore::new(terms.max.saturating_add(queue));
            Arc::new(Bound { semaphore, saturation })
        });
        let source = match saturation {
            Saturation::DiscardOldest { .. } => SharedSource::with_expendable(),
            _ => SharedSource::new(),
        };
        let crew = CrewHandle::without_workers(Setup {
            terms,
            cold: 0..0,
            source,
            parker: parker::last_first(),
            charter: CHARTER,
            options,
        });
        Handle { crew, bound }
    }

    pub(super) fn crew(&self) -> &CrewHandle {
        &self.crew
    }

    pub(super) fn spawn<R: Send + 'static>(&self, future: impl Future<Output = R> + Send + 'static) -> JoinHandle<R> {
        self.crew.spawn(future)
    }

    pub(super) fn spawn_detached(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.crew.spawn_detached(future);
    }

    fn ring(&self) {
        if let Some(bound) = &self.bound {
            bound.semaphore.ring();
        }
    }

    fn admit_at<F>(&self, Bound { semaphore, saturation }: &Bound, mut closure: F) -> Result<(), Rejected<F>>
    where
        F: FnOnce() + Send + 'static,
    {
        let slot = loop {
            // First, because a slot that is taken is for a job that is admitted.
            if self.crew.is_closed_to_caller() {
                return Err(Rejected::Closed(closure));
            }
            if let Some(slot) = semaphore.take() {
                break slot;
            }
            match *saturation {
                Saturation::Queue | Saturation::Refuse { .. } => return Err(Rejected::Full(closure)),
                Saturation::RunOnCaller { .. } => return self.crew.run_here(closure).map_err(Rejected::Closed),
                // The room that others may wait for is made on this thread, after the job that it runs now.
                Saturation::Block { .. } if self.crew.caller_stands_in() => {
                    return self.crew.run_here(closure).map_err(Rejected::Closed);
                }
                Saturation::Block { timeout, .. } => {
                    match semaphore.take_within(timeout, || self.crew.is_closed_to_caller()) {
                        Some(slot) => break slot,
                        None if self.crew.is_closed_to_caller() => return Err(Rejected::Closed(closure)),
                        None => return Err(Rejected::Full(closure)),
                    }
                }
                Saturation::DiscardOldest { .. } => {
                    match self.replace_oldest(semaphore, closure) {
                        Ok(()) => return Ok(()),
                        Err(same) => closure = same,
                    }
                    // No job waits. Either another submitter has a slot and has not put its job in yet, which rings no
                    // bell; or threads that run jobs in place of refused threads have slots, too, perhaps for long.
                    // Such a thread runs the new job itself here, as it does where there is room, because others may
                    // wait for the slot that it has.
                    if self.crew.caller_stands_in() {
                        return self.crew.run_here(closure).map_err(Rejected::Closed);
                    }
                    if let Some(slot) = semaphore.take_within(Some(NEXT_LOOK), || self.crew.is_closed_to_caller()) {
                        break slot;
                    }
                }
            }
        };
        self.crew.put_by(Worth::Expendable, |source| inject(source, slot, closure));
        Ok(())
    }

    /// Admits `closure` in place of the job that has waited longest, which is dropped. Gives it back if none waits, or
    /// the pool is closed.
    fn replace_oldest<F: FnOnce() + Send + 'static>(&self, semaphore: &Arc<Semaphore>, closure: F) -> Result<(), F> {
        let (mut closure, mut whom) = (Some(closure), None);
        self.crew.discard_one(|source| {
            let oldest = if self.crew.is_closed_to_caller() { None } else { source.take_oldest() }?;
            // Before the oldest is dropped: its destructor may submit jobs, too, and they would take its place first.
            // This thread is active meanwhile, so the crew is not over before the new job is in.
            whom = closure.take().map(|closure| inject(source, semaphore.take_over(), closure));
            Some(oldest)
        });
        match (closure, whom) {
            (None, Some(whom)) => {
                // Afterwards, because this may run jobs in place of threads that the system refuses; and those may wait
                // for what the oldest owned.
                self.crew.announce(Worth::Expendable, whom);
                Ok(())
            }
            (closure, _) => Err(closure.expect("it was not taken")),
        }
    }
}

/// Puts a job in that has a slot until it has ended.
fn inject<F: FnOnce() + Send + 'static>(source: &SharedSource, slot: Slot, closure: F) -> Whom {
    if size_of::<F>() > HUGE {
        let boxed: Box<dyn FnOnce() + Send> = Box::new(closure);
        return inject(source, slot, boxed);
    }
    let job = move || {
        let _slot = slot.occupy();
        closure();
    };
    source.inject(Worth::Expendable, Closure(job))
}

impl Backing for Handle {
    impl_backing_by_crew!();

    #[inline]
    fn admit<F: FnOnce() + Send + 'static>(&self, closure: F) -> Result<(), Rejected<F>> {
        match &self.bound {
            None => self.crew.admit(closure),
            Some(bound) => self.admit_at(bound, closure),
        }
    }

    fn may_be_full(&self) -> bool {
        self.bound.is_some() && self.crew.is_open()
    }

    fn execute_batch<I>(&self, closures: I) -> usize
    where
        I: IntoIterator,
        I::Item: FnOnce() + Send + 'static,
    {
        match self.bound {
            None => self.crew.execute_batch(closures),
            Some(_) => self.admit_each(closures),
        }
    }
}
