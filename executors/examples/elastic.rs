//! A pool for jobs that block: it grows when all workers are busy, shrinks when they are not, and says when it is full.
//!
//! Run with `cargo run --example elastic`.

use executors::{
    BuildError, Executor, Pool, Rejected,
    elastic_pool::{self, Growth, Saturation, ThreadPool},
};
use std::{
    sync::{Arc, Barrier, mpsc},
    time::Duration,
};

fn main() -> Result<(), BuildError> {
    grow()?;
    be_full()?;
    replace_the_blocked()
}

/// Threads start with the jobs that need them. Those beyond the core leave.
fn grow() -> Result<(), BuildError> {
    let pool = ThreadPool::builder().core(1).max(50).keep_alive(Duration::from_millis(10)).build()?;
    assert_eq!(pool.worker_count(), 0);

    let all_here = Arc::new(Barrier::new(21));
    for _ in 0..20 {
        let all_here = Arc::clone(&all_here);
        pool.execute(move || {
            all_here.wait();
        });
    }
    all_here.wait();
    println!("{} threads for 20 jobs that wait for each other", pool.worker_count());
    assert!(pool.worker_count() >= 20);

    while pool.worker_count() > 1 {
        std::thread::yield_now();
    }
    println!("{} thread when they have had nothing to do for 10 ms", pool.worker_count());
    pool.shutdown().expect("nothing blocks");
    Ok(())
}

/// An error rather than a hang.
fn be_full() -> Result<(), BuildError> {
    let pool = ThreadPool::builder().core(0).max(2).when_saturated(Saturation::Refuse { queue: 0 }).build()?;
    let (release, held) = mpsc::channel::<()>();
    let held = Arc::new(std::sync::Mutex::new(held));
    for _ in 0..2 {
        let held = Arc::clone(&held);
        let waiting = move || assert!(held.lock().is_ok_and(|held| held.recv().is_err()));
        pool.try_execute(waiting).expect("there are two threads");
    }
    match pool.try_execute(|| ()) {
        Err(Rejected::Full(_job)) => println!("the third job was given back"),
        other => unreachable!("both threads are busy, but the pool says {other:?}"),
    }
    drop(release);
    pool.shutdown().expect("nothing blocks any more");
    Ok(())
}

/// A worker that blocks is replaced, so that as many threads as the core has can go on.
fn replace_the_blocked() -> Result<(), BuildError> {
    let pool = ThreadPool::builder().core(1).max(8).growth(Growth::WhenBlocked).build()?;
    let (tell, told) = mpsc::channel();
    let waiting = pool.submit(move || elastic_pool::blocking(|| told.recv()));
    pool.execute(move || tell.send("from the replacement").expect("the other job waits"));
    println!("{}", waiting.wait().expect("no panic").expect("it was told"));
    pool.shutdown().expect("nothing blocks");
    Ok(())
}
