//! A crew behind a front: the front decides which jobs are admitted, and the pool may be full.

use super::Handle;
use crate::{
    backing::{Backing, Polls},
    error::{Rejected, ShutdownReport},
    futures_executor::JoinHandle,
    local::PoolId,
    parker::Parker,
    pool::Stats,
    source::Source,
};
use std::{future::Future, time::Duration};

/// The handle inside a pool that may bound its jobs. All else that such a pool can do is what its crew can.
pub(crate) trait Front {
    type Source: Source;
    type Parker: Parker + 'static;

    /// As [`Backing::WHEN_FULL`].
    const WHEN_FULL: &str;

    fn crew(&self) -> &Handle<Self::Source, Self::Parker>;

    /// Whether an open pool may be full.
    fn is_bounded(&self) -> bool;

    /// As [`Backing::admit`].
    fn let_in<F: FnOnce() + Send + 'static>(&self, closure: F) -> Result<(), Rejected<F>>;

    /// Makes submitters that wait for room look whether the crew is closed.
    fn ring(&self);
}

impl<T: Front> Backing for T {
    const WHEN_FULL: &str = <T as Front>::WHEN_FULL;

    fn name(&self) -> &str {
        self.crew().name()
    }

    fn id(&self) -> PoolId {
        self.crew().id()
    }

    #[inline]
    fn admit<F: FnOnce() + Send + 'static>(&self, closure: F) -> Result<(), Rejected<F>> {
        self.let_in(closure)
    }

    fn may_be_full(&self) -> bool {
        self.is_bounded() && self.crew().is_open()
    }

    fn execute_batch<I>(&self, closures: I) -> usize
    where
        I: IntoIterator,
        I::Item: FnOnce() + Send + 'static,
    {
        if self.is_bounded() { self.admit_each(closures) } else { self.crew().execute_batch(closures) }
    }

    fn close(&self) -> bool {
        let closed = self.crew().close();
        self.ring();
        closed
    }

    fn discard(&self) {
        self.crew().close_for_good();
        self.ring();
        self.crew().drop_backlog();
    }

    fn await_idle(&self, timeout: Option<Duration>) -> bool {
        self.crew().await_idle(timeout)
    }

    fn await_end(&self, timeout: Duration) -> bool {
        self.crew().await_end(timeout)
    }

    fn workers_left(&self) -> usize {
        self.crew().workers_left()
    }

    fn report(&self) -> ShutdownReport {
        self.crew().report()
    }

    fn stats(&self) -> Stats {
        self.crew().stats()
    }

    fn max_workers(&self) -> usize {
        self.crew().max_workers()
    }
}

/// Futures pass the front by: a full pool queues them.
impl<T: Front> Polls for T {
    fn spawn<R: Send + 'static>(&self, future: impl Future<Output = R> + Send + 'static) -> JoinHandle<R> {
        self.crew().spawn(future)
    }

    fn spawn_detached(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.crew().spawn_detached(future);
    }
}
