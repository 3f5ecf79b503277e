//! Which future a thread polls, and whether that has woken itself.

use crate::{containment::abort_out_of_turn, sync::thread_local};
use std::{
    cell::Cell,
    ptr::{self, NonNull},
};

thread_local! {
    /// The innermost poll on this thread.
    static CURRENT: Cell<Polled> = const { Cell::new(Polled { errand: ptr::null(), is_woken: false }) };
}

/// A poll on this thread; or none.
#[derive(Clone, Copy)]
pub(super) struct Polled {
    errand: *const (),
    /// Whether its wakers have been used on this thread.
    is_woken: bool,
}

/// A poll that has begun, and what it hides.
pub(super) struct Polling {
    errand: NonNull<()>,
    outer: Polled,
}

impl Polled {
    /// The future of `errand` is polled from now on.
    #[inline(always)]
    pub(super) fn begin(errand: NonNull<()>) -> Polling {
        let this = Polled { errand: errand.as_ptr(), is_woken: false };
        Polling { errand, outer: CURRENT.with(|current| current.replace(this)) }
    }

    /// To be called when the future of `errand` is woken. Returns whether that future is the one that this thread is
    /// polling, innermost; if so, it is noted that it has woken itself.
    #[inline(always)]
    pub(super) fn wakes_itself(errand: NonNull<()>) -> bool {
        CURRENT.with(|current| {
            let is_own = ptr::eq(current.get().errand, errand.as_ptr());
            if is_own {
                current.set(Polled { errand: errand.as_ptr(), is_woken: true });
            }
            is_own
        })
    }
}

impl Polling {
    /// Returns whether the future has woken itself on this thread.
    #[inline(always)]
    pub(super) fn end(self) -> bool {
        let Polled { errand, is_woken } = CURRENT.with(|current| current.replace(self.outer));
        if !ptr::eq(errand, self.errand.as_ptr()) {
            abort_out_of_turn();
        }
        is_woken
    }
}
