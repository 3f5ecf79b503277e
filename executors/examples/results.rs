//! Submit jobs to a pool and collect their results through a channel.
//!
//! Run with `cargo run --example results`.

use executors::{crossbeam_workstealing_pool, *};
use std::sync::mpsc::channel;

fn main() {
    let n_workers = 4;
    let n_jobs = 8;
    let pool = crossbeam_workstealing_pool::small_pool(n_workers);

    let (tx, rx) = channel();
    for _ in 0..n_jobs {
        let tx = tx.clone();
        pool.execute(move || {
            tx.send(1).expect("channel will be there waiting for the pool");
        });
    }

    assert_eq!(rx.iter().take(n_jobs).sum::<u64>(), 8);

    // Many small jobs at once are cheaper as a batch, which is announced to workers in a few steps, not job by job.
    let jobs = (0..100_u64).map(|number| {
        let tx = tx.clone();
        move || tx.send(number * number).expect("channel will be there waiting for the pool")
    });
    assert_eq!(pool.execute_batch(jobs), 100);

    // Without the last sender the channel ends by itself when the last job has run.
    drop(tx);
    assert_eq!(rx.iter().sum::<u64>(), 328_350);

    pool.shutdown().expect("all jobs have run");
}
