//! Models of the count, with a cell that loom watches in place of the crew.

use super::{Credit, SharedCount, subtract};
use crate::sync::{
    atomic::{AtomicUsize, Ordering::Relaxed},
    cell::Watch,
    check, thread,
};
use std::sync::Arc;

struct Shared {
    count: SharedCount,
    crew: Watch,
    /// How often the crew was dropped.
    drops: AtomicUsize,
}

impl Shared {
    /// With the given number of references.
    fn new(references: usize) -> Arc<Self> {
        let shared = Shared { count: SharedCount::new(), crew: Watch::default(), drops: AtomicUsize::new(0) };
        shared.count.add(references);
        Arc::new(shared)
    }

    fn finish(&self, is_last: bool) {
        if is_last {
            self.crew.write();
            self.drops.fetch_add(1, Relaxed);
        }
    }

    /// Uses and drops a reference, as a thread that is no worker.
    fn let_go(&self) {
        self.crew.read();
        self.finish(subtract(self.count.word(), 1));
    }

    /// The same as a worker.
    fn gain(&self, credit: &Credit) {
        self.crew.read();
        credit.gain(&self.count);
    }

    fn end(&self, credit: &Credit) {
        self.finish(credit.give_back(&self.count));
    }

    /// What a worker does with a reference that it is handed, after it has `made` more: uses and drops them all.
    fn work(&self, made: usize) {
        let credit = Credit::default();
        (0..made).for_each(|_| credit.spend(&self.count));
        (0..=made).for_each(|_| self.gain(&credit));
        self.end(&credit);
    }

    fn assert_over(&self) {
        assert_eq!(self.drops.load(Relaxed), 1);
    }
}

/// Two workers, and a thread that is none, have a reference each: the last drops the crew, when all are done with it.
fn workers(made: [usize; 2]) {
    check(3, move || {
        let shared = Shared::new(3);
        let threads = made.map(|made| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.work(made))
        });
        shared.let_go();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        shared.assert_over();
    });
}

#[test]
fn the_last_reference_drops_the_crew() {
    workers([0, 0]);
}

#[test]
fn a_worker_buys_and_gives_back() {
    workers([2, 1]);
}

/// A worker settles between two jobs, and goes on with no credit.
#[test]
fn a_worker_gives_all_back_and_buys_again() {
    check(2, || {
        let shared = Shared::new(3);
        let worker = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let credit = Credit::default();
                shared.gain(&credit);
                shared.end(&credit);
                credit.spend(&shared.count);
                (0..2).for_each(|_| shared.gain(&credit));
                shared.end(&credit);
            }
        });
        shared.let_go();
        worker.join().unwrap();
        shared.assert_over();
    });
}

/// A worker drops one reference, and spends that credit on another, which another thread drops: it leaves without any.
fn heir(inherit: fn(&Shared)) {
    check(3, move || {
        let shared = Shared::new(2);
        let worker = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let credit = Credit::default();
                shared.gain(&credit);
                credit.spend(&shared.count);
                let heir = thread::spawn({
                    let shared = Arc::clone(&shared);
                    move || inherit(&shared)
                });
                shared.end(&credit);
                heir.join().unwrap();
            }
        });
        shared.let_go();
        worker.join().unwrap();
        shared.assert_over();
    });
}

#[test]
fn a_reference_that_a_worker_made_is_dropped_by_another_thread() {
    heir(Shared::let_go);
}

#[test]
fn a_reference_that_a_worker_made_is_dropped_by_another_worker() {
    heir(|shared| shared.work(0));
}
