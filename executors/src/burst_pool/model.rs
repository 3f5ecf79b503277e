//! Models of the pools as users see them.

use super::{BurstPool, ThreadPool, WhenBusy};
use crate::{
    Executor, Pool, Rejected, ShutdownReport,
    crew::model::{Pair, Tally, opens, passes},
    sync::{Gate, check, check_at_length, thread},
};
use std::{sync::Arc, time::Duration};

/// A pool that takes values, and runs them.
fn pool_of(workers: usize) -> BurstPool<Box<dyn FnOnce() + Send>> {
    let mut pool = BurstPool::new();
    (0..workers).for_each(|_| pool.spawn(|value: Box<dyn FnOnce() + Send>| value()));
    pool
}

/// The first value waits for the second, which lies behind it in the mailbox until there is another worker.
#[test]
fn a_new_worker_takes_the_waiting_value_of_a_busy_one() {
    check(2, || {
        loom::stop_exploring(); // how the first worker becomes busy
        let (mut pool, pair) = (pool_of(1), Pair::default());
        let [one, other] = pair.jobs().map(Box::new);
        assert!(pool.send(one).is_ok());
        pair.0[0].pass();
        assert!(pool.send(other).is_ok());
        loom::explore();
        pool.spawn(|value| value());
        pair.meet();
        loom::skip_branch();
        assert_eq!(pool.shutdown_timeout(Duration::MAX).unwrap().finished, 2);
    });
}

/// The thread that comes for a late value has no handler of its own.
#[test]
fn a_late_value_is_handled_or_given_back() {
    check(2, || {
        let (pool, ran) = (Arc::new(pool_of(1)), Tally::default());
        let submitter = thread::spawn({
            let (pool, mark) = (Arc::clone(&pool), ran.mark());
            move || pool.send(Box::new(mark)).is_ok()
        });
        let _ = pool.shutdown_timeout(Duration::MAX).unwrap();
        let accepted = submitter.join().unwrap();
        loom::skip_branch();
        let _ = pool.shutdown_timeout(Duration::MAX).unwrap(); // for the late shift
        assert_eq!(ran.count(), usize::from(accepted));
    });
}

fn blocking_pool(workers: usize) -> ThreadPool {
    let when_busy = WhenBusy::Block { timeout: None };
    ThreadPool::builder().threads(workers).when_busy(when_busy).build().unwrap()
}

/// Each worker may be running the job that was dealt to the other. The submitter of the third job waits until the first
/// has ended, and the second job waits for the third.
#[test]
fn a_thief_that_is_done_lets_a_submitter_go_on() {
    check_at_length(2, || {
        let (pool, gate) = (blocking_pool(2), Arc::new(Gate::default()));
        pool.execute(|| ());
        pool.execute(passes(&gate));
        pool.execute(opens(&gate));
        gate.pass();
        loom::skip_branch();
        assert_eq!(pool.shutdown_timeout(Duration::MAX).unwrap().finished, 3);
    });
}

/// Calls `end` to close a pool whose only worker stays busy until a waiting submitter has returned. Returns whether
/// that submitter's job was accepted, and the report.
fn end_while_one_waits(end: impl FnOnce(&ThreadPool)) -> (bool, ShutdownReport) {
    let (pool, gate) = (blocking_pool(1), Arc::new(Gate::default()));
    pool.execute(passes(&gate));
    let waits = thread::spawn({
        let pool = pool.clone();
        move || match pool.try_execute(|| ()) {
            Ok(()) => true,
            Err(error) => {
                assert!(matches!(error, Rejected::Closed(_)));
                false
            }
        }
    });
    end(&pool);
    let accepted = waits.join().unwrap();
    gate.open();
    loom::skip_branch();
    (accepted, pool.shutdown_timeout(Duration::MAX).unwrap())
}

#[test]
fn a_waiting_submitter_gives_up_at_the_close() {
    check(2, || {
        let (accepted, report) = end_while_one_waits(ThreadPool::shutdown_async);
        assert_eq!((accepted, report.finished), (false, 1));
    });
}

/// It comes late if it is looking for an idle worker while the job that keeps the worker busy is dropped before it
/// begins.
#[test]
fn a_waiting_submitter_gives_up_or_comes_late_when_jobs_are_discarded() {
    check(2, || {
        let (accepted, report) = end_while_one_waits(|pool| _ = pool.shutdown_now());
        assert_eq!(report.finished + report.discarded, 1 + u64::from(accepted));
    });
}
