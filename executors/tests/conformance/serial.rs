//! One element after the other.

use super::{
    subject::{Subject, with_pool},
    tools::{Bomb, Counter, panic_quietly},
};
use executors::{Executor, FuturesExecutor, Pool, TaskError, sequence};
use std::sync::{Arc, Mutex};

/// Elements are processed in order, up to the first failure, which comes with the results from before it.
pub(crate) fn a_serial_sequence_stops_early(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 2, |pool| {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let f = |limit| {
            let calls = Arc::clone(&calls);
            move |number: u32| {
                calls.lock().expect("no panic under this lock").push(number);
                match number {
                    77 => panic_quietly("expected"),
                    number if number < limit => Ok(number * 2),
                    _ => Err("too large"),
                }
            }
        };
        let calls = || std::mem::take(&mut *calls.lock().expect("no panic under this lock"));
        let all = sequence::serial(pool, 0..50, f(50)).wait().expect("no panic").expect("no error");
        assert_eq!(all, Vec::from_iter((0..100).step_by(2)));
        assert_eq!(calls(), Vec::from_iter(0..50));

        let stopped = sequence::serial(pool, 0..50, f(5)).wait().expect("no panic").expect_err("5 is too large");
        assert_eq!((stopped.done, stopped.error), (vec![0, 2, 4, 6, 8], "too large"));
        assert_eq!(calls(), [0, 1, 2, 3, 4, 5]);
        let stopped = sequence::serial(pool, 0.., f(3)).wait().expect("no panic").expect_err("there is no other end");
        assert_eq!((stopped.done, stopped.error), (vec![0, 2, 4], "too large"));
        assert_eq!(calls(), [0, 1, 2, 3]);

        assert!(matches!(sequence::serial(pool, 75..90, f(90)).wait(), Err(TaskError::Panicked(_))));
        assert_eq!(calls(), [75, 76, 77]);
        assert_eq!(sequence::serial(pool, [], f(0)).wait().expect("no panic").expect("no error"), []);
    });
}

/// As in the other sequences: this panic does not affect the elements.
pub(crate) fn a_serial_function_that_panics_when_dropped_costs_no_result(
    subject: &impl Subject<Pool: FuturesExecutor>,
) {
    with_pool(subject, 1, |pool| {
        let f = || {
            let bomb = Bomb;
            move |number: u32| {
                let _captured = &bomb;
                Ok::<_, ()>(number)
            }
        };
        let outside = sequence::serial(pool, 0..3, f()).wait();
        let (inner, f) = (pool.clone(), f());
        let inside = pool.submit(move || sequence::serial(&inner, 0..3, f).wait()).wait();
        for results in [outside, inside.expect("the waiter does not panic")] {
            assert_eq!(results.expect("no call has panicked").expect("no error"), [0, 1, 2]);
        }
        pool.join().expect("this is no worker");
        assert_eq!(pool.stats().panicked, 0);
    });
}

/// The only worker is free for other jobs between two elements.
pub(crate) fn a_serial_sequence_lets_others_run(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 1, |pool| {
        let (others, inner) = (Counter::default(), pool.clone());
        let seen = others.clone();
        let f = move |_| {
            let others = others.clone();
            inner.execute(move || others.add());
            Ok::<_, ()>(seen.get())
        };
        // (A worker may run its own jobs in any order, but it does not leave one behind for ever.)
        let seen = sequence::serial(pool, 0..2000, f).wait().expect("no panic").expect("no error");
        assert!(seen.last() > Some(&0), "none of the jobs given meanwhile ran before the last element");
    });
}
