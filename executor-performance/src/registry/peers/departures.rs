//! Waiting for the threads of pools that do not join them, but report when one leaves.

use super::PATIENCE;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Counts the threads of one pool that have left.
#[derive(Debug, Clone, Default)]
pub(super) struct Departures(Arc<Board>);

#[derive(Debug, Default)]
struct Board {
    departed: Mutex<usize>,
    changed: Condvar,
}

impl Departures {
    /// For each thread to call as the last thing it does.
    pub(super) fn count_one(&self) {
        *self.0.departed.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.changed.notify_all();
    }

    /// Waits until `threads` have left.
    ///
    /// # Errors
    ///
    /// If that takes too long.
    pub(super) fn wait_for(&self, threads: usize) -> Result<(), String> {
        let departed = self.0.departed.lock().unwrap_or_else(PoisonError::into_inner);
        let (departed, timeout) = self
            .0
            .changed
            .wait_timeout_while(departed, PATIENCE, |departed| *departed < threads)
            .unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            return Err(format!("only {departed} of {threads} threads left within {} s", PATIENCE.as_secs()));
        }
        Ok(())
    }
}
