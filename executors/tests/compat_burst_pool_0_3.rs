//! What programs written for the pool of the crate burst-pool, which it had up to version 0.3, rely on.
#![cfg(feature = "compat-burst-pool")]

mod support;

use executors::compat::burst_pool::{BurstError, BurstPool};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
        mpsc::channel,
    },
    thread,
    time::Duration,
};
use support::watchdog::watch;

/// The struct has no bounds, and the error has one variant.
#[test]
fn a_pool_without_workers_gives_the_value_back() {
    struct Owner<T> {
        pool: BurstPool<T>,
    }

    let mut owner = Owner { pool: BurstPool::new() };
    let BurstError::NoThreads(value) = owner.pool.send(7).unwrap_err();
    assert_eq!(value, 7);
    owner.pool.spawn(drop);
    owner.pool.send(value).unwrap();
}

#[test]
fn dropping_a_pool_waits_for_what_was_sent() {
    let _watchdog = watch();
    let handled = Arc::new(AtomicUsize::new(0));
    let mut pool = BurstPool::new();
    for _ in 0..2 {
        let handled = Arc::clone(&handled);
        pool.spawn(move |milliseconds| {
            thread::sleep(Duration::from_millis(milliseconds));
            handled.fetch_add(1, Relaxed);
        });
    }
    for _ in 0..10 {
        pool.send(5).unwrap();
    }
    drop(pool);
    assert_eq!(handled.load(Relaxed), 10);
    assert_eq!(Arc::strong_count(&handled), 1, "the handlers have been dropped, too");
}

/// Even if one is busy, and another idle.
#[test]
fn values_go_to_the_workers_in_turn() {
    let _watchdog = watch();
    let mut pool = BurstPool::new();
    let ((tell, told), (open, gate)) = (channel(), channel());
    let first = tell.clone();
    pool.spawn(move |value: usize| {
        if value == 0 {
            gate.recv().unwrap();
        }
        first.send((0, value)).unwrap();
    });
    for worker in 1..3 {
        let tell = tell.clone();
        pool.spawn(move |value| tell.send((worker, value)).unwrap());
    }
    drop(tell);
    for value in 0..90 {
        pool.send(value).unwrap();
    }
    let others: Vec<_> = told.iter().take(60).collect();
    assert!(others.iter().all(|&(worker, value)| worker == value % 3 && worker > 0));
    open.send(()).unwrap();
    drop(pool);
    let by_first = (0..90).step_by(3).map(|value| (0, value));
    assert_eq!(told.iter().collect::<Vec<_>>(), by_first.collect::<Vec<_>>());
}

#[test]
fn a_worker_that_is_added_has_its_turn_next() {
    let (tell, told) = channel();
    let mut pool = BurstPool::new();
    for (worker, values) in [(0, 0..1), (1, 1..2), (2, 2..6)] {
        let tell = tell.clone();
        pool.spawn(move |value| tell.send((value, worker)).unwrap());
        values.for_each(|value| pool.send(value).unwrap());
    }
    drop(pool);
    let mut handled: Vec<_> = told.try_iter().collect();
    handled.sort_unstable();
    assert_eq!(handled, [(0, 0), (1, 1), (2, 2), (3, 0), (4, 1), (5, 2)]);
}

#[test]
fn handlers_that_panic_go_on() {
    let (tell, told) = channel();
    let mut pool = BurstPool::new();
    pool.spawn(move |value| {
        assert_ne!(value, 1, "expected");
        tell.send(value).unwrap();
    });
    for value in 1..4 {
        pool.send(value).unwrap();
    }
    drop(pool);
    assert_eq!(told.iter().collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn handlers_may_drop_their_own_pool() {
    let _watchdog = watch();
    let (slot, (tell, told)) = (Arc::new(Mutex::new(None)), channel());
    let mut pool = BurstPool::new();
    let own = Arc::clone(&slot);
    pool.spawn(move |value| {
        let pool = own.lock().unwrap().take();
        drop(pool);
        tell.send(value).unwrap();
    });
    let mut slot = slot.lock().unwrap();
    let pool = slot.insert(pool);
    pool.send(1).unwrap();
    pool.send(2).unwrap();
    drop(slot);
    assert_eq!(told.iter().collect::<Vec<_>>(), [1, 2]);
}
