//! As the standard library's. Loom's `unpark` takes a thread that waits for a lock for one that is parked, and lets it
//! go on without the lock.

use super::atomic::{
    AtomicBool,
    Ordering::{Acquire, Relaxed, Release},
};
use loom::thread::{self, ThreadId};
use std::sync::{Arc, atomic::AtomicBool as Uncounted};

#[derive(Clone, Debug)]
pub(crate) struct Thread {
    thread: thread::Thread,
    token: Arc<Token>,
}

#[derive(Debug, Default)]
struct Token {
    /// Not loom's: what counts is its value at this very moment.
    is_parked: Uncounted,
    /// Set while it is not parked, for the next time.
    is_unparked: AtomicBool,
}

loom::thread_local! {
    static TOKEN: Arc<Token> = Arc::default();
}

impl Thread {
    pub(crate) fn id(&self) -> ThreadId {
        self.thread.id()
    }

    pub(crate) fn unpark(&self) {
        let is_parked = || self.token.is_parked.load(Relaxed);
        if !is_parked() {
            // Not a store, which loom might put before a swap of the thread that has come before it.
            self.token.is_unparked.swap(true, Release);
        }
        // It may have parked just before that.
        if is_parked() {
            self.thread.unpark();
        }
    }
}

pub(crate) fn current() -> Thread {
    Thread { thread: thread::current(), token: TOKEN.with(Arc::clone) }
}

pub(crate) fn park() {
    let token = TOKEN.with(Arc::clone);
    if !token.is_unparked.swap(false, Acquire) {
        token.is_parked.store(true, Relaxed);
        thread::park();
        token.is_parked.store(false, Relaxed);
    }
}
