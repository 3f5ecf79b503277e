//! The shared end of a stack: for thieves, and for threads that check whether there are items.

use super::{RecalledStack, Stack};
use crate::{
    recall,
    source::queue::{Busy, Span, reservation::Reservation},
    sync::{
        Arc,
        atomic::{
            Ordering::{Acquire, Relaxed, SeqCst},
            fence,
        },
    },
};
use std::ptr::NonNull;

/// The shared end of a stack.
pub(crate) struct Thief<T>(Arc<Stack<T>>);

impl<T> Thief<T> {
    pub(super) fn new(stack: Arc<Stack<T>>) -> Self {
        Thief(stack)
    }

    /// Takes the oldest item, if it `is_wanted`, which is asked when the item has been seen: what that looks at is as
    /// it was when the item was pushed, or later.
    ///
    /// # Errors
    ///
    /// [`Busy`] if another thief, or the owner, was faster.
    pub(crate) fn steal(&self, is_wanted: impl FnOnce() -> bool) -> Result<Option<NonNull<T>>, Busy> {
        self.recall().iter().for_each(recall::end);
        // S1.
        let head = self.0.head.load(Acquire);
        if !head.is_open() {
            return Err(Busy);
        }
        // S2, which pairs with P2.
        fence(SeqCst);
        // S3. If S4 succeeds, the item that is taken is the one that is there now: its owner cannot take it and push
        // another in its place without changing the head.
        if self.0.owners.bottom.load(Acquire).wrapping_sub(head.top()).cast_signed() <= 0 || !is_wanted() {
            return Ok(None);
        }
        // Relaxed: what `bottom` says is there was written before.
        let item = self.0.slot(head.top()).load(Relaxed);
        // S4.
        self.0.head.exchange(head, head.behind_top()).map_err(|_| Busy)?;
        Ok(Some(NonNull::new(item).expect("`bottom` covers only slots that were written")))
    }

    /// Where the items begin and end; exact while no thread puts any in or takes any out.
    pub(crate) fn items(&self) -> Span {
        // Acquire pairs with the exchange of the thread that has taken the oldest, so that one that finds the stack
        // empty sees what that thread did before, such as being counted as active; and with the owner's stores of
        // `bottom`, for what it did before it took the last.
        let next = self.0.head.load(Acquire).top();
        let tail = self.0.owners.bottom.load(Acquire);
        // The owner is taking an item that was stolen from it: `bottom` is `top - 1`.
        if tail.wrapping_sub(next).cast_signed() < 0 { Span { next, tail: next } } else { Span { next, tail } }
    }

    /// Whether neither the owner has it reserved nor any thread is about to open it. Acquire pairs with the exchange
    /// that has opened it: a thread that has no recall to make sees what was pushed before that.
    pub(crate) fn is_open(&self) -> bool {
        self.0.head.load(Acquire).is_open()
    }

    /// R1, unless the stack is open. The result is to be [ended](recall::end), by R2 and R3.
    pub(crate) fn recall(&self) -> Option<RecalledStack<'_, T>> {
        self.0.recall()
    }
}
