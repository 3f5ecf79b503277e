//! A worker's own stack, last in, first out, from which other workers may steal what is oldest.
//!
//! After the deque of Chase and Lev ("Dynamic circular work-stealing deque", 2005), with the fences of Lê, Pop, Cohen
//! and Zappa Nardelli (2013). It differs in two things: its size is fixed, because what is forked when it is full is
//! done at once, and there is enough to steal; and the owner may *reserve* it, as it does its [ring](super::ring), and
//! then takes what it has put there without a fence, until another thread *recalls* it.
//!
//! Two counts run through the stack, `top <= bottom <= top + CAPACITY`: items are from `top` to `bottom`. (But while
//! the owner takes the last one, or one that was stolen, `bottom` may be `top - 1`.) `bottom` is written by the owner
//! only, `top` is in the [head](Head), which is only changed by compare-and-exchange. The items are pointers; what an
//! item points to belongs to the thread that has taken it.
//!
//! - *An item is written before it is read.* The owner stores `bottom` (Release) after the slot and what it points to;
//!   a thief loads it (Acquire). The owner also stores it with Release when it takes an item: a thief that reads that
//!   has seen what was pushed before.
//! - *The last item is taken once.* **P1** The owner stores in `bottom` that it takes the item. **P2** Fence. **P3** It
//!   loads the head: if there are older items, this one is the owner's; if not, it goes to the thread whose exchange
//!   moves `top`. **S1** A thief loads the head. **S2** Fence. **S3** It loads `bottom`, and if that is beyond `top`,
//!   the slot. **S4** It moves `top` by an exchange. Of P2 and S2 one comes first: so the thief sees what P1 has
//!   stored, and leaves the item; or the owner sees at least the head that the thief has loaded, and if the item is
//!   that head's oldest, the exchanges decide.
//! - *A slot that a thief has read was not written again* if S4 succeeds: the head was the same all the while. Before
//!   the owner writes a slot again, `top` has passed its item, except while the stack is reserved or recalled. In these
//!   states no thief reads slots, and no head outlasts them, because the head says how often the stack has been
//!   reserved. (Unless that count, of 30 bits, and `top`, of 32, wrapped around to the very same values while the thief
//!   was suspended.)
//!
//! # A reserved stack
//!
//! While the head says *reserved*, or *recalled*, only the owner takes items. (The biased locking of Dice, Moir and
//! Scherer, 2003, and its revocation by an asymmetric fence.)
//!
//! - In place of P2 there is **O2**, a light [fence](crate::asymmetric_fence), and if P3 sees *reserved*, the item is
//!   the owner's.
//! - **R1** Another thread exchanges *reserved* for *recalled*. **R2** Heavy fence. **R3** It exchanges *recalled* for
//!   *open*.
//! - An owner that sees *recalled* exchanges that for *open* itself, and goes on with P2. One that runs out of jobs, or
//!   blocks and says so, opens the stack unasked. After R1 a recaller [waits a moment](crate::recall) for that, and
//!   leaves out R2 and R3 if it happens.
//!
//! What makes that safe:
//!
//! - *No other thread takes an item that the owner has.* If P3 sees *reserved*, R2 comes after O2, and S3, which comes
//!   after R3, sees what P1 has stored. If it was the owner that opened the stack, S1 has acquired all that it had
//!   stored.
//! - *R3 cannot end another recall of the stack*, for which it has issued no fence: the head that it expects says how
//!   often the stack has been reserved. And a thread that finds it recalled by another waits likewise, and then issues
//!   an R2 of its own.
//!
//! The owner's pushes share that fence, see [`fence_pushes`](Owner::fence_pushes).

mod head;
#[cfg(all(test, executors_loom))]
mod model;
mod owner;
mod thief;

pub(crate) use owner::Owner;
pub(crate) use thief::Thief;

use super::reservation::Reservable;
use crate::{
    apart::Apart,
    asymmetric_fence::LightSide,
    recall::{Interruption, Recalled},
    sync::{
        Arc,
        atomic::{AtomicPtr, AtomicU32, Ordering::Acquire},
    },
};
use head::Head;
use std::{array, ptr};

/// Items that fit into a stack: more than the depth of a computation that halves its work.
pub(crate) const CAPACITY: usize = if cfg!(executors_loom) { 2 } else { 256 };

/// Where the counts begin: they wrap around at once, so that nothing can rely on their not doing so.
const FIRST_COUNT: u32 = u32::MAX;

struct Stack<T> {
    head: Apart<Reservable<Head>>,
    owners: Apart<Owners>,
    slots: [AtomicPtr<T>; CAPACITY],
}

/// What only the owner writes; but with a heavy fence another thread notes an interruption.
struct Owners {
    bottom: AtomicU32,
    side: LightSide,
    interruption: Interruption,
}

/// A new stack.
pub(crate) fn stack<T>() -> (Owner<T>, Thief<T>) {
    let stack = Arc::new(Stack {
        head: Apart::new(Reservable::new(Head::open_at(FIRST_COUNT))),
        owners: Apart::new(Owners {
            bottom: AtomicU32::new(FIRST_COUNT),
            side: LightSide::default(),
            interruption: Interruption::default(),
        }),
        slots: array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
    });
    (Owner::new(Arc::clone(&stack)), Thief::new(stack))
}

impl<T> Stack<T> {
    fn recall(&self) -> Option<RecalledStack<'_, T>> {
        self.head.recall().map(|head| RecalledStack { stack: self, head })
    }

    #[inline(always)]
    fn slot(&self, count: u32) -> &AtomicPtr<T> {
        &self.slots[count as usize % CAPACITY]
    }
}

/// A stack whose recall is to be ended, and what its head was.
pub(crate) struct RecalledStack<'a, T> {
    stack: &'a Stack<T>,
    head: Head,
}

impl<T> Recalled for RecalledStack<'_, T> {
    fn side(&self) -> &LightSide {
        &self.stack.owners.side
    }

    fn interruption(&self) -> &Interruption {
        &self.stack.owners.interruption
    }

    fn is_over(&self) -> bool {
        self.stack.head.load(Acquire) != self.head
    }

    /// R3.
    fn end(&self) {
        // If this fails, another thread has opened the stack.
        let _ = self.stack.head.exchange(self.head, self.head.opened());
    }
}
