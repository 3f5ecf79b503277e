//! The primitives that the model-checked parts are made of: the standard library's, or loom's when a model runs.
//!
//! Under loom no time passes: a wait with a timeout ends when it is woken, and not before.

#[cfg(not(loom))]
pub(crate) use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, atomic},
    thread, thread_local,
};

#[cfg(loom)]
pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard, atomic};

/// How many threads can run at the same time.
#[cfg(not(loom))]
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// A model is the same on every machine.
#[cfg(loom)]
pub(crate) fn cores() -> usize {
    4
}

/// To be called between a SeqCst read-modify-write and a SeqCst load of something else whose order matters.
///
/// The read-modify-write needs no fence behind it, but loom takes SeqCst operations for AcqRel ones: of its operations only
/// fences are in the order of all SeqCst operations.
#[inline(always)]
pub(crate) fn fence_of_models() {
    #[cfg(loom)]
    atomic::fence(atomic::Ordering::SeqCst);
}

#[cfg(loom)]
pub(crate) mod thread {
    pub(crate) use loom::thread::*;

    pub(crate) fn park_timeout(_timeout: std::time::Duration) {
        park();
    }
}

/// As the standard library's with a constant initial value, which loom's does not know.
#[cfg(loom)]
macro_rules! constant_thread_local {
    ($($(#[$meta:meta])* static $name:ident: $type:ty = const { $init:expr };)+) => {
        $(loom::thread_local! { $(#[$meta])* static $name: $type = $init; })+
    };
}
#[cfg(loom)]
pub(crate) use constant_thread_local as thread_local;

/// Checks all executions of `model` with at most `preemptions` switches away from a thread that could go on.
///
/// Says how many there were, so that a model that has become trivial, or far too large, is noticed.
#[cfg(all(test, loom))]
pub(crate) fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    use std::{
        sync::atomic::{AtomicUsize, Ordering::Relaxed},
        time::Instant,
    };
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(preemptions); // unless LOOM_MAX_PREEMPTIONS says otherwise
    builder.max_branches = 10_000;
    let (executions, begin) = (std::sync::Arc::new(AtomicUsize::new(0)), Instant::now());
    let count = std::sync::Arc::clone(&executions);
    builder.check(move || {
        count.fetch_add(1, Relaxed);
        model();
    });
    println!("{} executions in {:.1?}", executions.load(Relaxed), begin.elapsed());
}

/// Something that threads of a model wait for.
#[cfg(all(test, loom))]
#[derive(Default)]
pub(crate) struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

#[cfg(all(test, loom))]
impl Gate {
    pub(crate) fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    pub(crate) fn pass(&self) {
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.opened.wait(open).unwrap();
        }
    }
}
