#![doc = include_str!("burst_pool.md")]

#[cfg(all(test, executors_loom))]
mod model;
mod pool;

pub use pool::{BurstError, BurstPool};

use crate::{
    mailbox::{Claim, Mailboxes},
    parker::{self, DynamicThreadData, Parker, StaticParker},
    sync::{
        Mutex, MutexGuard,
        atomic::{
            AtomicBool,
            Ordering::{Relaxed, SeqCst},
            fence,
        },
    },
};
use std::{
    fmt,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::{Arc, PoisonError},
};

/// The end that gives values to receivers that wait for them.
///
/// When it is dropped, receivers are [orphaned](RecvError::Orphaned) once they have received what they were woken for.
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
    /// Values that are promised to receivers which have not been woken for them yet.
    enqueued: Vec<Box<T>>,
    /// The receivers of these values, in the same order.
    claims: Vec<Claim>,
}

/// The receiving end, for one worker.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    number: usize,
    /// Whether the sender may choose this receiver.
    is_idle: bool,
}

// As in burst-pool, whose sender has the values behind atomics. Here they are only pushed and taken out: no panic of
// code that knows their type comes in between.
impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}

struct Shared<T> {
    boxes: Mailboxes<Box<T>>,
    parker: StaticParker<DynamicThreadData>,
    /// Whether the sender is gone. Relaxed: there are fences between the store and the loads.
    orphaned: AtomicBool,
    /// The numbers of receivers that were dropped: each is claimed, and has an empty mailbox. The lock orders what a
    /// receiver did before what the next one with its number does.
    vacated: Mutex<Vec<usize>>,
}

impl<T> Shared<T> {
    fn vacated(&self) -> MutexGuard<'_, Vec<usize>> {
        self.vacated.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why there is nothing to receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecvError {
    /// The sender is gone, and nothing will come any more.
    Orphaned,
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the sender was dropped: nothing will come any more")
    }
}

impl std::error::Error for RecvError {}

impl<T> Sender<T> {
    /// A sender without receivers.
    #[expect(clippy::new_without_default, reason = "the crate has none")]
    pub fn new() -> Sender<T> {
        let (boxes, parker) = (Mailboxes::new(0), parker::dynamic());
        let shared = Shared { boxes, parker, orphaned: AtomicBool::new(false), vacated: Mutex::default() };
        Sender { shared: Arc::new(shared), enqueued: Vec::new(), claims: Vec::new() }
    }

    /// One more receiver. It can be chosen while it waits in [`recv`](Receiver::recv), and not before.
    pub fn mk_receiver(&mut self) -> Receiver<T> {
        let (shared, vacated) = (Arc::clone(&self.shared), self.shared.vacated().pop());
        let number = vacated.unwrap_or_else(|| {
            let Claim { worker } = shared.boxes.promise(shared.boxes.workers());
            shared.boxes.add_worker();
            worker
        });
        Receiver { shared, number, is_idle: false }
    }

    /// Wakes each receiver for which something was enqueued, by one system call for each that sleeps. Allocates only
    /// for the first value of a receiver.
    pub fn wake_all(&mut self) {
        let Shared { boxes, parker, .. } = &*self.shared;
        for (claim, value) in self.claims.iter().zip(self.enqueued.drain(..)) {
            boxes.put(*claim, value);
        }
        // Pairs with the fence of the receiver's sleep: either it sees its value, or the parker sees that it sleeps.
        fence(SeqCst);
        for claim in self.claims.drain(..) {
            parker.unpark(claim.worker);
        }
    }
}

impl<T: Send> Sender<T> {
    /// Promises `x` to a receiver that waits: the next in turn. That receiver gets `x` when
    /// [`wake_all`](Self::wake_all) is called.
    ///
    /// Returns `x` if none waits. Does not block; allocates only when more values are enqueued than ever were at once,
    /// and makes no system call otherwise.
    pub fn enqueue(&mut self, x: Box<T>) -> Option<Box<T>> {
        match self.shared.boxes.claim_idle() {
            Some(claim) => {
                self.enqueued.push(x);
                self.claims.push(claim);
                None
            }
            None => Some(x),
        }
    }
}

impl<T> Receiver<T> {
    /// Blocks until a value was enqueued for this receiver and [`wake_all`](Sender::wake_all) was called.
    ///
    /// # Errors
    ///
    /// [`RecvError::Orphaned`] if the sender is gone.
    pub fn recv(&mut self) -> Result<Box<T>, RecvError> {
        let Shared { boxes, parker, orphaned, .. } = &*self.shared;
        if !self.is_idle {
            self.is_idle = true;
            boxes.settle(self.number);
        }
        let is_orphaned = || orphaned.load(Relaxed);
        loop {
            let was_orphaned = is_orphaned();
            // Pairs with the fence of a sender that is dropped: what it gave before is seen below.
            fence(SeqCst);
            if let Some(value) = boxes.take(self.number) {
                self.is_idle = false;
                return Ok(value);
            }
            if was_orphaned {
                return Err(RecvError::Orphaned);
            }
            parker.prepare_park(self.number);
            // Its fence pairs with those in `wake_all` and in the sender's `drop`.
            parker::sleep(parker, self.number, || boxes.has_letters_for(self.number) || is_orphaned(), || None);
        }
    }
}

/// Its number is for the next receiver. Not if it is idle: then its `recv` has said that the sender is gone, and there
/// is no next one.
impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if !self.is_idle {
            self.shared.vacated().push(self.number);
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // Pairs with the fence in `recv`.
        fence(SeqCst);
        self.shared.orphaned.store(true, Relaxed);
        // Pairs with the fence of the receiver's sleep: either it sees this, or the parker sees that it sleeps.
        fence(SeqCst);
        self.shared.parker.unpark_all();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("enqueued", &self.enqueued.len()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("number", &self.number).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    /// So that there can be any number of receivers, one after the other.
    #[test]
    fn a_receiver_has_the_number_of_one_that_was_dropped() {
        let mut sender = Sender::<()>::new();
        let _first = sender.mk_receiver();
        for _ in 0..3 {
            drop(sender.mk_receiver());
        }
        assert_eq!(sender.mk_receiver().number, 1);
    }
}
