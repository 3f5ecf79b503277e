//! Waiting for the end of jobs, and of the pool.

use super::tools::{AT_ONCE, FOR_EVER, end, occupy, pool, sized};
use crate::support::{
    gate::Gate,
    watchdog::{PATIENCE, until, until_waiting, within},
};
use executors::{Executor, FuturesExecutor, Pool, ShutdownError, elastic_pool::Saturation};
use futures::executor::block_on;
use std::{
    hint,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

/// Jobs that spawn jobs on workers that come and go: when a join returns, all have ended.
#[test]
fn a_join_returns_after_the_last_job() {
    for (core, max, keep_alive) in [(0, 3, AT_ONCE), (1, 2, AT_ONCE), (2, 4, FOR_EVER)] {
        within(|| {
            let pool = pool(core, max, keep_alive);
            let ended = Arc::new(AtomicUsize::new(0));
            for round in 1..=500 {
                let (local, count) = (pool.clone(), Arc::clone(&ended));
                pool.execute(move || {
                    let again = Arc::clone(&count);
                    local.execute(move || {
                        (0..100).for_each(|_| hint::spin_loop());
                        again.fetch_add(1, SeqCst);
                    });
                    count.fetch_add(1, SeqCst);
                });
                pool.join().expect("this is no worker");
                assert_eq!(ended.load(SeqCst), 2 * round);
            }
            end(&pool);
        });
    }
}

/// Pools that are closed while their workers leave, or before there are any.
#[test]
fn a_pool_may_end_at_any_time() {
    for round in 0..600 {
        within(|| {
            let pool = pool(round % 2, 2, AT_ONCE);
            let jobs = round % 4;
            (0..jobs).for_each(|_| pool.execute(|| ()));
            (0..round % 300).for_each(|_| hint::spin_loop());
            end(&pool);
            assert_eq!(pool.stats().finished, jobs as u64);
        });
    }
}

/// Even if there is no worker any more that could see the end.
#[test]
fn a_future_woken_after_the_end_is_cancelled() {
    within(|| {
        let pool = pool(0, 1, AT_ONCE);
        let (wake, woken) = futures::channel::oneshot::channel::<u8>();
        let waiting = pool.spawn(woken).fallible();
        pool.submit(|| ()).wait().expect("no panic");
        until("the worker has left", || pool.stats().workers == 0);
        end(&pool);
        let _ = wake.send(1);
        assert!(block_on(waiting).is_none());
        assert_eq!(pool.stats().workers, 0, "no worker is hired for it");
    });
}

/// A job that its submitter runs has to end, too, although all threads have left.
#[test]
fn the_end_waits_for_a_job_that_its_submitter_runs() {
    within(|| {
        let pool = sized(0, 1, AT_ONCE).when_saturated(Saturation::RunOnCaller { queue: 0 });
        let pool = pool.build().expect("one thread");
        let (worker, caller) = (Gate::default(), Gate::default());
        occupy(&pool, &worker);
        thread::scope(|scope| {
            scope.spawn(|| {
                let gate = caller.clone();
                pool.execute(move || gate.pass());
            });
            until("the caller runs it", || pool.stats().running == 2);
            worker.open();
            until("the worker has left", || pool.stats().workers == 0);
            let error = pool.shutdown_timeout(Duration::from_millis(20)).expect_err("a job is running");
            let ShutdownError::TimedOut { workers, report, .. } = error else { panic!("{error}") };
            assert_eq!((workers, report.running), (0, 1));
            caller.open();
            end(&pool);
            assert_eq!(pool.stats().finished, 2);
        });
    });
}

/// The pool ends, though a job on its submitter's thread has dropped handles, and no worker counts that.
#[test]
fn handles_that_a_job_on_its_submitters_thread_has_dropped_count_no_more() {
    within(|| {
        let (mark, gate) = (Arc::new(()), Gate::default());
        let kept = Arc::clone(&mark);
        let builder = sized(0, 1, FOR_EVER).when_saturated(Saturation::RunOnCaller { queue: 0 });
        let pool = builder.panic_handler(move |_| drop(kept.clone())).build().expect("one thread");
        occupy(&pool, &gate);
        let own = pool.clone();
        pool.execute(move || drop((own.clone(), own)));
        assert_eq!(pool.stats().finished, 1, "it has run here");
        drop(pool);
        gate.open();
        until("all threads have left", || Arc::strong_count(&mark) == 1);
    });
}

/// Whether or not the pool has ever had a worker.
#[test]
fn no_core_worker_is_hired_after_the_end() {
    for jobs in [0, 1] {
        within(|| {
            let started = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&started);
            let hook = move |_| {
                count.fetch_add(1, SeqCst);
            };
            let pool = sized(2, 2, FOR_EVER).on_start(hook).build().expect("two threads");
            (0..jobs).for_each(|_| pool.execute(|| ()));
            let other = pool.clone();
            end(&pool);
            other.start_core_threads();
            assert_eq!((other.worker_count(), other.stats().workers), (0, 0));
            drop((pool, other));
            // A thread that had been started all the same would own the hook.
            until("no thread has the hook", || Arc::strong_count(&started) == 1);
            assert_eq!(started.load(SeqCst), jobs);
        });
    }
}

/// With and without a timeout; even if the worker that ends the last job leaves, and a new job comes before the waiters
/// look.
#[test]
fn all_waiters_are_released_together() {
    const WAITERS: usize = 8;
    within(|| {
        let pool = pool(0, 1, AT_ONCE);
        for _ in 0..20 {
            let (first, second) = (Gate::default(), Gate::default());
            let pool = &pool;
            occupy(pool, &first);
            thread::scope(|scope| {
                let wait = |waiter| move || if waiter % 2 == 0 { pool.join() } else { pool.join_timeout(PATIENCE) };
                let waiters: Vec<_> = (0..WAITERS).map(|waiter| scope.spawn(wait(waiter))).collect();
                until_waiting(pool, WAITERS);
                first.open();
                while pool.stats().busy > 0 {
                    hint::spin_loop();
                }
                occupy(pool, &second);
                assert!(waiters.into_iter().all(|waiter| waiter.join().expect("no panic").is_ok()));
                second.open();
            });
            pool.join().expect("this is no worker");
        }
        end(&pool);
    });
}
