//! What a user holds of a crew.

use super::{Crew, Setup, delivery::Admission, holds::Hold, site::CrewSite, stakes::Stake};
use crate::{
    backing::{Backing, Polls},
    errand,
    error::{BuildError, Rejected, ShutdownReport},
    futures_executor::{JoinHandle, spawn_task, step},
    job::Job,
    local::{Home, PoolId},
    parker::Parker,
    pool::Stats,
    source::{Source, Whom},
};
use std::{fmt, future::Future, sync::Arc, time::Duration};

/// What a user has of a crew. When no clone is left the crew closes (`stakes.rs` says when).
///
/// Workers and suspended futures hold the crew itself, and so do not keep it open.
pub(crate) struct Handle<S: Source, P: Parker + 'static> {
    crew: Stake<S, P>,
    /// Where its jobs go.
    to: S::Address,
}

impl<S: Source, P: Parker + 'static> Handle<S, P> {
    /// The same crew, but its jobs go to another address.
    pub(crate) fn with_address(&self, to: S::Address) -> Self {
        Handle { crew: self.crew.clone(), to }
    }

    /// Where its jobs go.
    pub(crate) fn address(&self) -> S::Address {
        self.to
    }
}

impl<S: Source, P: Parker + 'static> Clone for Handle<S, P> {
    fn clone(&self) -> Self {
        self.with_address(self.to)
    }
}

impl<S, P> Handle<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// A crew of a fixed number of workers.
    pub(crate) fn start(setup: Setup<S, P>) -> Result<Self, BuildError> {
        Crew::start(setup).map(Self::first)
    }

    /// A crew whose workers come and go. None is there yet.
    pub(crate) fn without_workers(setup: Setup<S, P>) -> Self {
        debug_assert!(S::ELASTIC);
        Self::first(Crew::new(setup))
    }

    fn first(crew: Arc<Crew<S, P>>) -> Self {
        let to = crew.source.anywhere();
        Handle { crew: Stake::first(crew), to }
    }

    pub(crate) fn source(&self) -> &S {
        &self.crew().source
    }

    /// Hires workers until the core is full; none if the crew is over.
    pub(crate) fn fill_core(&self) {
        let crew = self.crew();
        crew.reset_backoff();
        crew.grow(crew.terms.core);
        // A hire on which a submitter has counted may have come too late. (If others are hired instead, the thread that
        // does so looks after this.)
        if crew.life.roll.read().live() < crew.terms.core && crew.source.len() > 0 {
            crew.check_for_late_jobs();
        }
    }

    /// Calls `put`, which puts a job into the source at `to`, and tells the workers that the job needs.
    #[inline(always)]
    pub(crate) fn put_by(&self, to: S::Address, put: impl FnOnce(&S) -> Whom) {
        self.announce(to, put(&self.crew().source));
    }

    /// Tells the workers that a job needs which has been put into the source at `to`.
    #[inline(always)]
    pub(crate) fn announce(&self, to: S::Address, whom: Whom) {
        let crew = self.crew();
        crew.with_this_worker(|worker| crew.announce(to, whom, 1, worker));
    }

    /// Calls `open`, which lets workers get at jobs that are in the source, and calls as many as it says.
    pub(crate) fn call_by(&self, open: impl FnOnce(&S) -> (Whom, usize)) {
        let crew = self.crew();
        let (whom, jobs) = open(&crew.source);
        crew.call_for_opened(whom, jobs);
    }

    /// Starts one more worker, however many there are, after telling `prepare` its seat. If it does not come, that is
    /// told to `give_up`.
    pub(crate) fn seat_one(&self, prepare: impl FnOnce(usize), give_up: impl FnOnce(usize)) -> Result<(), BuildError> {
        debug_assert!(S::ELASTIC);
        self.crew().seat_one(prepare, give_up).map_err(|error| error.into_build_error(None))
    }

    /// Runs `closure` on this thread, as a job of the crew like any other; or returns it.
    pub(crate) fn run_here<F: FnOnce() + Send + 'static>(&self, closure: F) -> Result<(), F> {
        let crew = self.crew();
        if self.is_closed_to_caller() {
            return Err(closure);
        }
        let job = Job::new(closure);
        crew.with_this_worker(|worker| match worker {
            // Inside the job that submits it, perhaps with a job of another executor in between.
            Some(worker) => crew.post_of(worker).stand(|| worker.run(job)),
            None => crew.stand_in(|worker| worker.run_once(job)),
        });
        Ok(())
    }

    /// Whether the caller is in a job that its thread runs in place of a worker.
    pub(crate) fn caller_stands_in(&self) -> bool {
        self.crew().caller_stands_in()
    }

    /// Whether new jobs are admitted from outside.
    pub(crate) fn is_open(&self) -> bool {
        !self.crew().life.is_closed_or_discarding()
    }

    /// Whether a new job would be refused.
    pub(crate) fn is_closed_to_caller(&self) -> bool {
        let crew = self.crew();
        crew.with_this_worker(|worker| match worker {
            Some(_) => crew.refuses_from_inside(),
            None => crew.refuses(Admission::New),
        })
    }

    /// Drops the job that `take` takes out of the source. Returns what else `take` returns, or its error if it
    /// takes none.
    pub(crate) fn discard_one<R, E>(&self, take: impl FnOnce(&S) -> Result<(Job, R), E>) -> Result<R, E> {
        self.crew().discard_one(take)
    }

    /// How many workers there are, and how many of them have nothing to do.
    pub(crate) fn workers(&self) -> (usize, usize) {
        let life = &self.crew().life;
        // A worker that leaves at the end does not resign: only its thread is counted out.
        let (roll, threads) = (life.roll.read(), life.threads());
        (roll.live().min(threads), roll.idle().min(threads))
    }

    #[inline]
    pub(super) fn crew(&self) -> &Arc<Crew<S, P>> {
        &self.crew
    }

    /// Closes the crew, also to jobs from inside; [`drop_backlog`](Self::drop_backlog) is to follow. Who waits to
    /// submit a job can be told in between: destructors of dropped jobs may wait for that.
    pub(crate) fn close_for_good(&self) {
        let crew = self.crew();
        crew.life.begin_discarding();
        crew.close();
    }

    pub(crate) fn drop_backlog(&self) {
        let crew = self.crew();
        // If this thread is dropping the backlog already, jobs are left that must not be given out.
        if crew.discard_backlog() && S::WITHHOLDS {
            crew.give_out();
            // Since then a late job may have come in whose late shift could not get at it. (The fence in `give_out`
            // pairs with its submitter's.)
            crew.discard_backlog();
        }
    }
}

