//! Threads that wait for a part, and may take others meanwhile.

use crate::{
    apart::Apart,
    bell::Bell,
    sync::atomic::{AtomicBool, Ordering::SeqCst, fence},
};

/// The threads that wait for parts that one worker has taken. It calls them when it has settled one, and when it forks.
#[derive(Debug, Default)]
pub(super) struct Joiners {
    /// The forker looks at it with each part.
    bell: Apart<Bell>,
    /// Whether they were called because of a new part, and none has looked since. Otherwise each fork would call them
    /// until one comes.
    are_called: AtomicBool,
}

impl Joiners {
    /// Tells them that a part is settled.
    pub(super) fn ring(&self) {
        self.bell.ring();
    }

    /// Tells them that there is a new part. To be called after a fence that follows its push.
    #[inline(always)]
    pub(super) fn call(&self) {
        if self.bell.is_awaited() {
            self.call_once();
        }
    }

    #[cold]
    #[inline(never)]
    fn call_once(&self) {
        // If they are called already, one of them resets that before it looks, and after this swap: so its fence comes
        // after ours.
        if !self.are_called.swap(true, SeqCst) {
            self.bell.ring();
        }
    }

    /// Blocks until one of these holds.
    pub(super) fn wait_until(&self, is_settled: impl Fn() -> bool, sees_part: impl Fn() -> bool) {
        self.bell.wait_until(None, || {
            self.are_called.store(false, SeqCst);
            // Pairs with the forker's fence: see `call_once`.
            fence(SeqCst);
            is_settled() || sees_part()
        });
    }
}
