//! The crew behind an elastic pool, and the admission of jobs when all workers are busy.

#[cfg(all(test, executors_loom))]
mod model;

use super::{
    CHARTER, Saturation,
    semaphore::{Semaphore, Slot},
};
use crate::{
    backing::{Backing, HUGE},
    crew::{self, Front, Setup, Terms},
    error::Rejected,
    job::Closure,
    options::Options,
    parker::{self, DynamicThreadData, StaticParker},
    source::{
        Source, Whom,
        shared::{SharedSource, Worth},
    },
};
use std::{sync::Arc, time::Duration};

pub(super) type CrewHandle = crew::Handle<SharedSource, StaticParker<DynamicThreadData>>;

/// How long a submitter that finds neither room nor a job to discard sleeps before it looks again. Chosen to cost next
/// to no CPU time; a slot that is given back ends the sleep.
const NEXT_LOOK: Duration = Duration::from_millis(1);

#[derive(Clone, Debug)]
pub(super) struct Handle {
    pub(super) crew: CrewHandle,
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

    fn admit_at<F>(&self, bound: &Bound, closure: F) -> Result<(), Rejected<F>>
    where
        F: FnOnce() + Send + 'static,
    {
        // First, because a slot that is taken is for a job that is admitted.
        if self.crew.is_closed_to_caller() {
            return Err(Rejected::Closed(closure));
        }
        match bound.semaphore.take() {
            Some(slot) => self.put(slot, closure),
            None => self.admit_when_full(bound, closure),
        }
    }

    fn put<F: FnOnce() + Send + 'static>(&self, slot: Slot, closure: F) -> Result<(), Rejected<F>> {
        self.crew.put_by(Worth::Expendable, |source| inject(source, slot, closure));
        Ok(())
    }

    fn admit_when_full<F>(&self, Bound { semaphore, saturation }: &Bound, closure: F) -> Result<(), Rejected<F>>
    where
        F: FnOnce() + Send + 'static,
    {
        match *saturation {
            Saturation::Queue | Saturation::Refuse { .. } => Err(Rejected::Full(closure)),
            Saturation::RunOnCaller { .. } => self.crew.run_here(closure).map_err(Rejected::Closed),
            Saturation::Block { timeout, .. } => self.wait_for_room(semaphore, timeout, closure),
            Saturation::DiscardOldest { .. } => self.replace_oldest_or_wait(semaphore, closure),
        }
    }

    /// Admits `closure` as soon as there is room; but a thread that runs jobs in place of refused threads runs it at
    /// once: the room that others may wait for is made there, after the job that it runs now.
    fn wait_for_room<F>(
        &self,
        semaphore: &Arc<Semaphore>,
        timeout: Option<Duration>,
        closure: F,
    ) -> Result<(), Rejected<F>>
    where
        F: FnOnce() + Send + 'static,
    {
        if self.crew.caller_stands_in() {
            return self.crew.run_here(closure).map_err(Rejected::Closed);
        }
        match semaphore.take_within(timeout, || self.crew.is_closed_to_caller()) {
            Some(slot) => self.put(slot, closure),
            None if self.crew.is_closed_to_caller() => Err(Rejected::Closed(closure)),
            None => Err(Rejected::Full(closure)),
        }
    }

    /// If no job waits, either another submitter has a slot and has not put its job in yet, which rings no bell; or
    /// threads that run jobs in place of refused threads have slots, too, perhaps for long.
    fn replace_oldest_or_wait<F>(&self, semaphore: &Arc<Semaphore>, mut closure: F) -> Result<(), Rejected<F>>
    where
        F: FnOnce() + Send + 'static,
    {
        loop {
            match self.replace_oldest(semaphore, closure) {
                Ok(()) => return Ok(()),
                Err(same) => closure = same,
            }
            match self.wait_for_room(semaphore, Some(NEXT_LOOK), closure) {
                Err(Rejected::Full(same)) => closure = same,
                outcome => return outcome,
            }
        }
    }

    /// Admits `closure` in place of the job that has waited longest, which is dropped. Gives it back if none waits, or
    /// the pool is closed.
    fn replace_oldest<F: FnOnce() + Send + 'static>(&self, semaphore: &Arc<Semaphore>, closure: F) -> Result<(), F> {
        let replace = |source: &SharedSource| {
            let oldest = if self.crew.is_closed_to_caller() { None } else { source.take_oldest() };
            let Some(oldest) = oldest else { return Err(closure) };
            // Before the oldest is dropped: its destructor may submit jobs, too, and they would take its place first.
            // This thread is active meanwhile, so the crew is not over before the new job is in.
            Ok((oldest, inject(source, semaphore.take_over(), closure)))
        };
        let whom = self.crew.discard_one(replace)?;
        // Afterwards, because this may run jobs in place of threads that the system refuses; and those may wait for
        // what the oldest owned.
        self.crew.announce(Worth::Expendable, whom);
        Ok(())
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

impl Front for Handle {
    type Source = SharedSource;
    type Parker = StaticParker<DynamicThreadData>;

    const WHEN_FULL: &str = "is full";

    fn crew(&self) -> &CrewHandle {
        &self.crew
    }

    fn is_bounded(&self) -> bool {
        self.bound.is_some()
    }

    #[inline]
    fn let_in<F: FnOnce() + Send + 'static>(&self, closure: F) -> Result<(), Rejected<F>> {
        match &self.bound {
            None => self.crew.admit(closure),
            Some(bound) => self.admit_at(bound, closure),
        }
    }

    fn ring(&self) {
        if let Some(bound) = &self.bound {
            bound.semaphore.ring();
        }
    }
}
