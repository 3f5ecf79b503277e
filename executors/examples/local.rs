//! Jobs that spawn jobs: on the same pool, without carrying a handle to it around.
//!
//! Run with `cargo run --example local`.

use executors::{Pool, crossbeam_workstealing_pool::small_pool, try_execute_locally};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// Counts the nodes of a binary tree, a job for each node.
fn count(height: u32, nodes: Arc<AtomicU64>) {
    nodes.fetch_add(1, Ordering::Relaxed);
    if height > 0 {
        for _ in 0..2 {
            let nodes = Arc::clone(&nodes);
            // The job goes to the queue of the worker that runs us; workers without work steal it from there.
            spawn(move || count(height - 1, nodes));
        }
    }
}

/// Runs `job` on the pool whose job we are in, or at once if we are in none.
fn spawn(job: impl FnOnce() + Send + 'static) {
    if let Err(job) = try_execute_locally(job) {
        job();
    }
}

fn main() {
    let pool = small_pool(4);
    let nodes = Arc::new(AtomicU64::new(0));

    let root = Arc::clone(&nodes);
    pool.submit(move || count(15, root)).detach();

    // Waits for the root and for all that has come from it.
    pool.join().expect("this is not a job of the pool");
    assert_eq!(nodes.load(Ordering::Relaxed), (1 << 16) - 1);
    assert_eq!(pool.stats().finished, (1 << 16) - 1);

    // The main thread is no worker, so the same function runs here, in place.
    count(3, Arc::clone(&nodes));
    assert_eq!(nodes.load(Ordering::Relaxed), (1 << 16) - 1 + 15);
    assert_eq!(pool.stats().finished, (1 << 16) - 1);
}
