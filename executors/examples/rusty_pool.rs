//! A program written for the crate rusty_pool, on the elastic pool: only one line is different.
//!
//! Run with `cargo run --example rusty_pool --features compat-rusty-pool-async`.

use executors::compat::rusty_pool::{Builder, JoinHandle, ThreadPool}; // use rusty_pool::{...};
use std::time::Duration;

fn main() {
    let pool: ThreadPool = Builder::new()
        .name(String::from("fetcher"))
        .core_size(2)
        .max_size(16)
        .keep_alive(Duration::from_secs(5))
        .on_worker_start(|| println!("a thread comes"))
        .build();

    let lengths: Vec<JoinHandle<usize>> = ["one", "three", "five"].map(|word| pool.evaluate(move || word.len())).into();
    let sum: usize = lengths.into_iter().map(JoinHandle::await_complete).sum();
    assert_eq!(sum, 12);

    let doubled = pool.spawn_await(async move { 2 * sum });
    assert_eq!(doubled.await_complete(), 24);

    println!("{} has {} threads", pool.get_name(), pool.get_current_worker_count());
    pool.shutdown_join();
}
