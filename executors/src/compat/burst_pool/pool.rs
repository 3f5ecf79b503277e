//! The pool of burst-pool 0.3: values go to the workers strictly in turn, and dropping it waits for all of them.

use crate::burst_pool;
use std::{error::Error, fmt, time::Duration};

/// A pool of workers that handle values, each with a handler of its own. See the [module](super).
///
/// Each value goes to the next worker in turn, whatever that one has to do already, and no other worker handles it.
///
/// Dropping the pool waits until everything that was sent has been handled and the threads have ended; but not if a
/// handler of the pool drops it.
pub struct BurstPool<T> {
    pool: burst_pool::BurstPool<T>,
    /// Whose turn it is, modulo the number of workers.
    next: usize,
}

impl<T> BurstPool<T> {
    /// A pool without workers: [`spawn`](Self::spawn) some.
    #[expect(clippy::new_without_default, reason = "the crate has none")]
    pub fn new() -> BurstPool<T> {
        let builder = burst_pool::BurstPool::builder().stealing(false);
        BurstPool { pool: builder.build().expect("these options can be honoured anywhere"), next: 0 }
    }
}

impl<T: Send + 'static> BurstPool<T> {
    /// Starts a worker that calls `consume` with each value that it gets.
    ///
    /// # Panics
    ///
    /// If the operating system refuses the thread.
    pub fn spawn<F: FnMut(T) + Send + 'static>(&mut self, consume: F) {
        self.pool.spawn(consume);
    }

    /// Sends `x` to the next worker in turn.
    ///
    /// # Errors
    ///
    /// [`BurstError::NoThreads`] with the value inside if no worker was spawned.
    pub fn send(&mut self, x: T) -> Result<(), BurstError<T>> {
        let workers = self.pool.worker_count();
        if workers == 0 {
            return Err(BurstError::NoThreads(x));
        }
        let worker = self.next % workers;
        self.next = worker + 1;
        self.pool.send_to(worker, x);
        Ok(())
    }
}

impl<T> Drop for BurstPool<T> {
    fn drop(&mut self) {
        let _dropped_by_a_handler = self.pool.shutdown_timeout(Duration::MAX);
    }
}

impl<T> fmt::Debug for BurstPool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BurstPool").field("pool", &self.pool).field("next", &self.next).finish()
    }
}

/// Why a value was not accepted, with the value inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BurstError<T> {
    /// The pool has no workers.
    NoThreads(T),
}

impl<T> fmt::Display for BurstError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the pool has no threads: call `spawn` before `send`")
    }
}

impl<T: fmt::Debug> Error for BurstError<T> {}
