//! A handle to the result of a task.

use crate::task::block_on;
use futures_channel::oneshot;
use std::fmt;

/// The result of a task.
pub struct JoinHandle<T: Send> {
    /// Where the result arrives. Cancelled if the task panics.
    pub receiver: oneshot::Receiver<T>,
}

impl<T: Send> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("receiver", &self.receiver).finish()
    }
}

impl<T: Send> JoinHandle<T> {
    /// Blocks until the task has ended.
    ///
    /// # Errors
    ///
    /// If it panicked, or was dropped before its end.
    pub fn try_await_complete(self) -> Result<T, oneshot::Canceled> {
        block_on(self.receiver)
    }

    /// Blocks until the task has ended.
    ///
    /// # Panics
    ///
    /// If it panicked, or was dropped before its end.
    pub fn await_complete(self) -> T {
        self.try_await_complete().expect("the task has no result: it panicked, or was dropped")
    }
}
