//! The end of a stack at which items are put in, and taken out last in, first out.

use super::{CAPACITY, FIRST_COUNT, Stack};
use crate::{
    containment::abort_out_of_turn,
    source::queue::{privilege::Earnings, reservation::Reservation},
    sync::{
        Arc,
        atomic::{
            Ordering::{Acquire, Relaxed, Release, SeqCst},
            fence,
        },
    },
};
use std::{cell::Cell, ptr::NonNull};

/// Pushes to a reserved stack are not counted; each time that it was reserved is taken to have had this many.
const PUSHES_PER_STINT: usize = 1 << 6;

/// The owner's end of a stack. There is one, and it stays on one thread.
pub(crate) struct Owner<T> {
    stack: Arc<Stack<T>>,
    bottom: Cell<u32>,
    /// At `top` or before it; exactly at `top` while the stack is reserved.
    top: Cell<u32>,
    /// Its pushes, as far as they are counted, and the privilege for them.
    earnings: Earnings,
}

impl<T> Owner<T> {
    pub(super) fn new(stack: Arc<Stack<T>>) -> Self {
        Owner { stack, bottom: Cell::new(FIRST_COUNT), top: Cell::new(FIRST_COUNT), earnings: Earnings::new() }
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
        self.top.set(self.stack.head.load(Acquire).top());
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
        let is_own = self.stack.head.load(Relaxed).is_reserved() || self.pop_shared(last);
        if is_own && last != pushed_at {
            abort_out_of_turn();
        }
        is_own
    }

    /// The same, of a stack that is not reserved.
    #[cold]
    #[inline(never)]
    fn pop_shared(&self, last: u32) -> bool {
        self.give_back();
        // P2, which pairs with S2.
        fence(SeqCst);
        let head = self.stack.head.load(Relaxed);
        if last.wrapping_sub(head.top()).cast_signed() > 0 {
            return true;
        }
        let is_own = last == head.top() && self.stack.head.exchange(head, head.behind_top()).is_ok();
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
    /// pushes, or the owner sees what they have written. If the stack is not reserved, this is a real fence. If it is,
    /// the module of [recalls](crate::recall) says why none is needed.
    #[inline(always)]
    pub(crate) fn fence_pushes(&self) {
        let side = &self.stack.owners.side;
        side.fence();
        if !self.stack.head.load(Relaxed).is_reserved() {
            self.order_shared();
        }
        side.fence();
    }

    #[cold]
    #[inline(never)]
    fn order_shared(&self) {
        self.give_back();
        fence(SeqCst);
        self.earnings.add(1);
        if self.earnings.check_due() {
            self.reserve();
        }
    }

    /// Opens the stack, so that no other thread has to, unless the owner has not reserved it since it last noticed that
    /// it was open.
    pub(crate) fn give_back(&self) {
        if !self.earnings.is_held() {
            return;
        }
        let mut head = self.stack.head.load(Relaxed);
        let asked = !head.is_reserved();
        while !head.is_open() {
            // Release: a thief acquires it with the head, and so sees what was taken.
            match self.stack.head.exchange(head, head.opened()) {
                Ok(()) => break,
                Err(now) => head = now,
            }
        }
        self.earnings.lose(PUSHES_PER_STINT, asked, &self.stack.owners.interruption);
    }

    #[cfg(all(test, executors_loom))]
    pub(super) fn is_open(&self) -> bool {
        self.stack.head.load(Relaxed).is_open()
    }

    #[cfg(all(test, executors_loom))]
    pub(crate) fn is_reserved(&self) -> bool {
        self.stack.head.load(Relaxed).is_reserved()
    }

    /// Reserves an open stack for the owner, until another thread recalls it.
    ///
    /// Not to be called before heavy fences are [ready](crate::asymmetric_fence::is_ready).
    #[cold]
    pub(crate) fn reserve(&self) {
        let head = self.stack.head.load(Relaxed);
        debug_assert!(head.is_open());
        self.stack.owners.interruption.forget();
        if self.stack.head.exchange(head, head.reserved()).is_ok() {
            self.top.set(head.top());
            self.earnings.grant();
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
