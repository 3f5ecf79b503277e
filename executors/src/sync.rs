//! The primitives that the model-checked parts are made of: the standard library's, or loom's when a model runs.
//!
//! Under loom no time passes: a wait with a timeout ends when it is woken, and not before (but `doze` ends).

#[cfg(all(test, executors_loom))]
mod model;
#[cfg(executors_loom)]
mod once_lock;
#[cfg(executors_loom)]
mod parking;

#[cfg(all(test, executors_loom))]
pub(crate) use model::{Gate, Goal, check, check_at_length, check_reaching};
#[cfg(all(not(executors_loom), feature = "_queues"))]
pub(crate) use std::sync::OnceLock;
#[cfg(not(executors_loom))]
pub(crate) use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, atomic},
    thread_local,
};

#[cfg(not(executors_loom))]
pub(crate) mod thread {
    pub(crate) use std::thread::*;

    /// Sleeps for `duration` or until unparked. In a model that time is over at once.
    pub(crate) fn doze(duration: std::time::Duration) {
        park_timeout(duration);
    }
}

#[cfg(executors_loom)]
pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard, atomic};
#[cfg(executors_loom)]
pub(crate) use once_lock::OnceLock;

/// As loom's, whose accesses are closures so that it can tell when they overlap.
#[cfg(not(executors_loom))]
pub(crate) mod cell {
    #[derive(Debug, Default)]
    pub(crate) struct Watch;

    impl Watch {
        pub(crate) fn read(&self) {}

        pub(crate) fn write(&self) {}
    }

    #[derive(Debug)]
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        #[inline]
        pub(crate) const fn new(value: T) -> Self {
            UnsafeCell(std::cell::UnsafeCell::new(value))
        }

        #[inline]
        pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        #[inline(always)]
        pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}

#[cfg(executors_loom)]
pub(crate) mod cell {
    pub(crate) use loom::cell::UnsafeCell;

    /// Stands for a piece of memory that is accessed by other means: tells loom of the accesses.
    #[derive(Debug, Default)]
    pub(crate) struct Watch(UnsafeCell<()>);

    impl Watch {
        pub(crate) fn read(&self) {
            self.0.with(|_| ());
        }

        pub(crate) fn write(&self) {
            self.0.with_mut(|_| ());
        }
    }
}

/// To be called between a write and a SeqCst load of something else whose order matters.
///
/// After a SeqCst read-modify-write the code needs no fence, but loom does: it takes SeqCst operations for AcqRel ones,
/// and of its operations only fences are in the order of all SeqCst operations. After a Release store (`end` in
/// `threadpool_executor/ledger.rs`) only a real fence would keep the order: the code does without it, as waiters look
/// again, which a model does not.
#[inline(always)]
pub(crate) fn fence_of_models() {
    #[cfg(executors_loom)]
    atomic::fence(atomic::Ordering::SeqCst);
}

#[cfg(executors_loom)]
pub(crate) mod thread {
    pub(crate) use super::parking::{Thread, current, park};
    pub(crate) use loom::thread::*;

    pub(crate) fn park_timeout(_timeout: std::time::Duration) {
        park();
    }

    pub(crate) fn doze(duration: std::time::Duration) {
        // After a yield another thread must take a step first, and coming back to this one costs a preemption. So
        // without a duration this thread simply goes on: such executions would be lost otherwise.
        if !duration.is_zero() {
            yield_now();
        }
    }
}

/// As the standard library's with a constant initial value, which loom's does not know.
#[cfg(executors_loom)]
macro_rules! constant_thread_local {
    ($($(#[$meta:meta])* static $name:ident: $type:ty = const { $init:expr };)+) => {
        $(loom::thread_local! { $(#[$meta])* static $name: $type = $init; })+
    };
}
#[cfg(executors_loom)]
pub(crate) use constant_thread_local as thread_local;
