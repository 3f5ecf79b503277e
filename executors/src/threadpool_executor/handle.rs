//! The handle that users have of the pool.

use super::{LABEL, site::PoolSite, wrapped::Wrapped};
use crate::{
    backing::{Backing, Polls},
    errand,
    error::{Rejected, ShutdownReport},
    futures_executor::{JoinHandle, spawn_task, step},
    local::PoolId,
    options::Options,
    pool::Stats,
};
use std::{
    fmt,
    future::Future,
    sync::{
        Arc,
        atomic::Ordering::{Relaxed, SeqCst},
    },
    time::Duration,
};
use threadpool::ThreadPool;

#[derive(Clone)]
pub(super) struct Handle(Arc<Wrapped>);

impl Handle {
    pub(super) fn new(pool: ThreadPool, options: &Options) -> Self {
        Handle(Wrapped::start(pool, options))
    }
}

impl Backing for Handle {
    const CLOSED_BEFORE: &str = "was already shut down!";

    fn name(&self) -> &str {
        self.0.records.name()
    }

    fn id(&self) -> PoolId {
        self.0.records.id()
    }

    #[inline]
    fn admit<F: FnOnce() + Send + 'static>(&self, closure: F) -> Result<(), Rejected<F>> {
        self.0.deliver(closure, |_closed| false).map_err(Rejected::Closed)
    }

    fn close(&self) -> bool {
        !self.0.records.closed.swap(true, SeqCst)
    }

    fn discard(&self) {
        self.0.records.discarding.store(true, Relaxed);
        self.close();
    }

    fn await_idle(&self, timeout: Option<Duration>) -> bool {
        self.0.records.ledger.await_quiet(timeout, || true)
    }

    fn await_end(&self, timeout: Duration) -> bool {
        self.0.records.ledger.await_quiet(Some(timeout), || self.0.records.is_over())
    }

    fn workers_left(&self) -> usize {
        self.0.pool.active_count()
    }

    fn report(&self) -> ShutdownReport {
        let records = &*self.0.records;
        let finished = records.ledger.ended();
        // After the end, only jobs that are about to be refused are counted: their submitters have not noticed it yet.
        let outstanding = if *records.over() { 0 } else { records.ledger.outstanding() };
        // The crate still counts a job as active for a moment after its end.
        let running = self.0.pool.active_count().min(outstanding);
        ShutdownReport { running, queued: outstanding - running, finished, discarded: records.discarded.load(SeqCst) }
    }

    fn stats(&self) -> Stats {
        let ShutdownReport { finished, discarded, running, queued } = self.report();
        let workers = self.0.pool.max_count();
        Stats {
            workers,
            idle: workers - running,
            busy: running,
            queued,
            running,
            finished,
            panicked: self.0.records.panicked.load(Relaxed),
            discarded,
            ..Stats::default()
        }
    }

    fn max_workers(&self) -> usize {
        self.0.pool.max_count()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(LABEL)
            .field("pool", &self.0.pool)
            .field("closed", &self.0.records.closed)
            .finish_non_exhaustive()
    }
}

impl Polls for Handle {
    fn spawn<R: Send + 'static>(&self, future: impl Future<Output = R> + Send + 'static) -> JoinHandle<R> {
        let site = PoolSite::of(&self.0);
        let (runnable, handle) = spawn_task(future, move |runnable, by| site.give(step(runnable), by));
        self.execute(step(runnable));
        handle
    }

    fn spawn_detached(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.execute(errand::first_step(future, PoolSite::of(&self.0)));
    }
}
