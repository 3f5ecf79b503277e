//! What the topics share.

use crate::support::watchdog::{PATIENCE, Watchdog};
use executors::{
    Build, Builder, Executor, Pool,
    dispatcher::{Dispatcher, Subpool},
};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, ThreadId},
};

pub(crate) fn watched(dispatcher: &Dispatcher) -> Watchdog {
    let suspect = dispatcher.clone();
    Watchdog::new(Box::new(move || format!("{suspect:#?}")))
}

pub(crate) fn end(dispatcher: Dispatcher) {
    let report = dispatcher.shutdown_timeout(PATIENCE).expect("a dispatcher without blocked jobs ends");
    assert_eq!((report.running, report.queued), (0, 0), "{report:?}");
}

/// Counts jobs that are inside at the same time.
#[derive(Clone, Default)]
pub(crate) struct Room(Arc<(AtomicUsize, AtomicUsize)>);

impl Room {
    pub(crate) fn enter(&self) {
        let inside = self.0.0.fetch_add(1, SeqCst) + 1;
        self.0.1.fetch_max(inside, SeqCst);
        // Gives other jobs a chance to exceed the limit.
        thread::yield_now();
        self.0.0.fetch_sub(1, SeqCst);
    }

    /// The most that were inside at a time since the last call.
    pub(crate) fn most(&self) -> usize {
        self.0.1.swap(0, SeqCst)
    }
}

/// Notes in which order jobs begin.
#[derive(Clone, Default)]
pub(crate) struct Order(Arc<Mutex<Vec<usize>>>);

impl Order {
    pub(crate) fn note(&self, job: usize) -> impl FnOnce() + Send + use<> {
        let order = self.clone();
        move || order.0.lock().expect("no panic under this lock").push(job)
    }

    pub(crate) fn taken(&self) -> Vec<usize> {
        std::mem::take(&mut self.0.lock().expect("no panic under this lock"))
    }
}

/// Keeps a chain of jobs going in `subpool` until `done` is set, and counts them.
pub(crate) fn chain(subpool: Subpool, done: &Arc<AtomicBool>, jobs: &Arc<AtomicUsize>) {
    let (done, jobs) = (Arc::clone(done), Arc::clone(jobs));
    jobs.fetch_add(1, SeqCst);
    if !done.load(SeqCst) {
        let next = subpool.clone();
        subpool.execute(move || chain(next, &done, &jobs));
    }
}

pub(crate) fn here(subpool: &Subpool) -> ThreadId {
    subpool.submit(|| thread::current().id()).wait().expect("it runs")
}

pub(crate) fn refusal<P: Build + std::fmt::Debug>(builder: Builder<P>) -> String {
    builder.build().expect_err("this is impossible").to_string()
}
