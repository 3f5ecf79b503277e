//! A trampoline, for chains of ends: a drop that wakes a future, a wake-up that drops another, and so on. Most of them
//! are handled in a loop, so that the stack does not grow with the length of the chain.

use crate::sync::thread::LocalKey;
use std::{
    cell::{Cell, RefCell},
    mem::{self, ManuallyDrop},
};

/// How many items may be handled within each other. More than one, because a destructor may shut down a pool of its own
/// and then wait for a thread that waits for one of the pool's jobs: that job's end must not be deferred. Few enough
/// for small stacks; chosen freely otherwise.
const NESTING: usize = 16;

/// Items that are still to be handled, while calls further out on this thread's stack handle others.
pub(crate) struct Trampoline<T> {
    /// How many such calls there are.
    depth: Cell<usize>,
    /// Empty and without memory while there are none. So it needs no destructor, and is there as long as its thread:
    /// a chain may begin in the destructor of another variable of the thread.
    deferred: RefCell<ManuallyDrop<Vec<T>>>,
}

impl<T> Trampoline<T> {
    pub(crate) const fn new() -> Self {
        Trampoline { depth: Cell::new(0), deferred: RefCell::new(ManuallyDrop::new(Vec::new())) }
    }
}

/// Handles `item` by `deal_with`, which does not panic: at once, unless [`NESTING`] calls of it for items of the same
/// trampoline are already on this stack. Then the outermost of these does so, when it is done with its own item.
pub(crate) fn run<T>(trampoline: &'static LocalKey<Trampoline<T>>, item: T, deal_with: impl Fn(T)) {
    let depth = trampoline.with(|trampoline| trampoline.depth.get());
    if depth == NESTING {
        return trampoline.with(|trampoline| trampoline.deferred.borrow_mut().push(item));
    }
    trampoline.with(|trampoline| trampoline.depth.set(depth + 1));
    deal_with(item);
    if depth == 0 {
        while let Some(item) = trampoline.with(|trampoline| trampoline.deferred.borrow_mut().pop()) {
            deal_with(item);
        }
        // What was deferred has left room, perhaps for very many.
        drop(trampoline.with(|trampoline| mem::take(&mut **trampoline.deferred.borrow_mut())));
    }
    trampoline.with(|trampoline| trampoline.depth.set(depth));
}