impl<S, P> Backing for Handle<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    fn name(&self) -> &str {
        self.crew().name()
    }

    fn id(&self) -> PoolId {
        self.crew().id()
    }

    fn home(&self) -> Home {
        Home { pool: self.id(), division: S::division(self.to) }
    }

    #[inline(always)]
    fn admit<F: FnOnce() + Send + 'static>(&self, closure: F) -> Result<(), Rejected<F>> {
        self.crew().deliver(self.to, Admission::New, closure).map_err(Rejected::Closed)
    }

    fn execute_batch<I>(&self, closures: I) -> usize
    where
        I: IntoIterator,
        I::Item: FnOnce() + Send + 'static,
    {
        self.crew().deliver_all(self.to, closures)
    }

    fn close(&self) -> bool {
        self.crew().close()
    }

    fn discard(&self) {
        self.close_for_good();
        self.drop_backlog();
    }

    fn await_idle(&self, timeout: Option<Duration>) -> bool {
        let crew = self.crew();
        crew.life.await_idle(timeout, || crew.is_idle())
    }

    fn await_end(&self, timeout: Duration) -> bool {
        self.crew().await_end(Some(timeout))
    }

    fn workers_left(&self) -> usize {
        self.crew().life.threads()
    }

    fn report(&self) -> ShutdownReport {
        self.crew().report()
    }

    fn stats(&self) -> Stats {
        self.crew().stats()
    }

    fn max_workers(&self) -> usize {
        self.crew().terms.max
    }
}

impl<S, P> Polls for Handle<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    fn spawn<R: Send + 'static>(&self, future: impl Future<Output = R> + Send + 'static) -> JoinHandle<R> {
        let (crew, to) = (Hold::clone(&self.crew), self.to);
        let put = move |runnable, by| crew.deliver_step(to, step(runnable), by);
        let (runnable, handle) = spawn_task(future, put);
        self.execute(step(runnable));
        handle
    }

    fn spawn_detached(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.execute(errand::first_step(future, CrewSite { crew: Hold::clone(&self.crew), to: self.to }));
    }
}

impl<S: Source, P: Parker + 'static> fmt::Debug for Handle<S, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.crew().fmt(f)
    }
}
