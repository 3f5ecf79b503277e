//! Dropping jobs that will not run.

use super::Crew;
use crate::{
    containment,
    job::Job,
    local::{Attendant, Help, PoolId, Post},
    parker::Parker,
    source::Source,
    sync::{
        atomic::{
            Ordering::{Relaxed, SeqCst},
            fence,
        },
        thread_local,
    },
    trampoline::{self, Trampoline},
};
use std::{
    any::Any,
    cell::{Cell, RefCell},
    mem::{self, ManuallyDrop},
};

impl<S, P> Crew<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// Drops the waiting jobs. Returns whether it has: not if this thread does so already, further out on its stack,
    /// and drops the rest there. (The destructor of a job may call this. Nested calls would need room on the stack for
    /// as many as there are jobs.)
    pub(super) fn discard_backlog(&self) -> bool {
        let guard = SweepGuard::begin(self.id());
        if guard.is_some() {
            // Pairs with S2 of a submitter, or the recall does: either its job is seen here, or it sees afterwards that
            // jobs are to be dropped.
            fence(SeqCst);
            self.source.recall(None);
            self.as_dropper(|dropper| {
                while let Some(job) = self.source.take() {
                    dropper.begin();
                    containment::discard(job);
                }
            });
        }
        guard.is_some()
    }

    /// Drops the job that `take` takes out of the source, whose destructor may call this, too. Returns what else `take`
    /// returns, or its error if it takes none.
    pub(super) fn discard_one<R, E>(&self, take: impl FnOnce(&S) -> Result<(Job, R), E>) -> Result<R, E> {
        self.as_dropper(|dropper| {
            let (job, rest) = take(&self.source)?;
            dropper.begin();
            trampoline::run(&DROPPED, job, containment::discard);
            Ok(rest)
        })
    }

    /// Does `work`, which takes jobs out of the source and drops them.
    ///
    /// The calling thread is active meanwhile: a job that is being dropped has not ended, and a thread that waits for
    /// the crew waits for that, too.
    fn as_dropper<R>(&self, work: impl FnOnce(&Dropper<'_, S, P>) -> R) -> R {
        let dropper = Dropper { crew: self, is_dropping: Cell::new(false) };
        let sweep = || {
            self.life.roll.become_active();
            let result = work(&dropper);
            self.become_idle_blindly(false);
            result
        };
        // A destructor must not wait for its own end: it is told that it is part of a job, as on a worker.
        let result = Post::of_dropper(self.id(), &dropper, &dropper.is_dropping).stand_once_more(sweep);
        // Workers may have looked before, and be asleep.
        self.end_if_due();
        result
    }
}

thread_local! {
    /// The crews whose backlogs this thread is dropping. Without memory while there are none: so it needs no
    /// destructor, and is there as long as its thread, whose last destructors may drop a backlog, too.
    static SWEPT: RefCell<ManuallyDrop<Vec<PoolId>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
    /// See [`Crew::discard_one`].
    static DROPPED: Trampoline<Job> = const { Trampoline::new() };
}

/// While this thread drops the backlog of a crew.
struct SweepGuard(PoolId);

impl SweepGuard {
    /// `None` if it does already.
    fn begin(crew: PoolId) -> Option<Self> {
        SWEPT.with(|swept| {
            if swept.borrow().contains(&crew) {
                return None;
            }
            // It grows while it is not borrowed: the allocator may submit a job that has to be dropped here.
            let mut grown = mem::take(&mut **swept.borrow_mut());
            grown.push(crew);
            **swept.borrow_mut() = grown;
            Some(SweepGuard(crew))
        })
    }
}

impl Drop for SweepGuard {
    fn drop(&mut self) {
        // Given back while it is not borrowed, as in `begin`.
        let emptied = SWEPT.with(|swept| {
            let mut swept = swept.borrow_mut();
            swept.retain(|crew| *crew != self.0);
            if swept.is_empty() { mem::take(&mut **swept) } else { Vec::new() }
        });
        drop(emptied);
    }
}

/// A thread that drops jobs, and is no worker of the crew.
struct Dropper<'a, S: Source, P> {
    crew: &'a Crew<S, P>,
    /// Whether it has begun to: before that it takes the first one.
    is_dropping: Cell<bool>,
}

impl<S: Source, P> Dropper<'_, S, P> {
    /// To be called before each job is dropped.
    fn begin(&self) {
        self.is_dropping.set(true);
        self.crew.discarded.fetch_add(1, Relaxed);
    }
}

impl<S, P> Attendant for Dropper<'_, S, P>
where
    S: Source,
    P: Parker + 'static,
{
    fn accept(&self, job: Job) -> bool {
        let accepted = !self.crew.refuses_from_inside();
        if accepted {
            self.crew.put_from_outside(self.crew.source.anywhere(), job);
        } else {
            containment::discard(job);
        }
        accepted
    }

    fn report(&self, payload: &(dyn Any + Send)) {
        let Crew { options, panicked_in_sweeps, .. } = self.crew;
        panicked_in_sweeps.fetch_add(1, Relaxed);
        containment::report(payload, format_args!("A job of {}", self.crew.name()), options.panic_handler.as_ref());
    }

    /// A destructor may wait for a job that is to be dropped after it. Running that job would violate `shutdown_now`,
    /// and possibly the limit of its division; blocking would be a wait of the thread for itself. So it is dropped now.
    fn help(&self, _division: usize) -> Help {
        let life = &self.crew.life;
        // Otherwise a job is dropped to make room for another, in a pool without divisions.
        if life.is_discarding() || life.is_over() { Help::Drop } else { Help::Run }
    }
}
