//! Those who wait for a part, and may take others meanwhile.

use crate::{
    bell::Bell,
    sync::atomic::{AtomicBool, Ordering::SeqCst, fence},
};

/// Who waits for parts that one worker has taken. It calls them when one is settled, and when it forks.
#[derive(Debug, Default)]
pub(super) struct Joiners {
    bell: Bell,
    /// Whether they were called because of a new part, and none has looked since. Otherwise each fork would call them
    /// until one comes.
    are_called: AtomicBool,
}

impl Joiners {
    /// A part is settled.
    pub(super) fn ring(&self) {
        self.bell.ring();
    }

    /// There is a new part. Behind a fence that follows its push.
    #[inline(always)]
    pub(super) fn call(&self) {
        if self.bell.is_awaited() {
            self.call_once();
        }
    }

    #[cold]
    #[inline(never)]
    fn call_once(&self) {
        // If they are called already, one of them takes that back before it looks: behind this, so that its fence is
        // behind ours.
        if !self.are_called.swap(true, SeqCst) {
            self.bell.ring();
        }
    }

    /// Blocks until one of these holds.
    pub(super) fn wait_until(&self, is_settled: impl Fn() -> bool, sees_part: impl Fn() -> bool) {
        self.bell.wait_until(None, || {
            self.are_called.store(false, SeqCst);
            // Pairs with the fence of who forks: see `call_once`.
            fence(SeqCst);
            is_settled() || sees_part()
        });
    }
}
