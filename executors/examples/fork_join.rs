//! Sort a vector in place, on all workers: each job divides the slice that it borrows.
//!
//! Run with `cargo run --release --example fork_join`. The panic message on the terminal is intended.

use executors::{Executor, crossbeam_workstealing_pool::ThreadPool};
use std::time::Instant;

/// Slices of up to this length are not worth a fork.
const FEW: usize = 1000;

fn sort(pool: &ThreadPool, numbers: &mut [u64]) {
    if numbers.len() <= FEW {
        return numbers.sort_unstable();
    }
    let (small, large) = divide(numbers);
    pool.fork_join(|| sort(pool, small), || sort(pool, large));
}

/// Moves those that are smaller than one of them in front of it, and the others after it.
fn divide(numbers: &mut [u64]) -> (&mut [u64], &mut [u64]) {
    let middle = numbers.len() / 2;
    let (small, _middle, large) = numbers.select_nth_unstable(middle);
    (small, large)
}

fn main() {
    let pool = ThreadPool::default();
    let mut numbers: Vec<u64> = (1..=2_000_000_u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();

    // From outside: a job of the pool does both parts, and this thread waits. Nothing is copied or allocated.
    let begin = Instant::now();
    sort(&pool, &mut numbers);
    println!("sorted {} numbers in {:?}", numbers.len(), begin.elapsed());
    assert!(numbers.is_sorted());

    // The results of both are returned, and a panic of either is propagated, when both have ended.
    let thrown = std::panic::catch_unwind(|| pool.fork_join(|| 1, || -> u32 { panic!("no such luck") }));
    assert!(thrown.is_err_and(|payload| payload.downcast_ref() == Some(&"no such luck")));
    assert_eq!(pool.fork_join(|| "one", || "other"), ("one", "other"));

    pool.shutdown().expect("nothing is left");
}
