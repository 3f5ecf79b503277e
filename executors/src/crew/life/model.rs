//! A model of threads that start others when a crew ends.

use super::Life;
use crate::sync::{check, thread};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

/// One thread declares the end of a crew that has no thread left to tell of it (the parkers of all have panicked),
/// while a submitter starts another, which may call hooks, and a third thread waits for the end.
#[test]
fn a_late_thread_is_waited_for_or_does_not_start() {
    check(3, || {
        let life = Arc::new(Life::new());
        // Not loom's: what counts is its value at this very moment.
        let has_returned = Arc::new(AtomicBool::new(false));
        let closer = thread::spawn({
            let life = Arc::clone(&life);
            move || assert!(life.end())
        });
        let submitter = thread::spawn({
            let (life, has_returned) = (Arc::clone(&life), Arc::clone(&has_returned));
            move || {
                if life.admits_thread() {
                    thread::yield_now();
                    assert!(!has_returned.load(Relaxed));
                    life.thread_ended();
                }
            }
        });
        assert!(life.await_end(None));
        has_returned.store(true, Relaxed);
        closer.join().unwrap();
        submitter.join().unwrap();
    });
}

/// A thread other than the last one declares the end, while the last one leaves because its parker panicked: one of the
/// two wakes the waiter.
#[test]
fn the_end_and_the_last_thread_are_waited_for() {
    check(3, || {
        let life = Arc::new(Life::new());
        life.thread_starts();
        let closer = thread::spawn({
            let life = Arc::clone(&life);
            move || assert!(life.end())
        });
        let worker = thread::spawn({
            let life = Arc::clone(&life);
            move || life.thread_ended()
        });
        assert!(life.await_end(None));
        closer.join().unwrap();
        worker.join().unwrap();
    });
}
