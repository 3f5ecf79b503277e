//! Jobs of models.

use crate::{
    local::try_execute_locally,
    sync::{
        Gate,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};
use std::sync::Arc;

/// Two jobs that wait for each other.
#[derive(Clone, Default)]
pub(crate) struct Pair(pub(crate) Arc<[Gate; 2]>);

impl Pair {
    pub(crate) fn jobs(&self) -> [impl FnOnce() + Send + use<>; 2] {
        [(0, 1), (1, 0)].map(|(own, other)| {
            let gates = Arc::clone(&self.0);
            move || {
                gates[own].open();
                gates[other].pass();
            }
        })
    }

    pub(crate) fn meet(&self) {
        self.0.iter().for_each(Gate::pass);
    }
}

/// A job that opens `gate`.
pub(crate) fn opens(gate: &Arc<Gate>) -> impl FnOnce() + Send + use<> {
    let gate = Arc::clone(gate);
    move || gate.open()
}

/// A job that lasts until `gate` is open.
pub(crate) fn passes(gate: &Arc<Gate>) -> impl FnOnce() + Send + use<> {
    let gate = Arc::clone(gate);
    move || gate.pass()
}

/// Does something when it is dropped.
pub(super) struct OnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> OnDrop<F> {
    pub(super) fn new(closure: F) -> Self {
        OnDrop(Some(closure))
    }
}

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|closure| closure());
    }
}

/// Submits a job to the crew whose job calls this.
pub(super) fn spawn(job: impl FnOnce() + Send + 'static) {
    assert!(try_execute_locally(job).is_ok());
}

/// How many jobs have run. Relaxed: a thread that relies on the number has learnt by other means that it is final.
#[derive(Default)]
pub(crate) struct Tally(Arc<AtomicUsize>);

impl Tally {
    pub(crate) fn mark(&self) -> impl FnOnce() + Send + use<> {
        let count = Arc::clone(&self.0);
        move || {
            count.fetch_add(1, Relaxed);
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Relaxed)
    }
}
