//! Futures that do a job after a while.

use super::ledger::{Ledger, Ticket};
use crate::support::suspend::yield_once;
use executors::TaskHandle;
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

/// A future without a handle: if it is dropped before its job has run, it says so itself.
pub(crate) struct Announcing<F> {
    /// Dropped before the future, and so before the last ticket is settled.
    unless_it_ends: UnlessItEnds,
    future: Pin<Box<F>>,
}

struct UnlessItEnds(Option<Arc<Ledger>>);

impl Drop for UnlessItEnds {
    fn drop(&mut self) {
        if let Some(ledger) = self.0.take() {
            ledger.lose(1);
        }
    }
}

pub(crate) fn announcing<F: Future<Output = ()>>(ledger: &Arc<Ledger>, future: F) -> Announcing<F> {
    Announcing { unless_it_ends: UnlessItEnds(Some(Arc::clone(ledger))), future: Box::pin(future) }
}

impl<F: Future<Output = ()>> Future for Announcing<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.future.as_mut().poll(context)));
        if !matches!(outcome, Ok(Poll::Pending)) {
            // The job's panic ends the future, too.
            self.unless_it_ends.0 = None;
        }
        outcome.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// A future that is suspended `times` times before it runs `job`.
pub(crate) async fn yielding(times: u64, job: impl FnOnce()) {
    for _ in 0..times {
        yield_once().await;
    }
    job();
}

/// A future that waits for the end of another job before it runs its own.
pub(crate) fn after<F: FnOnce() + Send>(
    ledger: &Arc<Ledger>,
    before: TaskHandle<()>,
    job: F,
) -> impl Future<Output = ()> + Send + use<F> {
    let before = Awaited { handle: Some(before), ledger: Arc::clone(ledger), _hold: ledger.hold() };
    async move {
        before.await;
        job();
    }
}

/// A handle whose result is read in any case: if the future that awaits it is dropped before, then later.
struct Awaited {
    handle: Option<TaskHandle<()>>,
    ledger: Arc<Ledger>,
    /// Dropped last, so that the program is not over before the handle is where it is read later.
    _hold: Ticket,
}

impl Future for Awaited {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let handle = self.handle.as_mut().expect("it is not polled after its end");
        let result = ready!(Pin::new(handle).poll(context));
        self.handle = None;
        self.ledger.learn(result);
        Poll::Ready(())
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        self.ledger.unread().handles.extend(self.handle.take());
    }
}
