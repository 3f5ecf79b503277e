//! What user code throws stays within the job that threw it.

use crate::{error::message_of, options::PanicHandler};
use std::{
    any::Any,
    ops::{Deref, DerefMut},
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Runs `f`, giving what it throws as an error.
///
/// Unwind safety is asserted, as `std::thread::spawn` does by its signature: after a panic nobody sees the closure's
/// own state any more, and state it shares is protected by its own means (a poisoned mutex, say).
#[inline]
pub(crate) fn contain<R>(f: impl FnOnce() -> R) -> Result<R, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(f))
}

/// Drops a user's value, even if its `Drop` panics.
pub(crate) fn discard<V>(value: V) {
    guard(|| drop(value));
}

/// A user's value whose `Drop` may panic: that goes no further, as whoever happens to drop it has nothing to do with
/// it.
pub(crate) struct Contained<V>(Option<V>);

impl<V> Contained<V> {
    pub(crate) fn new(value: V) -> Self {
        Contained(Some(value))
    }
}

impl<V> Drop for Contained<V> {
    fn drop(&mut self) {
        discard(self.0.take());
    }
}

impl<V> Deref for Contained<V> {
    type Target = V;

    #[inline]
    fn deref(&self) -> &V {
        self.0.as_ref().expect("it is there until the drop")
    }
}

impl<V> DerefMut for Contained<V> {
    fn deref_mut(&mut self) -> &mut V {
        self.0.as_mut().expect("it is there until the drop")
    }
}

/// Drops what a closed executor was given, and says so.
#[cold]
pub(crate) fn ignore<J>(job: J) {
    warn_ignored();
    discard(job);
}

/// Said whenever a job is dropped because its executor is closed.
#[cold]
pub(crate) fn warn_ignored() {
    guard(|| log::warn!("Ignoring a job, as its executor is closed."));
}

/// Drops a panic's payload. A payload may throw another when it is dropped, and that one, too; after a few the last is
/// leaked.
pub(crate) fn discard_payload(mut payload: Box<dyn Any + Send>) {
    for _ in 0..8 {
        match contain(|| drop(payload)) {
            Ok(()) => return,
            Err(next) => payload = next,
        }
    }
    std::mem::forget(payload);
}

/// Reports a panic to the log and to the user's handler, once. What these throw themselves goes no further.
#[cold]
pub(crate) fn report(payload: &(dyn Any + Send), place: std::fmt::Arguments<'_>, handler: Option<&PanicHandler>) {
    guard(|| log::error!("{place} panicked: {}", message_of(payload)));
    if let Some(handler) = handler
        && let Err(second) = contain(|| handler(payload))
    {
        guard(|| log::error!("The panic handler of {place} panicked itself: {}", message_of(&*second)));
        discard_payload(second);
    }
}

/// Calls code that is not a job, but not ours either: a logger, a recorder of metrics, a waker. What it throws is
/// dropped.
pub(crate) fn guard(f: impl FnOnce()) {
    if let Err(payload) = contain(f) {
        discard_payload(payload);
    }
}
