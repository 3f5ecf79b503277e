//! Models of the count, with a cell that loom watches in place of the crew.

use super::{Credit, Holds};
use crate::sync::{
    atomic::{AtomicUsize, Ordering::Relaxed},
    cell::Watch,
    check, thread,
};
use std::sync::Arc;

struct Shared {
    holds: Holds,
    crew: Watch,
    /// How often the crew was dropped.
    drops: AtomicUsize,
}

impl Shared {
    fn new() -> Arc<Self> {
        Arc::new(Shared { holds: Holds::new(), crew: Watch::default(), drops: AtomicUsize::new(0) })
    }

    fn finish(&self, is_last: bool) {
        if is_last {
            self.crew.write();
            self.drops.fetch_add(1, Relaxed);
        }
    }

    /// Ends a hold, of no worker.
    fn let_go(&self) {
        self.crew.read();
        self.finish(self.holds.subtract(1));
    }

    /// What a worker does with holds that it is handed, one after the other: spawns so many, and drops all.
    fn work(&self, handed: usize, spawned: usize) {
        let credit = Credit::default();
        (0..spawned).for_each(|_| credit.spend(&self.holds));
        for _ in 0..handed + spawned {
            self.crew.read();
            credit.gain(&self.holds);
        }
        self.finish(credit.end(&self.holds));
    }
}

/// Two workers have holds, and one who is none: the last of them drops the crew, when all have done with it.
fn workers(spawned: [usize; 2]) {
    check(3, move || {
        let shared = Shared::new();
        let threads = spawned.map(|spawned| {
            shared.holds.add(1);
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.work(1, spawned))
        });
        shared.let_go();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(shared.drops.load(Relaxed), 1);
    });
}

#[test]
fn the_last_drops_the_crew() {
    workers([0, 0]);
}

#[test]
fn a_worker_buys_and_gives_back() {
    workers([2, 1]);
}
