//! Counters are right, and exact when nothing runs.

use super::{
    subject::{Crew, Subject, with_pool},
    tools::{names_of, occupy, panic_quietly},
};
use crate::support::watchdog::{PATIENCE, until};
use executors::{Executor, Pool};
use std::{
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    thread,
};

pub(crate) fn a_new_pool_has_done_nothing(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let stats = pool.stats();
        assert_eq!((stats.queued, stats.running, stats.finished), (0, 0, 0));
        assert_eq!((stats.panicked, stats.discarded, stats.steals), (0, 0, 0));
    });
}

/// When a join returns, the jobs that it waited for have been counted.
pub(crate) fn joined_jobs_are_counted(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        for round in 1..=100 {
            (0..3).for_each(|_| pool.execute(|| ()));
            pool.join().expect("this is no worker");
            let stats = pool.stats();
            assert_eq!((stats.queued, stats.running, stats.finished), (0, 0, 3 * round));
        }
    });
}

pub(crate) fn workers_are_counted(subject: &impl Crew) {
    for &threads in subject.sizes() {
        with_pool(subject, threads, |pool| {
            assert_eq!(names_of(pool, threads).len(), threads);
            let stats = pool.stats();
            assert_eq!(stats.workers, threads, "{stats:?}");
            assert_eq!(stats.idle + stats.busy, threads, "{stats:?}");
            assert_eq!(pool.max_workers(), threads);
        });
    }
}

/// Blocked workers and a known backlog.
pub(crate) fn running_and_queued_jobs_are_counted(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        let gate = occupy(pool, 2);
        (0..5).for_each(|_| pool.execute(|| ()));
        assert_eq!(pool.execute_batch((0..4).map(|_| || ())), 4);
        let stats = pool.stats();
        assert_eq!((stats.running, stats.queued, stats.finished), (2, 9, 0), "{stats:?}");
        assert_eq!((stats.busy, stats.idle), (2, 0), "{stats:?}");
        gate.open();
        pool.join().expect("this is no worker");
        let stats = pool.stats();
        assert_eq!((stats.running, stats.queued, stats.finished), (0, 0, 11), "{stats:?}");
    });
}

/// Jobs in a worker's own queue count as queued, too.
pub(crate) fn jobs_spawned_by_jobs_are_counted(subject: &impl Crew) {
    with_pool(subject, 1, |pool| {
        let local = pool.clone();
        let stats = pool.submit(move || {
            (0..6).for_each(|_| local.execute(|| ()));
            local.stats()
        });
        let stats = stats.wait().expect("no panic");
        assert_eq!((stats.running, stats.queued, stats.finished), (1, 6, 0), "{stats:?}");
        pool.join().expect("this is no worker");
        assert_eq!(pool.stats().finished, 7);
    });
}

/// A job that its waiter runs counts once, wherever it was in the queue.
pub(crate) fn jobs_run_by_their_waiters_are_counted_once(subject: &impl Crew) {
    with_pool(subject, 1, |pool| {
        let local = pool.clone();
        let outer = pool
            .submit(move || (0..10).map(|number| local.submit(move || number).wait().expect("no panic")).sum::<i32>());
        assert_eq!(outer.wait().expect("no panic"), 45);
        pool.join().expect("this is no worker");
        let stats = pool.stats();
        assert_eq!((stats.finished, stats.running, stats.queued), (11, 0, 0), "{stats:?}");
    });
}

pub(crate) fn an_idle_pool_reports_all_workers_as_idle(subject: &impl Crew) {
    let threads = subject.at_most(4);
    with_pool(subject, threads, |pool| {
        assert_eq!(names_of(pool, threads).len(), threads);
        until("all workers are idle", || pool.stats().idle == threads);
        assert_eq!(pool.stats().busy, 0);
    });
}

/// No counter of work ever decreases, whenever it is read, even while the pool is discarding jobs.
pub(crate) fn counters_never_go_back(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut last = pool.stats();
                while !over.load(SeqCst) {
                    let now = pool.stats();
                    assert!(now.finished >= last.finished && now.panicked >= last.panicked, "{last:?} then {now:?}");
                    assert!(now.steals >= last.steals && now.wake_ups >= last.wake_ups, "{last:?} then {now:?}");
                    assert!(now.discarded >= last.discarded, "{last:?} then {now:?}");
                    // The submitter to a full pool may run the job itself.
                    assert!(now.workers <= 2 && now.running <= 3, "{now:?}");
                    last = now;
                }
            });
            for _ in 0..20 {
                let local = pool.clone();
                pool.execute(move || (0..20).for_each(|_| local.execute(|| ())));
                (0..19).for_each(|_| pool.execute(|| ()));
                pool.execute(|| panic_quietly("expected"));
                pool.join().expect("this is no worker");
            }
            let gate = occupy(pool, 1);
            let accepted = (0..20).filter(|_| pool.try_execute(|| ()).is_ok()).count() as u64;
            pool.shutdown_now();
            gate.open();
            pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
            over.store(true, SeqCst);
            reader.join().expect("no counter goes back");
            let stats = pool.stats();
            assert_eq!((stats.panicked, stats.finished + stats.discarded), (20, 20 * 41 + 1 + accepted), "{stats:?}");
        });
    });
}
