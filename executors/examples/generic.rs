//! Write a library that runs on whatever executor its user has.
//!
//! Run with `cargo run --example generic`.

use executors::{CanExecute, Executor, Pool, crossbeam_channel_pool, crossbeam_workstealing_pool, run_now};
use std::sync::mpsc::{Receiver, channel};

/// Needs an executor that runs jobs, and nothing else: any of ours, or the user's own.
fn squares<E: Executor>(executor: &E, numbers: impl IntoIterator<Item = u64>) -> Receiver<u64> {
    let (sender, receiver) = channel();
    for number in numbers {
        let sender = sender.clone();
        executor.execute(move || {
            // The receiver may be gone.
            let _ = sender.send(number * number);
        });
    }
    receiver
}

/// Needs results, so it asks for a pool.
fn longest<P: Pool>(pool: &P, texts: &[&str]) -> usize {
    let lengths: Vec<_> = texts
        .iter()
        .map(|text| {
            let text = (*text).to_owned();
            pool.submit(move || text.chars().count())
        })
        .collect();
    lengths.into_iter().map(|length| length.wait().expect("counting does not panic")).max().unwrap_or(0)
}

/// Keeps an executor without being generic over it; `Executor` cannot be made into an object, but this can.
struct Logger {
    executor: Box<dyn CanExecute>,
}

impl Logger {
    fn log(&self, line: &'static str) {
        self.executor.execute_job(Box::new(move || println!("{line}")));
    }
}

fn exercise<P: Pool + 'static>(pool: P) {
    let squares = squares(&pool, 1..=10);
    assert_eq!(squares.iter().sum::<u64>(), 385);
    assert_eq!(longest(&pool, &["one", "two", "three"]), 5);

    let logger = Logger { executor: Box::new(pool.clone()) };
    logger.log("written by whatever executor this is");
    pool.shutdown().expect("everything has run");
}

fn main() {
    exercise(crossbeam_workstealing_pool::small_pool(2));
    exercise(crossbeam_channel_pool::ThreadPool::new(2));
    // No threads: good for tests of such a library.
    exercise(run_now::RunNowExecutor::new());
}
