//! Which worker the current thread is.

use super::{records::Records, worker::Worker};
use crate::{
    job::Job,
    local::{self, Attendant, Help},
};
use std::{any::Any, cell::OnceCell, ptr, sync::atomic::Ordering::Relaxed};

thread_local! {
    static WORKER: OnceCell<Worker> = const { OnceCell::new() };
}

/// Makes the current thread `worker` for good.
pub(super) fn enlist(worker: Worker) {
    local::enlist(worker.records.id(), &ThisWorker);
    WORKER.with(|cell| assert!(cell.set(worker).is_ok(), "a thread belongs to one pool"));
}

/// Runs a job of the pool whose thread this is.
#[inline]
pub(super) fn run(closure: impl FnOnce()) {
    WORKER.with(|worker| worker.get().expect("enlisted by the first job").run(closure));
}

/// The number of the worker that the current thread is in the pool with these `records`, if it is one: then it runs one
/// of that pool's jobs.
#[inline]
pub(super) fn index_in(records: &Records) -> Option<usize> {
    let of_this_pool = |worker: &&Worker| ptr::eq(&*worker.records, records);
    WORKER.try_with(|worker| worker.get().filter(of_this_pool).map(|worker| worker.index)).ok().flatten()
}

/// Stands for the [`Worker`] of the calling thread.
struct ThisWorker;

impl Attendant for ThisWorker {
    fn accept(&self, job: Job) -> bool {
        // A thread that is ending has no worker any more.
        WORKER.try_with(|worker| worker.get().is_some_and(|worker| worker.accept(job))).unwrap_or(false)
    }

    fn report(&self, payload: &(dyn Any + Send)) {
        let _ = WORKER.try_with(|worker| worker.get().map(|worker| worker.report(payload)));
    }

    fn help(&self, _division: usize) -> Help {
        let discards = |worker: &Worker| worker.records.discarding.load(Relaxed);
        let discards = WORKER.try_with(|worker| worker.get().is_some_and(discards));
        if discards.unwrap_or(false) { Help::Drop } else { Help::Run }
    }
}
