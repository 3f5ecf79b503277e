//! Waiting for something that others seldom wait for: ringing costs one fence and one load while nobody listens.

#[cfg(all(test, executors_loom))]
mod model;

use crate::sync::{
    Condvar, Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst, fence},
};
use std::{
    sync::PoisonError,
    time::{Duration, Instant},
};

/// Wakes threads that wait for a condition on atomics.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    listeners: AtomicUsize,
    lock: Mutex<()>,
    rung: Condvar,
}

impl Bell {
    /// Lets all listeners look at their conditions again. To be called after a change that may fulfil one.
    pub(crate) fn ring(&self) {
        // Pairs with the fence in `wait_until`: either the listener's look sees the change, or we see the listener.
        fence(SeqCst);
        if self.listeners.load(SeqCst) > 0 {
            // A listener that looked before the change holds the lock until it sleeps; after this it does.
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.rung.notify_all();
        }
    }

    /// Whether to [`ring`](Self::ring) after a change. In place of ringing always, where telling whether it matters
    /// takes long.
    ///
    /// A fence belongs between the change and this look, as there is one between being counted and looking in
    /// `wait_until`; who leaves it out may miss a listener who arrives just then.
    #[inline]
    pub(crate) fn is_awaited(&self) -> bool {
        self.listeners.load(SeqCst) > 0
    }

    /// Blocks until `met` holds, at most for `timeout`. Returns whether it does.
    pub(crate) fn wait_until(&self, timeout: Option<Duration>, mut met: impl FnMut() -> bool) -> bool {
        // A timeout beyond what the clock can tell is none.
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.listeners.fetch_add(1, SeqCst);
        fence(SeqCst);
        let holds = loop {
            if met() {
                break true;
            }
            guard = match deadline {
                None => self.rung.wait(guard).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        break false;
                    }
                    self.rung.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        };
        self.listeners.fetch_sub(1, SeqCst);
        holds
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn all_listeners_hear_it() {
        let (bell, changes) = (Bell::default(), AtomicUsize::new(0));
        thread::scope(|scope| {
            let listeners: Vec<_> =
                (0..8).map(|_| scope.spawn(|| bell.wait_until(None, || changes.load(SeqCst) == 3))).collect();
            for _ in 0..3 {
                changes.fetch_add(1, SeqCst);
                bell.ring();
            }
            assert!(listeners.into_iter().all(|listener| listener.join().unwrap()));
        });
    }

    #[test]
    fn waiting_ends_with_the_time() {
        let bell = Bell::default();
        assert!(!bell.wait_until(Some(Duration::from_millis(1)), || false));
        assert!(bell.wait_until(Some(Duration::ZERO), || true));
        assert!(bell.wait_until(Some(Duration::MAX), || true));
    }
}
