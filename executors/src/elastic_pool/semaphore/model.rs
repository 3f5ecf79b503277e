//! A model of the semaphore.

use super::Semaphore;
use crate::sync::{cell::Watch, check, thread};
use std::sync::Arc;

/// Three threads want the only slot, and wait for it. Each writes something while it has the slot, which the next must
/// see.
#[test]
fn a_waiter_gets_a_returned_slot() {
    check(2, || {
        let shared = Arc::new((Semaphore::new(1), Watch::default()));
        let use_slot = |(semaphore, work): &(Arc<Semaphore>, Watch)| {
            let slot = semaphore.take_within(None, || false).expect("no thread waits in vain").occupy();
            work.write();
            drop(slot);
        };
        let others = [(); 2].map(|()| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || use_slot(&shared))
        });
        use_slot(&shared);
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}
