//! What the pool records about its jobs.
//!
//! The model in `records/model.rs` fails if `closed` is read before a job from outside is counted, if a step of a
//! future is counted after the lock of `over` was given back, or although the pool is over, or if the end is declared
//! while something is outstanding.

#[cfg(all(test, executors_loom))]
mod model;

use super::{LABEL, ledger::Ledger};
use crate::{
    local::PoolId,
    meter::Exporter,
    options::{Options, PanicHandler},
    sync::{
        Mutex, MutexGuard,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Relaxed, SeqCst},
            fence,
        },
    },
};
use std::sync::PoisonError;

/// What the pool records about its jobs. Shared with the worker threads, each of which counts for itself.
pub(super) struct Records {
    /// The user's name for the pool.
    name: Option<String>,
    /// SeqCst, because it is ordered with the ledger: see [`admits`](Self::admits).
    pub(super) closed: AtomicBool,
    /// Set before `closed`, and read independently of it: a job that has begun just before may run. So Relaxed is
    /// enough.
    pub(super) discarding: AtomicBool,
    /// Counted before the job is struck off the ledger, which publishes the count to waiters.
    pub(super) discarded: AtomicU64,
    /// Tells when all jobs have ended. The crate's own two counts cannot be read at one moment.
    pub(super) ledger: Ledger,
    /// Whether a thread has seen that the closed pool has come to its end. Steps of futures that ask to be admitted
    /// before that lock it.
    over: Mutex<bool>,
    /// Published by the ledger, when the job's end is counted.
    pub(super) panicked: AtomicU64,
    pub(super) panic_handler: Option<PanicHandler>,
    exporter: Exporter,
}

impl Records {
    /// The records of a pool of `workers` workers.
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

    /// The user's name for the pool, else the label of its kind.
    pub(super) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(LABEL)
    }

    pub(super) fn id(&self) -> PoolId {
        PoolId::of(self)
    }

    pub(super) fn over(&self) -> MutexGuard<'_, bool> {
        self.over.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a job that the given worker submits, or a thread that is none, if it is admitted. Returns whether it is.
    /// If the pool is closed, `though_closed` is asked to count a job from outside nevertheless, and returns whether it
    /// has.
    #[inline]
    pub(super) fn admits(&self, worker: Option<usize>, though_closed: impl FnOnce(&Self) -> bool) -> bool {
        match worker {
            Some(_) if self.discarding.load(Relaxed) => return false,
            Some(worker) => self.ledger.accept_inside(worker),
            None => {
                // Before `closed` is read: a thread that closes the pool and then sees nothing outstanding has seen all
                // jobs that will ever be accepted from outside.
                self.ledger.accept_outside();
                if self.closed.load(SeqCst) {
                    self.strike();
                    return though_closed(self);
                }
            }
        }
        true
    }

    /// Counts a step of a future that was accepted earlier, although the pool is closed, unless the pool has come to
    /// its end. Returns whether the step was counted.
    pub(super) fn accept_while_draining(&self) -> bool {
        let mut over = self.over();
        // Under the lock, so that two steps do not both go on only because each has counted the other.
        *over = *over || self.ledger.outstanding() == 0;
        let accepted = !*over && !self.discarding.load(Relaxed);
        if accepted {
            self.ledger.accept_outside();
        }
        accepted
    }

    /// Declares the end of a closed pool, if nothing was admitted at the last moment. Returns whether it has ended.
    pub(super) fn is_over(&self) -> bool {
        let mut over = self.over();
        *over = *over || self.ledger.outstanding() == 0;
        *over
    }

    /// Counts out a job that will not run: see [`Ledger::strike`].
    pub(super) fn strike(&self) {
        self.ledger.strike();
        self.exporter.publish_after_strike(self.ledger.workers(), |worker| self.executed_on(worker), || self.left());
    }

    /// Called after a job has ended on the worker.
    #[inline]
    pub(super) fn publish_after_job(&self, worker: usize) {
        let executed = |worker| self.executed_on(worker);
        self.exporter.publish_after_job(worker, self.ledger.workers(), executed, || self.left());
    }

    fn executed_on(&self, worker: usize) -> u64 {
        self.ledger.ended_on(worker)
    }

    /// How many jobs wait or run. Of several threads that count out the last jobs at the same time, the last to come
    /// here sees that none is left.
    fn left(&self) -> usize {
        fence(SeqCst);
        self.ledger.outstanding()
    }
}
