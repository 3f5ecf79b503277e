//! `RunNowExecutor` and several threads: each that submits a job is a worker for as long as that runs.

mod support;

use executors::{Executor, Pool, ShutdownError, WaitError, run_now::RunNowExecutor, try_execute_locally};
use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};
use support::{
    gate::Gate,
    watchdog::{PATIENCE, within},
};

const SHORT: Duration = Duration::from_millis(2);

/// While `body` runs, jobs of this many other threads run, until it opens the gate.
fn beside_others(others: usize, body: impl FnOnce(&RunNowExecutor, &Gate)) {
    within(|| {
        let (executor, gate, arrived) = (RunNowExecutor::new(), Gate::default(), Arc::new(Barrier::new(others + 1)));
        thread::scope(|scope| {
            for _ in 0..others {
                scope.spawn(|| {
                    let (gate, arrived) = (gate.clone(), Arc::clone(&arrived));
                    executor.execute(move || {
                        arrived.wait();
                        gate.pass();
                    });
                });
            }
            arrived.wait();
            body(&executor, &gate);
        });
    });
}

#[test]
fn a_wait_lasts_until_the_jobs_of_other_threads_have_ended() {
    beside_others(2, |executor, gate| {
        assert_eq!(executor.join_timeout(SHORT), Err(WaitError::TimedOut));
        assert_eq!((executor.stats().running, executor.stats().finished), (2, 0));
        thread::scope(|scope| {
            let waiters = [(); 2].map(|()| scope.spawn(|| executor.join().map(|()| executor.stats().finished)));
            gate.open();
            for waiter in waiters {
                assert_eq!(waiter.join().expect("it does not panic"), Ok(2));
            }
        });
    });
}

#[test]
fn a_shutdown_says_how_many_jobs_still_run() {
    beside_others(2, |executor, gate| {
        match executor.shutdown_timeout(SHORT) {
            Err(ShutdownError::TimedOut { workers: 2, report, .. }) => {
                assert_eq!((report.running, report.finished, report.queued), (2, 0, 0));
            }
            other => panic!("two jobs run, but: {other:?}"),
        }
        gate.open();
        let report = executor.shutdown_timeout(PATIENCE).expect("nothing blocks");
        assert_eq!((report.running, report.finished), (0, 2));
    });
}

/// What has been accepted has run when the shutdown returns.
#[test]
fn submitters_race_with_a_close() {
    for _ in 0..1000 {
        within(|| {
            let (executor, ran, start) = (RunNowExecutor::new(), Arc::new(AtomicBool::new(false)), Barrier::new(2));
            thread::scope(|scope| {
                let submitter = scope.spawn(|| {
                    let ran = Arc::clone(&ran);
                    start.wait();
                    executor.try_execute(move || ran.store(true, Relaxed)).is_ok()
                });
                start.wait();
                let _ = executor.shutdown_timeout(PATIENCE).expect("nothing blocks");
                let has_run = ran.load(Relaxed);
                assert_eq!(submitter.join().expect("it does not panic"), has_run);
            });
        });
    }
}

/// Submits a job in each way, from a job that has called `close`. Returns how many have run.
fn children_after(close: fn(&RunNowExecutor)) -> usize {
    let (executor, ran) = (RunNowExecutor::new(), Arc::new(AtomicUsize::new(0)));
    let (inner, count) = (executor.clone(), Arc::clone(&ran));
    let child = move || {
        let count = Arc::clone(&count);
        move || _ = count.fetch_add(1, Relaxed)
    };
    executor.execute(move || {
        close(&inner);
        thread::scope(|scope| {
            let refused = scope.spawn(|| inner.try_execute(child()).is_err());
            assert!(refused.join().expect("it does not panic"), "it comes from outside");
        });
        inner.execute(child());
        assert!(try_execute_locally(child()).is_ok(), "this is a job");
    });
    ran.load(Relaxed)
}

#[test]
fn a_job_may_submit_others_after_the_close_but_not_after_shutdown_now() {
    assert_eq!(children_after(RunNowExecutor::shutdown_async), 2);
    assert_eq!(children_after(|executor| _ = executor.shutdown_now()), 0);
}
