//! What a worker does with its jobs.

use super::{records::Records, wrapped::Wrapped};
use crate::{
    containment::{self, contain, discard_payload},
    job::Job,
    local,
};
use std::{
    any::Any,
    cell::{Cell, RefCell},
    collections::VecDeque,
    sync::{
        Arc, Weak,
        atomic::Ordering::{Relaxed, SeqCst},
    },
};

/// The identity of a worker thread of the crate's pool. The crate has no start hook, so the pool's first jobs enlist
/// its threads; because no job's panic reaches a thread, these are its threads for good.
pub(super) struct Worker {
    pub(super) index: usize,
    pub(super) records: Arc<Records>,
    pool: Weak<Wrapped>,
    /// Whether a job is running: a job that is submitted when none is comes from the destructor of a thread-local, when
    /// the thread ends.
    at_work: Cell<bool>,
    /// Jobs that this worker's jobs submitted to the pool when its last handle was gone and its queue closed.
    orphans: RefCell<VecDeque<Job>>,
}

impl Worker {
    /// The worker with number `index` in the pool.
    pub(super) fn new(index: usize, pool: &Arc<Wrapped>) -> Self {
        Worker {
            index,
            records: Arc::clone(&pool.records),
            pool: Arc::downgrade(pool),
            at_work: Cell::new(false),
            orphans: RefCell::default(),
        }
    }

    /// Runs a job, and then the orphans that it leaves to this worker.
    #[inline]
    pub(super) fn run(&self, closure: impl FnOnce()) {
        self.at_work.set(true);
        self.run_one(closure);
        while let Some(orphan) = self.next_orphan() {
            self.run_one(|| orphan.run());
        }
        self.at_work.set(false);
    }

    #[inline]
    fn next_orphan(&self) -> Option<Job> {
        self.orphans.borrow_mut().pop_front()
    }

    #[inline]
    fn run_one(&self, closure: impl FnOnce()) {
        let Records { discarding, discarded, ledger, .. } = &*self.records;
        if discarding.load(Relaxed) {
            discarded.fetch_add(1, SeqCst);
            containment::discard(closure);
            self.records.strike();
            return;
        }
        if let Err(payload) = contain(closure) {
            self.report(&*payload);
            discard_payload(payload);
        }
        ledger.end(self.index, || self.pool.upgrade().is_some_and(|pool| pool.pool.queued_count() > 0));
        self.records.publish_after_job(self.index);
    }

    pub(super) fn accept(&self, job: Job) -> bool {
        match self.pool.upgrade() {
            Some(pool) => pool.deliver(move || job.run(), |_| false).map_err(containment::discard).is_ok(),
            None if !self.at_work.get() || self.records.discarding.load(Relaxed) => {
                containment::discard(job);
                false
            }
            None => {
                self.records.ledger.accept_inside(self.index);
                self.orphans.borrow_mut().push_back(job);
                true
            }
        }
    }

    pub(super) fn report(&self, payload: &(dyn Any + Send)) {
        self.records.panicked.fetch_add(1, Relaxed);
        let (name, handler) = (self.records.name(), self.records.panic_handler.as_ref());
        containment::report(payload, format_args!("A job of {name} on worker {}", self.index), handler);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The thread ends; the pool's address may soon be another pool's.
        local::discharge();
    }
}
