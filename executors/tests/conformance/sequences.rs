//! One function over many elements.

use super::{
    subject::{Subject, with_pool},
    tools::{Bomb, Counter, Tally, occupy, panic_quietly},
};
use crate::support::{child::Child, gate::Gate, watchdog::until};
use executors::{
    Failure, Pool, TaskError,
    group::partition,
    sequence::{self, ClusterSizeError},
};
use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Barrier},
    time::Duration,
};

/// Each element once, the results in order, and a panic for the element that caused it only.
pub(crate) fn each_element_has_its_result(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        for size in [0, 1, 2, 7, 99, 100, 1000] {
            let calls = Tally::new(100);
            let f = {
                let calls = calls.clone();
                move |number: usize| {
                    calls.add(number);
                    match number % 10 {
                        3 => panic_quietly("expected"),
                        4 => Err("failed"),
                        _ => Ok(number * 2),
                    }
                }
            };
            let group = match size {
                0 => sequence::each(pool, 0..100, f),
                size => sequence::clusters(pool, 0..100, size, f).expect("the size is not 0"),
            };
            assert_eq!(group.len(), 100);
            let parted = partition(group.wait().into_iter().map(Failure::flatten));
            calls.assert_once_each();
            assert_eq!((parted.successes.len(), parted.failures.len()), (80, 20));
            assert!(parted.successes.iter().all(|(place, value)| *value == place * 2));
            for (place, failure) in parted.failures {
                match failure {
                    Failure::Lost(TaskError::Panicked(_)) => assert_eq!(place % 10, 3),
                    Failure::Returned("failed") => assert_eq!(place % 10, 4),
                    other => panic!("element {place}: {other}"),
                }
            }
        }
        pool.join().expect("this is no worker");
        assert_eq!(pool.stats().panicked, 70);
    });
}

/// What the function owns is dropped with its last use, by a job or by the caller; a panic there does not affect the
/// elements.
pub(crate) fn a_function_that_panics_when_dropped_costs_no_result(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        for round in 0..40 {
            let bomb = Bomb;
            let f = move |number: usize| {
                let _captured = &bomb;
                number
            };
            let group = match round % 2 {
                0 => sequence::each(pool, 0..3, f),
                _ => sequence::clusters(pool, 0..3, 2, f).expect("the size is not 0"),
            };
            let results: Result<Vec<_>, _> = group.wait().into_iter().collect();
            assert_eq!(results.expect("no call has panicked"), [0, 1, 2]);
        }
        pool.join().expect("this is no worker");
        assert_eq!(pool.stats().panicked, 0);
    });
}

/// More than one value of a cluster may panic when it is dropped: elements of clusters that do not run, or are left
/// when the iterator panics, results that nobody takes, and results of a group that is dropped half-way.
pub(crate) fn clusters_whose_values_panic_when_dropped_are_survived(subject: &impl Subject) {
    struct Charge;

    impl Drop for Charge {
        fn drop(&mut self) {
            panic_quietly("dropped");
        }
    }

    // A second panic while the first one unwinds would end the process.
    Child::default().run(|| {
        with_pool(subject, 2, |pool| {
            let gate = occupy(pool, 2);
            let unrun = sequence::clusters(pool, [Charge, Charge], 2, mem::forget).expect("the size is not 0");
            assert_eq!(unrun.cancel(), 2);
            let panics = [0, 1, 2].into_iter().map(|n| if n == 2 { panic_quietly("the iterator") } else { Charge });
            let cut_short = catch_unwind(AssertUnwindSafe(|| sequence::clusters(pool, panics, 3, mem::forget)));
            assert!(cut_short.is_err(), "its panic is the caller's");
            gate.open();
            sequence::clusters(pool, 0..2, 2, |_| Charge).expect("the size is not 0").detach();
            pool.join().expect("this is no worker");

            let (gate, ended) = (Gate::default(), Counter::default());
            let count = ended.clone();
            let mut half = sequence::each(pool, 0..2, move |_| {
                count.add();
                Charge
            });
            until("both have run", || ended.get() == 2);
            let closed = gate.clone();
            half.push(pool.submit(move || {
                closed.pass();
                Charge
            }));
            let half = half.wait_timeout(Duration::from_millis(1)).map(mem::forget).expect_err("one waits at the gate");
            drop(half);
            gate.open();
            pool.join().expect("this is no worker");
        });
    });
}

pub(crate) fn a_cluster_is_one_job(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let clusters = |elements, size| sequence::clusters(pool, 0..elements, size, |number| number);
        for (elements, size, jobs) in [(100, 10, 10), (101, 10, 11), (9, 10, 1), (0, 10, 0), (5, usize::MAX, 1)] {
            let before = pool.stats().finished;
            let results: Result<Vec<_>, _> =
                clusters(elements, size).expect("the size is not 0").wait().into_iter().collect();
            assert_eq!(results.expect("no panic"), Vec::from_iter(0..elements));
            pool.join().expect("this is no worker");
            assert_eq!(pool.stats().finished - before, jobs, "{elements} elements by {size}");
        }
        assert_eq!(clusters(10, 0).expect_err("no clusters of 0"), ClusterSizeError);
    });
}

pub(crate) fn clusters_are_cancelled_as_a_whole(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let gate = occupy(pool, 2);
        let calls = Counter::default();
        let count = calls.clone();
        let group = sequence::clusters(pool, 0..95, 10, move |_| count.add()).expect("the size is not 0");
        assert_eq!(group.cancel(), 95);
        let results = group.wait();
        assert_eq!(results.len(), 95);
        assert!(results.iter().all(|result| matches!(result, Err(TaskError::Cancelled))));
        gate.open();
        pool.join().expect("this is no worker");
        assert_eq!(calls.get(), 0);
    });
}

/// Once begun, a cluster can no longer be cancelled, nor can any of its elements.
pub(crate) fn a_cluster_that_has_begun_runs_to_its_end(subject: &impl Subject) {
    with_pool(subject, 1, |pool| {
        let (gate, begun) = (Gate::default(), Arc::new(Barrier::new(2)));
        let (closed, arrived) = (gate.clone(), Arc::clone(&begun));
        let f = move |number| {
            if number == 0 {
                arrived.wait();
                closed.pass();
            }
            number
        };
        let group = sequence::clusters(pool, 0..3, 3, f).expect("the size is not 0");
        begun.wait();
        assert_eq!(group.cancel(), 0);
        gate.open();
        let results: Result<Vec<_>, _> = group.wait().into_iter().collect();
        assert_eq!(results.expect("it was not cancelled"), [0, 1, 2]);
    });
}
