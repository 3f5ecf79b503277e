//! The threads that have not been joined yet.

use crate::{
    joining,
    sync::{
        Mutex, MutexGuard,
        thread::{self, JoinHandle},
    },
};
use std::{mem, sync::PoisonError};

/// The handles of a crew's threads, from the start of each until its real end has been waited for, or no thread will
/// wait for it.
///
/// A handle is dropped only by its own thread: see [`joining::let_go`], and "The end" in `crew/README.md`.
pub(super) struct Unjoined(Mutex<Handles>);

/// Locked while a thread is started, so that a thread that has the lock finds the handle of each thread that serves.
pub(super) struct Handles {
    threads: Vec<JoinHandle<()>>,
    /// For good: no thread that could wait is left.
    nobody_waits: bool,
}

impl Unjoined {
    /// None yet, but with room for the first one's: see [`Handles::reserve_one`].
    pub(super) fn new() -> Self {
        Unjoined(Mutex::new(Handles { threads: Vec::with_capacity(1), nobody_waits: false }))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Handles> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// No thread waits for them any more: the last that could is gone.
    pub(super) fn last_waiter_left(&self) {
        self.lock().nobody_waits = true;
    }

    /// The calling thread, which is one of them, is about to end. If none will wait for it, it drops its own handle.
    pub(super) fn sign_off(&self) {
        let own = self.lock().take_own();
        // Not under the lock: this gives memory back, and an allocator may submit jobs.
        drop(own);
    }
}

impl Drop for Unjoined {
    fn drop(&mut self) {
        joining::let_go(mem::take(&mut self.lock().threads));
    }
}

impl Handles {
    pub(super) fn len(&self) -> usize {
        self.threads.len()
    }

    /// Makes room for a thread that is about to be started: after the start, an allocator that submits jobs might ask
    /// for another one.
    pub(super) fn reserve_one(&mut self) {
        self.threads.reserve(1);
    }

    pub(super) fn keep(&mut self, thread: JoinHandle<()>) {
        self.threads.push(thread);
    }

    /// Takes all handles, for a thread that waits for them.
    pub(super) fn take(&mut self) -> Vec<JoinHandle<()>> {
        mem::take(&mut self.threads)
    }

    /// Takes the handle of the calling thread, if no thread will wait for it.
    fn take_own(&mut self) -> Option<JoinHandle<()>> {
        if !self.nobody_waits {
            return None;
        }
        let this = thread::current().id();
        let own = self.threads.iter().position(|thread| thread.thread().id() == this);
        own.map(|own| self.threads.swap_remove(own))
    }

    /// Forgets those that have ended, each of which keeps its stack until then.
    pub(super) fn forget_ended(&mut self) {
        joining::forget_ended(&mut self.threads);
        let left = self.threads.len();
        self.threads.shrink_to(2 * left);
    }
}
