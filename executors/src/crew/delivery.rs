//! Delivery: whether a job is admitted, and whether it belongs to the worker that submits it or to the jobs from
//! outside.
//!
//! Many jobs at once are a batch (`batch.rs`). `calls.rs` tells workers of jobs.

use super::{Crew, worker::Worker};
use crate::{
    job::{Closure, IntoJob, Job},
    local::{self, Post},
    parker::Parker,
    source::Source,
};

/// What kind of job it is: until when it is admitted, and whether other workers must be told of it.
#[derive(Clone, Copy)]
pub(super) enum Admission {
    /// The user's: until the pool is closed.
    New,
    /// The next step of a future that the pool has accepted: until the pool is over.
    Woken,
    /// The same of a future that woke itself during its last step, from the worker that has just run that step and does
    /// nothing more: see [`put_at_end_of_job`](Crew::put_at_end_of_job).
    SelfWoken,
}

/// A wrapper by which a closure is copied only when it is passed on: without it, that copy would have to be made before
/// it is known whether it is needed.
struct Parcel<F, A> {
    closure: F,
    to: A,
}

impl<S, P> Crew<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// Puts `closure` where it belongs: to the worker that calls this, or to the jobs from outside. Returns it if it is
    /// not admitted.
    #[inline(always)]
    pub(super) fn deliver<F>(&self, to: S::Address, admission: Admission, closure: F) -> Result<(), F>
    where
        F: FnOnce() + Send + 'static,
    {
        // SAFETY: the reference is used here only.
        match unsafe { self.this_worker() } {
            Some(_) if self.refuses_from_inside() => Err(closure),
            Some(worker) => {
                match admission {
                    Admission::New | Admission::Woken => self.put_from_inside(worker, to, Closure(closure)),
                    Admission::SelfWoken => self.put_at_end_of_job(worker, to, Closure(closure)),
                }
                Ok(())
            }
            None if self.refuses(admission) => Err(closure),
            None => {
                self.deliver_from_outside(Parcel { closure, to });
                Ok(())
            }
        }
    }

    #[inline(never)]
    fn deliver_from_outside<F>(&self, parcel: Parcel<F, S::Address>)
    where
        F: FnOnce() + Send + 'static,
    {
        let Parcel { closure, to } = parcel;
        self.put_from_outside(to, Closure(closure));
    }

    #[inline(always)]
    pub(super) fn put_from_outside(&self, to: S::Address, job: impl IntoJob) {
        match self.source.inject_fenced(to, job) {
            Ok(whom) => self.announce_fenced(to, whom),
            Err(job) => self.inject_slowly(to, job),
        }
    }

    /// In a function of its own, as [`push_slowly`](Self::push_slowly).
    #[cold]
    #[inline(never)]
    fn inject_slowly(&self, to: S::Address, job: Job) {
        let whom = self.source.inject_slowly(to, job);
        self.announce_fenced(to, whom);
    }

    /// From a job that runs on `worker`.
    #[inline(always)]
    pub(super) fn put_from_inside(&self, worker: &Worker<'_, S, P>, to: S::Address, job: impl IntoJob) {
        match self.source.push(worker.local(), to, job) {
            Ok(whom) => self.announce(to, whom, 1, Some(worker)),
            Err(job) => self.push_slowly(worker, to, job),
        }
    }

    /// In a function of its own with all that follows: a call that returns to the hot path would make that save
    /// registers.
    #[cold]
    #[inline(never)]
    fn push_slowly(&self, worker: &Worker<'_, S, P>, to: S::Address, job: Job) {
        let whom = self.source.push_slowly(worker.local(), to, job);
        self.announce(to, whom, 1, Some(worker));
    }

    /// From a job that runs on `worker` and does nothing more after this call.
    ///
    /// No other worker need be told if the worker's next job is either this one, or one that shows this one to all when
    /// it is taken; the parker's README says why ("Jobs that are not announced").
    #[inline(always)]
    fn put_at_end_of_job(&self, worker: &Worker<'_, S, P>, to: S::Address, job: impl IntoJob) {
        match self.source.push(worker.local(), to, job) {
            Ok(_) if self.source.shows_by_taking(worker.local()) => {}
            Ok(whom) => self.announce(to, whom, 1, Some(worker)),
            Err(job) => self.push_slowly(worker, to, job),
        }
    }

    /// Whether jobs are refused that the crew's own jobs submit.
    #[inline(always)]
    pub(super) fn refuses_from_inside(&self) -> bool {
        self.life.is_discarding()
    }

    /// Whether jobs are refused that a thread submits which is no worker of the crew.
    #[inline(always)]
    pub(super) fn refuses(&self, admission: Admission) -> bool {
        match admission {
            Admission::New => self.life.is_closed_or_discarding() && self.refuses_this_thread(),
            Admission::Woken | Admission::SelfWoken => self.life.is_discarding_or_over(),
        }
    }

    /// The same for new jobs if the crew is closed, or discards. A thread that drops a job in favour of another is
    /// active meanwhile: so the end has not come yet.
    #[inline(always)]
    fn refuses_this_thread(&self) -> bool {
        self.refuses_from_inside() || !local::drops_jobs(self.id())
    }

    /// Calls `then` with the worker of this crew that the current thread is, if it is one. A worker that has left does
    /// not count: what its stop hook submits is for the others.
    #[inline(always)]
    pub(super) fn with_this_worker<R>(&self, then: impl FnOnce(Option<&Worker<'_, S, P>>) -> R) -> R {
        // SAFETY: `then` cannot keep the reference.
        then(unsafe { self.this_worker() })
    }

    /// The same without a closure, for callers to which that costs something: see [`local::worker_of`].
    ///
    /// # Safety
    ///
    /// The reference must not be kept when the caller returns.
    #[inline(always)]
    pub(super) unsafe fn this_worker(&self) -> Option<&Worker<'_, S, P>> {
        // SAFETY: posts that have a worker are made in `post_of` only, which borrows the crew at that address for as
        // long as there is the post: that crew is this one, and so the type is the same. The caller does not keep the
        // reference.
        unsafe { local::worker_of(self.id()) }
    }

    /// The post at which a thread stands while it is that worker.
    pub(super) fn post_of<'a>(&'a self, worker: &'a Worker<'_, S, P>) -> Post<'a> {
        // SAFETY: the id is the address of this crew, which is borrowed for as long as there is the post. The post is
        // asked for a worker in `this_worker` only, by the crew at that address: this one, and so for this type.
        unsafe { Post::with_worker(self.id(), worker) }
    }
}
