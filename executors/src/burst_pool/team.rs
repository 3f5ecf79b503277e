//! Workers that have a handler of their own each.

use crate::{
    containment::Contained,
    local,
    rows::Rows,
    sync::{Mutex, MutexGuard},
};
use std::sync::{Arc, PoisonError};

pub(super) type Handler<T> = Contained<Box<dyn FnMut(T) + Send>>;

/// The handlers of a pool, by seat.
pub(super) struct Team<T>(Rows<Place<T>>);

/// The lock belongs to the worker of the seat: no thread waits for it while the pool is open.
struct Place<T>(Mutex<Option<Handler<T>>>);

impl<T> Team<T> {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Team(Rows::new([])))
    }

    /// Gives this handler to the worker on `seat`.
    pub(super) fn equip(&self, seat: usize, handler: Handler<T>) {
        *self.0.get(seat).lock() = Some(handler);
    }

    /// Takes the handler away: there is no worker on `seat` after all.
    pub(super) fn strip(&self, seat: usize) {
        let handler = self.0.get(seat).lock().take();
        drop(handler); // not under the lock: its `Drop` is the user's code
    }

    /// Handles `value` with the handler of the worker that this thread is.
    pub(super) fn handle(&self, value: T) {
        // At the end of the pool, late values are handled by a thread in place of a worker that has left. If it has a
        // new seat, there is no handler, and it uses that of the first worker.
        let own = local::seat().map(|seat| self.0.get(seat).lock()).filter(|handler| handler.is_some());
        let mut handler = own.unwrap_or_else(|| self.0.get(0).lock());
        if let Some(handler) = &mut *handler {
            handler(value);
        }
    }
}

impl<T> Place<T> {
    /// A handler that has panicked goes on; the state that it is in is its own responsibility.
    fn lock(&self) -> MutexGuard<'_, Option<Handler<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for Place<T> {
    fn default() -> Self {
        Place(Mutex::new(None))
    }
}
