//! The end of a stack at which items are put in, and taken out last in, first out.

use super::{CAPACITY, FIRST_COUNT, Stack};
use crate::{
    asymmetric_fence,
    containment::abort_out_of_turn,
    sync::{
        Arc,
        atomic::{
            Ordering::{Acquire, Relaxed, Release, SeqCst},
            fence,
        },
    },
};
use std::{cell::Cell, ptr::NonNull};

/// This many pushes to an open stack earn the owner the privilege of having it to itself: twice as many each time that
/// another thread has had to open it, up to [`MOST`], and half as many each time that the owner has opened it.
///
/// An owner that opens the stack itself has lost the time of some pushes; if it does not get there for so long that
/// another thread has to, that thread loses as much time as a thousand pushes take, and the owner a quarter of that.
/// (The price that [`privilege`](crate::source::queue::privilege) asks is of another kind, because there each recall
/// costs that much.)
const LEAST: u32 = if cfg!(executors_privileged) { 1 } else { 1 << 6 };

const MOST: u32 = if cfg!(executors_privileged) { 1 } else { 1 << 16 };

/// The owner's end of a stack. There is one, and it stays on one thread.
pub(crate) struct Owner<T> {
    stack: Arc<Stack<T>>,
    bottom: Cell<u32>,
    /// At `top` or before it; exactly at `top` while the stack is reserved.
    top: Cell<u32>,
    /// Whether it has reserved the stack, and not noticed since that it was recalled.
    has_reserved: Cell<bool>,
    /// Pushes since it last noticed a recall.
    earned: Cell<u32>,
    /// How many pushes the privilege takes.
    price: Cell<u32>,
}

impl<T> Owner<T> {
    pub(super) fn new(stack: Arc<Stack<T>>) -> Self {
        Owner {
            stack,
            bottom: Cell::new(FIRST_COUNT),
            top: Cell::new(FIRST_COUNT),
            has_reserved: Cell::new(false),
            earned: Cell::new(0),
            price: Cell::new(LEAST),
        }
    }

    /// Puts an item on top of the others, unless the stack is full. Returns its count.
    #[inline(always)]
    pub(crate) fn push(&self, item: NonNull<T>) -> Option<u32> {
        let bottom = self.bottom.get();
        if bottom.wrapping_sub(self.top.get()) as usize >= CAPACITY && !self.finds_room() {
            return None;
        }
        // Relaxed: published by `bottom`.
        self.stack.slot(bottom).store(item.as_ptr(), Relaxed);
        self.set_bottom(bottom.wrapping_add(1));
        Some(bottom)
    }

    #[cold]
    #[inline(never)]
    fn finds_room(&self) -> bool {
        // Acquire: a thief has read the slot of an item before it moved `top`.
        self.top.set(self.stack.head(Acquire).top());
        (self.bottom.get().wrapping_sub(self.top.get()) as usize) < CAPACITY
    }

    /// Takes back what was pushed last and not taken back, at count `pushed_at`. Returns whether the owner has it; if
    /// not, it was stolen, and so was all that was pushed before.
    ///
    /// Aborts the process if the owner gets another item.
    #[inline(always)]
    pub(crate) fn pop(&self, pushed_at: u32) -> bool {
        if self.bottom.get() == self.top.get() {
            // While the stack is reserved, the items that were stolen before end here.
            return false;
        }
        let last = self.bottom.get().wrapping_sub(1);
        // P1.
        self.set_bottom(last);
        // O2, which pairs with R2.
        self.stack.owners.side.fence();
        // Relaxed: what was pushed is the owner's own.
        let is_own = self.stack.head(Relaxed).is_reserved() || self.pop_shared(last);
        if is_own && last != pushed_at {
            abort_out_of_turn();
        }
        is_own
    }

    /// The same, of a stack that is not reserved.
    #[cold]
    #[inline(never)]
    fn pop_shared(&self, last: u32) -> bool {
        self.open();
        // P2, which pairs with S2.
        fence(SeqCst);
        let head = self.stack.head(Relaxed);
        if last.wrapping_sub(head.top()).cast_signed() > 0 {
            return true;
        }
        let is_own = last == head.top() && self.stack.exchange(head, head.behind_top());
        self.set_bottom(last.wrapping_add(1));
        is_own
    }

    #[inline(always)]
    fn set_bottom(&self, bottom: u32) {
        self.bottom.set(bottom);
        self.stack.owners.bottom.store(bottom, Release);
    }

    /// Acts as a fence between the owner's pushes and what it reads next, with respect to all threads that issue a
    /// fence between what they write and a [recall](super::Thief::recall), and then look into this stack: they see the
    /// pushes, or the owner sees what they have written. The reasons are those of the
    /// [ring's](crate::source::queue::ring::Owner::fence_pushes).
    #[inline(always)]
    pub(crate) fn fence_pushes(&self) {
        let side = &self.stack.owners.side;
        side.fence();
        if !self.stack.head(Relaxed).is_reserved() {
            self.order_shared();
        }
        side.fence();
    }

    #[cold]
    #[inline(never)]
    fn order_shared(&self) {
        self.open();
        fence(SeqCst);
        self.earned.update(|earned| earned + 1);
        if self.earned.get() >= self.price.get() {
            // So that this is not asked often while heavy fences are not ready.
            self.earned.set(0);
            if asymmetric_fence::is_ready() {
                self.reserve();
            }
        }
    }

    /// Opens the stack, if it was recalled; and if it was recalled since the owner last looked, adapts the price of the
    /// privilege to what that was worth.
    fn open(&self) {
        if !self.has_reserved.replace(false) {
            return;
        }
        self.earned.set(0);
        let head = self.stack.head(Relaxed);
        // Release: a thief acquires it with the head, and so sees what was taken.
        if !head.is_open() && self.stack.exchange(head, head.opened()) {
            self.price.update(|price| (price / 2).max(LEAST));
        } else {
            self.price.update(|price| (price * 2).min(MOST));
        }
    }

    #[cfg(all(test, executors_loom))]
    pub(super) fn is_open(&self) -> bool {
        self.stack.head(Relaxed).is_open()
    }

    #[cfg(all(test, executors_loom))]
    pub(crate) fn is_reserved(&self) -> bool {
        self.stack.head(Relaxed).is_reserved()
    }

    /// Reserves an open stack for the owner, until another thread recalls it.
    ///
    /// Not to be called before heavy fences are [ready](crate::asymmetric_fence::is_ready).
    #[cold]
    pub(crate) fn reserve(&self) {
        let head = self.stack.head(Relaxed);
        debug_assert!(head.is_open());
        if self.stack.exchange(head, head.reserved()) {
            self.has_reserved.set(true);
            self.top.set(head.top());
        }
        // Pairs with the fence of a thread that finds it not reserved: see `fence_pushes`.
        fence(SeqCst);
    }
}

#[cfg(all(test, target_os = "linux", not(executors_loom)))]
mod tests {
    use super::super::stack;
    use crate::containment::tests::assert_abort;
    use std::{process::Stdio, ptr::NonNull};

    #[test]
    fn taking_back_an_item_out_of_turn_ends_the_process() {
        assert_abort("taking_back_an_item_out_of_turn", Stdio::null(), || {
            let (owner, _thief) = stack::<u8>();
            let [first, _second] = [(); 2].map(|()| owner.push(NonNull::dangling()).expect("there is room"));
            owner.pop(first);
        });
    }
}
