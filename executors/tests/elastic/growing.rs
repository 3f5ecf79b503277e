//! Workers start when jobs need them, and no job waits behind a blocked one while the pool could grow.

use super::tools::{FOR_EVER, end, occupy, pool, settle, sized};
use crate::support::{
    child::Child,
    gate::Gate,
    watchdog::{until, within},
};
use executors::{Executor, Pool, try_execute_locally};
use std::{
    sync::{Arc, Barrier},
    thread,
};

#[test]
fn each_job_starts_a_thread_until_the_core_is_full() {
    within(|| {
        let pool = pool(3, 3, FOR_EVER);
        assert_eq!((pool.worker_count(), pool.stats().workers), (0, 0));
        for job in 1..=5 {
            pool.execute(|| ());
            settle(&pool);
            assert_eq!(pool.worker_count(), job.min(3), "also if workers are idle");
        }
        end(&pool);
    });
}

#[test]
fn beyond_the_core_a_worker_is_hired_only_if_none_is_idle() {
    within(|| {
        let (pool, gate) = (pool(1, 3, FOR_EVER), Gate::default());
        for _ in 0..10 {
            pool.execute(|| ());
            settle(&pool);
            assert_eq!(pool.worker_count(), 1, "the first worker was idle");
        }
        occupy(&pool, &gate);
        assert_eq!((pool.worker_count(), pool.idle_count()), (1, 0));
        occupy(&pool, &gate);
        assert_eq!(pool.worker_count(), 2);
        occupy(&pool, &gate);
        assert_eq!(pool.worker_count(), 3);
        pool.execute(|| ());
        assert_eq!((pool.worker_count(), pool.stats().queued), (3, 1), "this is the maximum");
        gate.open();
        settle(&pool);
        assert_eq!((pool.worker_count(), pool.stats().finished), (3, 14));
        end(&pool);
    });
}

/// One idle worker, and several jobs at once: each job needs a worker because none ends before all have begun. A pool
/// that counted on the idle worker for two of them would leave one waiting behind the other for ever.
#[test]
fn an_idle_worker_is_promised_to_one_job_only() {
    const SUBMITTERS: usize = 4;
    for round in 0..300 {
        within(|| {
            let pool = pool(1, SUBMITTERS + 1, FOR_EVER);
            (0..=round % 2).for_each(|_| pool.execute(|| ()));
            settle(&pool);
            let (start, meeting) = (Barrier::new(SUBMITTERS), Arc::new(Barrier::new(SUBMITTERS + 1)));
            thread::scope(|scope| {
                for _ in 0..SUBMITTERS {
                    scope.spawn(|| {
                        let meeting = Arc::clone(&meeting);
                        start.wait();
                        pool.execute(move || {
                            meeting.wait();
                        });
                    });
                }
            });
            meeting.wait();
            settle(&pool);
            end(&pool);
        });
    }
}

/// The same with one submitter, from inside, and in a batch.
#[test]
fn each_of_several_jobs_has_a_worker_of_its_own() {
    for round in 0..150 {
        within(|| {
            let pool = pool(round % 3, 8, FOR_EVER);
            let meeting = Arc::new(Barrier::new(6));
            let job = |_| {
                let meeting = Arc::clone(&meeting);
                move || {
                    meeting.wait();
                }
            };
            match round % 4 {
                0 => (0..5).for_each(|number| pool.execute(job(number))),
                1 => assert_eq!(pool.execute_batch((0..5).map(job)), 5),
                2 => {
                    let (local, jobs) = (pool.clone(), (0..5).map(job).collect::<Vec<_>>());
                    pool.execute(move || jobs.into_iter().for_each(|job| local.execute(job)));
                }
                _ => {
                    let jobs = (0..5).map(job).collect::<Vec<_>>();
                    pool.execute(move || jobs.into_iter().for_each(|job| drop(try_execute_locally(job))));
                }
            }
            meeting.wait();
            end(&pool);
        });
    }
}

#[test]
fn core_threads_may_be_started_before_the_first_job() {
    within(|| {
        let pool = pool(3, 5, FOR_EVER);
        pool.start_core_threads();
        assert_eq!(pool.worker_count(), 3);
        pool.start_core_threads();
        assert_eq!(pool.worker_count(), 3);
        until("they are idle", || pool.stats().idle == 3);
        pool.execute(|| ());
        settle(&pool);
        assert_eq!(pool.worker_count(), 3);
        end(&pool);
    });
}

/// A worker on the way to its first job counts as idle, and is promised to that job.
#[test]
fn a_starting_worker_counts_as_idle() {
    within(|| {
        let (gate, start) = (Gate::default(), Gate::default());
        let hook = start.clone();
        let pool = sized(0, 2, FOR_EVER).on_start(move |_| hook.pass()).build().expect("two threads");
        let wait = || {
            let gate = gate.clone();
            move || gate.pass()
        };
        pool.execute(wait());
        assert_eq!((pool.worker_count(), pool.idle_count()), (1, 1));
        pool.execute(wait());
        assert_eq!((pool.worker_count(), pool.idle_count()), (2, 2), "the first is promised to the first job");
        start.open();
        until("both are at their jobs", || pool.idle_count() == 0);
        gate.open();
        settle(&pool);
        assert_eq!((pool.worker_count(), pool.idle_count()), (2, 2));
        end(&pool);
    });
}

/// As many blocked threads as some programs have: each job has one.
#[test]
fn thousands_of_threads_may_block() {
    const THREADS: usize = 3000;
    Child::default().run(|| {
        let pool = sized(2, THREADS, FOR_EVER).stack_size(64 << 10).build().expect("this many threads are possible");
        for _ in 0..2 {
            let meeting = Arc::new(Barrier::new(THREADS + 1));
            for _ in 0..THREADS {
                let meeting = Arc::clone(&meeting);
                pool.execute(move || {
                    meeting.wait();
                });
            }
            meeting.wait();
            settle(&pool);
            assert_eq!(pool.worker_count(), THREADS);
        }
        end(&pool);
    });
}
