//! The contract for executors whose threads are not a crew's: they book each job in when it comes and out when it ends.
//!
//! Where a crew learns from its workers that it is idle, a ledger counts: two read-modify-writes on one line for each job.
//! That is what the executors behind it cost anyway, and several times over.

use crate::{
    bell::Bell,
    common::warn_ignored,
    containment::{self, contain, discard_payload},
    error::{Rejected, ShutdownError, ShutdownReport, WaitError},
    handle::{TaskHandle, task},
    job::Job,
    local::{self, Attendant, PoolId, Post},
    options::PanicHandler,
    pool::Stats,
};
use std::{
    any::Any,
    fmt,
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicU64, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    time::Duration,
};

/// What runs the jobs.
pub(crate) trait Engine: Send + Sync + 'static {
    /// In log messages.
    const LABEL: &'static str;

    /// Runs `work`, exactly once, here or on another thread.
    fn start(&self, work: impl FnOnce() + Send + 'static);

    /// How many jobs can run at the same time.
    fn workers(&self) -> usize;
}

/// A user's hold on an engine and its ledger.
pub(crate) struct Handle<E: Engine>(Arc<Ledger<E>>);

/// What has come in and what has gone out.
struct Ledger<E> {
    engine: E,
    panic_handler: Option<PanicHandler>,
    closed: AtomicBool,
    discarding: AtomicBool,
    /// Jobs accepted and not ended. Counted up before `closed` is looked at, so that who closes and then sees none has
    /// seen all that will ever be accepted from outside.
    outstanding: AtomicUsize,
    running: AtomicUsize,
    ended: AtomicU64,
    panicked: AtomicU64,
    discarded: AtomicU64,
    bell: Bell,
}

/// How long the methods of [`Executor`](crate::Executor) wait for an executor's end.
pub(crate) const SHUTDOWN_PATIENCE: Duration = Duration::from_secs(5);

impl<E: Engine> Handle<E> {
    pub(crate) fn new(engine: E, panic_handler: Option<PanicHandler>) -> Self {
        Handle(Arc::new(Ledger {
            engine,
            panic_handler,
            closed: AtomicBool::new(false),
            discarding: AtomicBool::new(false),
            outstanding: AtomicUsize::new(0),
            running: AtomicUsize::new(0),
            ended: AtomicU64::new(0),
            panicked: AtomicU64::new(0),
            discarded: AtomicU64::new(0),
            bell: Bell::default(),
        }))
    }

    pub(crate) fn execute<F: FnOnce() + Send + 'static>(&self, closure: F) {
        if let Err(Rejected(closure)) = self.try_execute(closure) {
            warn_ignored();
            containment::discard(closure);
        }
    }

    pub(crate) fn try_execute<F: FnOnce() + Send + 'static>(&self, closure: F) -> Result<(), Rejected<F>> {
        self.0.deliver(closure).map_err(Rejected)
    }

    pub(crate) fn execute_batch<I>(&self, closures: I) -> usize
    where
        I: IntoIterator,
        I::Item: FnOnce() + Send + 'static,
    {
        let mut accepted = 0;
        for closure in closures {
            if let Err(closure) = self.0.deliver(closure) {
                warn_ignored();
                containment::discard(closure);
                break;
            }
            accepted += 1;
        }
        accepted
    }

    pub(crate) fn submit<F, T>(&self, closure: F) -> TaskHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let (job, handle) = task(self.0.id(), closure);
        // A job that is not accepted tells its handle so when it is dropped.
        let _ = self.0.deliver(job);
        handle
    }

    #[cfg(feature = "threadpool-exec")]
    pub(crate) fn spawn<R: Send + 'static>(
        &self,
        future: impl Future<Output = R> + Send + 'static,
    ) -> crate::JoinHandle<R> {
        use crate::futures_executor::{spawn_task, step};

        // Weak, so that a suspended future does not keep the engine's threads.
        let ledger = Arc::downgrade(&self.0);
        let schedule = move |runnable: async_task::Runnable| {
            let step = step(runnable);
            let refused = match ledger.upgrade() {
                Some(ledger) => ledger.deliver_step(step).err(),
                None => Some(step),
            };
            if let Some(step) = refused {
                warn_ignored();
                containment::discard(step); // cancels the future
            }
        };
        let (runnable, handle) = spawn_task(future, schedule);
        self.execute(step(runnable));
        handle
    }

    pub(crate) fn join(&self, timeout: Option<Duration>) -> Result<(), WaitError> {
        if local::is_at(self.0.id()) {
            return Err(WaitError::FromWorker);
        }
        if self.0.await_quiet(timeout) { Ok(()) } else { Err(WaitError::TimedOut) }
    }

    pub(crate) fn shutdown_async(&self) {
        if !self.0.close() {
            log::warn!("{} was already shut down!", E::LABEL);
        }
    }

    pub(crate) fn shutdown_borrowed(&self) -> Result<(), String> {
        if !self.0.close() {
            return Err("Pool was already shut down!".to_owned());
        }
        match self.await_end(SHUTDOWN_PATIENCE) {
            Ok(_) => Ok(()),
            Err(ShutdownError::TimedOut { workers, .. }) => {
                Err(format!("Pool failed to shut down in time. {workers} threads remaining."))
            }
            Err(error @ ShutdownError::FromWorker) => Err(error.to_string()),
        }
    }

    pub(crate) fn shutdown_timeout(&self, timeout: Duration) -> Result<ShutdownReport, ShutdownError> {
        self.0.close();
        self.await_end(timeout)
    }

    pub(crate) fn shutdown_now(&self) -> ShutdownReport {
        self.0.discarding.store(true, SeqCst);
        self.0.close();
        self.0.report()
    }

    fn await_end(&self, timeout: Duration) -> Result<ShutdownReport, ShutdownError> {
        if local::is_at(self.0.id()) {
            return Err(ShutdownError::FromWorker);
        }
        let report = if self.0.await_quiet(Some(timeout)) { Ok(self.0.report()) } else { Err(self.0.report()) };
        report.map_err(|report| ShutdownError::TimedOut { waited: timeout, workers: report.running, report })
    }

    pub(crate) fn stats(&self) -> Stats {
        let report = self.0.report();
        let workers = self.0.engine.workers();
        let busy = report.running.min(workers);
        Stats {
            workers,
            idle: workers - busy,
            busy,
            queued: report.queued,
            running: report.running,
            done: report.finished,
            panicked: self.0.panicked.load(Relaxed),
            discarded: report.discarded,
            ..Stats::default()
        }
    }
}

