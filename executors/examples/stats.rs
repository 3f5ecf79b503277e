//! Watch a pool: how many jobs wait, run, have run, have panicked.
//!
//! Run with `cargo run --example stats`. The panic message on the terminal is intended.

use executors::{Executor, Pool, crossbeam_workstealing_pool::small_pool};
use std::sync::{Arc, Barrier};

fn main() {
    let pool = small_pool(2);

    // Both workers are busy and three jobs wait. The barriers keep it so while we look.
    let begun = Arc::new(Barrier::new(3));
    let gate = Arc::new(Barrier::new(3));
    for _ in 0..2 {
        let (begun, gate) = (Arc::clone(&begun), Arc::clone(&gate));
        pool.execute(move || {
            begun.wait();
            gate.wait();
        });
    }
    begun.wait();
    pool.execute(|| ());
    pool.execute(|| ());
    pool.execute(|| panic!("one of the five"));

    let stats = pool.stats();
    println!("{stats:#?}");
    assert_eq!((stats.workers, stats.busy, stats.idle), (2, 2, 0));
    assert_eq!((stats.running, stats.queued, stats.finished), (2, 3, 0));

    gate.wait();
    pool.join().expect("this is not a job of the pool");

    let stats = pool.stats();
    assert_eq!((stats.running, stats.queued), (0, 0));
    assert_eq!((stats.finished, stats.panicked), (5, 1));
    pool.shutdown().expect("nothing is left");
}
