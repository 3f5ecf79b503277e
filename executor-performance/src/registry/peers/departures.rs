//! Waiting for the threads of pools that do not join them, but report when one leaves; and for the jobs of pools that
//! do not wait for these either.

use super::{PATIENCE, yield_until};
use std::sync::{
    Arc, Condvar, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

/// Counts the threads of one pool that have left, or its jobs that have ended.
///
/// What this costs counts as part of the pool's shutdown, so it is what the pools of this workspace pay as well: the
/// waiter yields its core a few times before it sleeps, and only the last thread wakes it.
#[derive(Debug, Clone, Default)]
pub(super) struct Departures(Arc<Board>);

#[derive(Debug, Default)]
struct Board {
    departed: AtomicUsize,
    /// How many of them end the wait; 0 before it begins.
    awaited: AtomicUsize,
    sleeping: Mutex<()>,
    last_left: Condvar,
}

impl Board {
    fn all_left(&self) -> bool {
        self.departed.load(SeqCst) >= self.awaited.load(SeqCst)
    }
}

impl Departures {
    /// For each thread or job to call as the last thing it does.
    pub(super) fn count_one(&self) {
        let board = &*self.0;
        // Either this sees that it is awaited, or the waiter sees that it has left: both are sequentially consistent.
        board.departed.fetch_add(1, SeqCst);
        if board.awaited.load(SeqCst) > 0 && board.all_left() {
            drop(board.sleeping.lock().unwrap_or_else(PoisonError::into_inner));
            board.last_left.notify_all();
        }
    }

    /// How many have left by now.
    pub(super) fn so_far(&self) -> usize {
        self.0.departed.load(SeqCst)
    }

    /// Waits until `threads` have left.
    ///
    /// # Errors
    ///
    /// If that takes too long.
    pub(super) fn wait_for(&self, threads: usize) -> Result<(), String> {
        let board = &*self.0;
        board.awaited.store(threads, SeqCst);
        if yield_until(|| board.all_left()) {
            return Ok(());
        }
        let sleeping = board.sleeping.lock().unwrap_or_else(PoisonError::into_inner);
        let (_sleeping, timeout) = board
            .last_left
            .wait_timeout_while(sleeping, PATIENCE, |()| !board.all_left())
            .unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            return Err(format!("only {} of {threads} threads left within {} s", self.so_far(), PATIENCE.as_secs()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        thread,
        time::{Duration, Instant},
    };

    #[test]
    fn the_last_departure_ends_the_wait() {
        // The last one comes while the waiter yields, or while it sleeps.
        for delay in [Duration::ZERO, Duration::from_millis(2)].repeat(20) {
            let (departures, begin) = (Departures::default(), Instant::now());
            thread::scope(|scope| {
                for number in 0..3 {
                    let departures = departures.clone();
                    scope.spawn(move || {
                        thread::sleep(delay * number);
                        departures.count_one();
                    });
                }
                assert_eq!(departures.wait_for(3), Ok(()));
                assert_eq!(departures.so_far(), 3);
            });
            assert!(begin.elapsed() < PATIENCE, "a waiter that is not woken looks again then");
        }
    }
}
