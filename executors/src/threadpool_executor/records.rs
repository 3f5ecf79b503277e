//! What is known of the jobs.

use super::{LABEL, ledger::Ledger};
use crate::{
    local::PoolId,
    meter::Exporter,
    options::{Options, PanicHandler},
};
use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
};

/// What is known of the jobs. Shared with the worker threads, each of which counts for itself.
pub(super) struct Records {
    /// The user's name for the pool.
    name: Option<String>,
    /// SeqCst, as it is ordered with the ledger: see [`Wrapped::deliver`](super::wrapped::Wrapped::deliver).
    pub(super) closed: AtomicBool,
    /// Set before `closed`, and looked at by itself: a job that is begun just before may run.
    pub(super) discarding: AtomicBool,
    /// Counted before the ledger tells of it, which publishes it to whoever waits.
    pub(super) discarded: AtomicU64,
    /// Tells when all jobs have ended. The crate's own two counts cannot be read at one moment.
    pub(super) ledger: Ledger,
    /// Whether somebody has seen the closed pool come to its end. Locked by steps of futures that ask to be let in
    /// before.
    over: Mutex<bool>,
    /// Published by the ledger, when the job's end is counted.
    pub(super) panicked: AtomicU64,
    pub(super) panic_handler: Option<PanicHandler>,
    pub(super) exporter: Exporter,
}

impl Records {
    /// Of a pool of so many workers.
    pub(super) fn new(workers: usize, options: &Options) -> Self {
        Records {
            name: options.name.clone(),
            closed: AtomicBool::new(false),
            discarding: AtomicBool::new(false),
            discarded: AtomicU64::new(0),
            ledger: Ledger::new(workers),
            over: Mutex::new(false),
            panicked: AtomicU64::new(0),
            panic_handler: options.panic_handler.clone(),
            exporter: Exporter::new(LABEL),
        }
    }

    /// The user's name for the pool, else that of its kind.
    pub(super) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(LABEL)
    }

    pub(super) fn id(&self) -> PoolId {
        PoolId::of(self)
    }

    pub(super) fn over(&self) -> MutexGuard<'_, bool> {
        self.over.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a step of a future that was accepted before, although the pool is closed: unless that has come to its
    /// end.
    pub(super) fn accept_while_draining(&self) -> bool {
        let mut over = self.over();
        // Under the lock, so that two steps do not take each other for a reason to go on.
        *over = *over || self.ledger.outstanding() == 0;
        let accepted = !*over && !self.discarding.load(SeqCst);
        if accepted {
            self.ledger.accept_outside();
        }
        accepted
    }

    /// Declares the end of a closed pool, if nothing was let in at the last moment.
    pub(super) fn is_over(&self) -> bool {
        let mut over = self.over();
        *over = *over || self.ledger.outstanding() == 0;
        *over
    }
}