impl<E: Engine> Ledger<E> {
    fn id(&self) -> PoolId {
        PoolId::of(self)
    }

    /// Books a new job in and starts it. Gives it back if the executor is closed, unless it comes from one of its jobs.
    fn deliver<F: FnOnce() + Send + 'static>(self: &Arc<Self>, closure: F) -> Result<(), F> {
        self.deliver_if(closure, |_| local::is_at(self.id()))
    }

    /// The same for the next step of a future, which is accepted as long as there are jobs to wait for.
    #[cfg(feature = "threadpool-exec")]
    fn deliver_step<F: FnOnce() + Send + 'static>(self: &Arc<Self>, closure: F) -> Result<(), F> {
        self.deliver_if(closure, |others| others > 0)
    }

    /// `though_closed` is told how many jobs are outstanding.
    fn deliver_if<F>(self: &Arc<Self>, closure: F, though_closed: impl FnOnce(usize) -> bool) -> Result<(), F>
    where
        F: FnOnce() + Send + 'static,
    {
        let others = self.outstanding.fetch_add(1, SeqCst);
        let entry = Entry(Arc::clone(self));
        if self.closed.load(SeqCst) && (self.discarding.load(SeqCst) || !though_closed(others)) {
            return Err(closure);
        }
        self.engine.start(move || entry.run(closure));
        Ok(())
    }

    fn close(&self) -> bool {
        !self.closed.swap(true, SeqCst)
    }

    fn await_quiet(&self, timeout: Option<Duration>) -> bool {
        self.bell.wait_until(timeout, || self.outstanding.load(SeqCst) == 0)
    }

    fn report(&self) -> ShutdownReport {
        let running = self.running.load(SeqCst);
        ShutdownReport {
            finished: self.ended.load(SeqCst),
            discarded: self.discarded.load(SeqCst),
            running,
            queued: self.outstanding.load(SeqCst).saturating_sub(running),
        }
    }
}

/// A job's line in the ledger; booked out when dropped.
struct Entry<E: Engine>(Arc<Ledger<E>>);

impl<E: Engine> Entry<E> {
    fn run(self, closure: impl FnOnce()) {
        let ledger = &*self.0;
        if ledger.discarding.load(SeqCst) {
            ledger.discarded.fetch_add(1, SeqCst);
            containment::discard(closure);
            return;
        }
        ledger.running.fetch_add(1, SeqCst);
        let post = Post::new(ledger.id(), &self);
        let standing = post.enter();
        if let Err(payload) = contain(closure) {
            self.report(&*payload);
            discard_payload(payload);
        }
        drop(standing);
        ledger.running.fetch_sub(1, SeqCst);
        ledger.ended.fetch_add(1, SeqCst);
    }
}

impl<E: Engine> Attendant for Entry<E> {
    fn accept(&self, mut job: Job) -> bool {
        self.0.deliver(move || job.run()).map_err(containment::discard).is_ok()
    }

    fn report(&self, payload: &(dyn Any + Send)) {
        self.0.panicked.fetch_add(1, SeqCst);
        containment::report(payload, format_args!("A job of {}", E::LABEL), self.0.panic_handler.as_ref());
    }
}

impl<E: Engine> Drop for Entry<E> {
    fn drop(&mut self) {
        if self.0.outstanding.fetch_sub(1, SeqCst) == 1 {
            self.0.bell.ring();
        }
    }
}

impl<E: Engine> Clone for Handle<E> {
    fn clone(&self) -> Self {
        Handle(Arc::clone(&self.0))
    }
}

impl<E: Engine> fmt::Debug for Handle<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(E::LABEL)
            .field("workers", &self.0.engine.workers())
            .field("closed", &self.0.closed)
            .field("outstanding", &self.0.outstanding)
            .finish_non_exhaustive()
    }
}
