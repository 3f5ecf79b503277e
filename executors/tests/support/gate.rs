//! A gate that holds jobs up until a test lets them go.

use std::sync::{Arc, Condvar, Mutex};

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
