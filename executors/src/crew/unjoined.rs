//! The threads that have not been joined yet.

use crate::{
    joining,
    local::place,
    sync::{
        Mutex, MutexGuard,
        thread::{self, JoinHandle},
    },
};
use std::{
    mem,
    ops::{Deref, DerefMut},
    sync::{
        PoisonError,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

/// The handles of a crew's threads, from the start of each until its real end has been waited for, or no thread will
/// wait for it.
///
/// A handle is dropped only by its own thread: see [`joining::let_go`], and "The end" in `crew/README.md`.
pub(super) struct Unjoined {
    handles: Mutex<Handles>,
    /// The number of the thread that [has these locked](Self::lock_for_start) to start another, or 0. Relaxed: a thread
    /// asks only whether it is that thread itself.
    starter: AtomicU32,
}

/// Locked while a thread is started, so that a thread that has the lock finds the handle of each thread that serves.
pub(super) struct Handles {
    threads: Vec<JoinHandle<()>>,
    /// For good: no thread that could wait is left.
    nobody_waits: bool,
}

impl Unjoined {
    /// None yet, but with room for the first one's: see [`Handles::reserve_one`].
    pub(super) fn new() -> Self {
        let handles = Handles { threads: Vec::with_capacity(1), nobody_waits: false };
        Unjoined { handles: Mutex::new(handles), starter: AtomicU32::new(0) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Handles> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`lock`](Self::lock), for a thread that starts another meanwhile. That asks for memory, and so an allocator
    /// may submit a job to the crew.
    pub(super) fn lock_for_start(&self) -> Starting<'_> {
        let handles = self.lock();
        self.starter.store(place::current().number, Relaxed);
        Starting { handles, starter: &self.starter }
    }

    /// Whether the calling thread has these locked to start another.
    pub(super) fn are_locked_here(&self) -> bool {
        self.starter.load(Relaxed) == place::current().number
    }

    /// No thread waits for them any more: the last that could is gone.
    pub(super) fn last_waiter_left(&self) {
        self.lock().nobody_waits = true;
    }

    pub(super) fn nobody_waits(&self) -> bool {
        self.lock().nobody_waits
    }

    /// The calling thread, which is one of them, is about to end. If none will wait for it, it drops its own handle.
    pub(super) fn sign_off(&self) {
        let own = self.lock().take_own();
        // Not under the lock: this gives memory back, and an allocator may submit jobs.
        drop(own);
    }
}

/// While a thread starts another. See [`Unjoined::lock_for_start`].
pub(super) struct Starting<'a> {
    handles: MutexGuard<'a, Handles>,
    starter: &'a AtomicU32,
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        self.starter.store(0, Relaxed);
    }
}

impl Deref for Starting<'_> {
    type Target = Handles;

    fn deref(&self) -> &Handles {
        &self.handles
    }
}

impl DerefMut for Starting<'_> {
    fn deref_mut(&mut self) -> &mut Handles {
        &mut self.handles
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
