//! Get the result of a job: wait for it, give up after a while, cancel it, survive its panic.
//!
//! Run with `cargo run --example submit`. The panic message on the terminal is intended.

use executors::{Pool, TaskError, crossbeam_workstealing_pool::small_pool};
use std::{sync::mpsc, time::Duration};

fn main() {
    // A single worker, so that we know what waits for what.
    let pool = small_pool(1);

    // What the closure returns arrives at the handle.
    let answer = pool.submit(|| 6 * 7);
    assert_eq!(answer.wait().expect("the job returned"), 42);

    // So does a panic. The worker lives on.
    let failed = pool.submit(|| -> u32 { panic!("no such luck") });
    match failed.wait() {
        Err(TaskError::Panicked(panic)) => assert_eq!(panic.message(), "no such luck"),
        other => unreachable!("the job panicked, but the handle says {other:?}"),
    }

    // Not every job ends in time. The handle comes back, and can be waited for again.
    let (open, gate) = mpsc::channel::<()>();
    let slow = pool.submit(move || gate.recv().is_ok());
    let slow = slow.wait_timeout(Duration::from_millis(10)).expect_err("the gate is closed");
    assert!(!slow.is_finished());

    // A job that has not begun can be cancelled. This one waits for the slow one, which has the only worker.
    let never = pool.submit(|| unreachable!("this job never runs"));
    assert!(never.cancel());
    assert!(matches!(never.wait(), Err(TaskError::Cancelled)));

    open.send(()).expect("the slow job waits for this");
    assert!(slow.wait().expect("the job returned"));

    // A job may wait for jobs of its own pool, even here, where the pool has one worker.
    let nested = pool.clone();
    let sum = pool.submit(move || {
        let parts: Vec<_> = (1..=3).map(|number| nested.submit(move || number * 10)).collect();
        parts.into_iter().map(|part| part.wait().expect("the part returned")).sum::<i32>()
    });
    assert_eq!(sum.wait().expect("the sum returned"), 60);

    // A handle that is not needed can be detached.
    pool.submit(|| "nobody will know").detach();

    pool.shutdown_timeout(Duration::from_secs(10)).expect("every job ends");
}
