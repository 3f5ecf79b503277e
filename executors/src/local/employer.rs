//! Which executor has started a thread.

use crate::sync::thread_local;
use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

thread_local! {
    /// The executor that has started this thread.
    static EMPLOYER: Cell<Option<Employer>> = const { Cell::new(None) };
}

/// An executor that starts threads: a thread that waits for its end waits for these threads, too. It is a number rather
/// than a [`PoolId`](super::PoolId), because when a thread runs destructors of thread-locals, its executor may be gone,
/// and another may be at its address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Employer(u64);

impl Employer {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Relaxed: it is enough that they differ.
        Employer(NEXT.fetch_add(1, Relaxed))
    }

    /// Records that this executor has started the calling thread.
    pub(crate) fn employ(self) {
        EMPLOYER.with(|employer| employer.set(Some(self)));
    }

    /// Whether this executor has started the calling thread; also once that thread runs nothing but destructors of
    /// thread-locals.
    pub(crate) fn has_employed_this_thread(self) -> bool {
        EMPLOYER.with(Cell::get) == Some(self)
    }
}
