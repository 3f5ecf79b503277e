//! A gate that holds jobs up until a test lets them go.

use executors::Pool;
use std::sync::{Arc, Barrier, Condvar, Mutex};

/// Closed until opened; then open for ever. Clones are the same gate.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    pub(crate) fn open(&self) {
        *self.0.0.lock().expect("no panic under this lock") = true;
        self.0.1.notify_all();
    }

    pub(crate) fn pass(&self) {
        let is_open = self.0.0.lock().expect("no panic under this lock");
        drop(self.0.1.wait_while(is_open, |is_open| !*is_open).expect("no panic under this lock"));
    }
}

/// Keeps `threads` workers of a pool busy until the gate is opened; returns when all of them are.
pub(crate) fn occupy(pool: &impl Pool, threads: usize) -> Gate {
    let gate = Gate::default();
    let arrived = Arc::new(Barrier::new(threads + 1));
    for _ in 0..threads {
        let (gate, arrived) = (gate.clone(), Arc::clone(&arrived));
        pool.execute(move || {
            arrived.wait();
            gate.pass();
        });
    }
    arrived.wait();
    gate
}
