//! Parking as in the standard library, but without spurious wake-ups.
//!
//! Loom's `unpark` takes a thread that waits for a lock for one that is parked, and lets it go on without the lock. And
//! if a thread is unparked twice before it goes on, its next `park` returns at once.

#[cfg(test)]
mod model;

use super::atomic::{
    AtomicBool,
    Ordering::{Acquire, Relaxed, Release},
};
use loom::thread::{self, ThreadId};
use std::sync::{Arc, atomic::AtomicU8};

#[derive(Clone, Debug)]
pub(crate) struct Thread {
    thread: thread::Thread,
    token: Arc<Token>,
}

#[derive(Debug, Default)]
struct Token {
    /// Swapped before each look at the state. Loom lets other threads come before that, and none between it and what
    /// follows from the state. It also orders what they have written.
    turn: AtomicBool,
    /// [`EMPTY`], [`UNPARKED`] or [`PARKED`]. Not loom's: what counts is its value at this very moment.
    state: AtomicU8,
}

const EMPTY: u8 = 0;
const UNPARKED: u8 = 1;
const PARKED: u8 = 2;

loom::thread_local! {
    static TOKEN: Arc<Token> = Arc::default();
}

impl Thread {
    pub(crate) fn id(&self) -> ThreadId {
        self.thread.id()
    }

    pub(crate) fn unpark(&self) {
        self.token.turn.swap(true, Release);
        if self.token.state.swap(UNPARKED, Relaxed) == PARKED {
            self.thread.unpark();
        }
    }
}

pub(crate) fn current() -> Thread {
    Thread { thread: thread::current(), token: TOKEN.with(Arc::clone) }
}

pub(crate) fn park() {
    let token = TOKEN.with(Arc::clone);
    token.turn.swap(false, Acquire);
    if token.state.swap(PARKED, Relaxed) != UNPARKED {
        thread::park();
        // All who have unparked it by now come before what it does next, not only the first.
        token.turn.swap(false, Acquire);
    }
    token.state.store(EMPTY, Relaxed);
}
