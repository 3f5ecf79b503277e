//! What the topics share.

use crate::support::{
    gate::Gate,
    watchdog::{PATIENCE, until},
};
use executors::{Builder, Executor, Pool, elastic_pool::ThreadPool};
use std::{sync::mpsc, time::Duration};

/// So long that no worker leaves in a test.
pub(crate) const FOR_EVER: Duration = Duration::MAX;
/// So short that a worker that may leave does so at once.
pub(crate) const AT_ONCE: Duration = Duration::from_nanos(1);

pub(crate) fn sized(core: usize, max: usize, keep_alive: Duration) -> Builder<ThreadPool> {
    ThreadPool::builder().core(core).max(max).keep_alive(keep_alive)
}

pub(crate) fn pool(core: usize, max: usize, keep_alive: Duration) -> ThreadPool {
    sized(core, max, keep_alive).build().expect("these sizes are possible")
}

/// Keeps a worker busy until the gate is opened; returns when it is.
pub(crate) fn occupy(pool: &ThreadPool, gate: &Gate) {
    let ((tell, told), gate) = (mpsc::channel(), gate.clone());
    pool.execute(move || {
        tell.send(()).expect("the test listens");
        gate.pass();
    });
    told.recv().expect("the job begins");
}

/// Waits until all jobs have run and all workers are idle. (When a join returns, all jobs have run, but a worker may
/// still be woken for nothing.)
pub(crate) fn settle(pool: &ThreadPool) {
    pool.join().expect("this is no worker");
    until("all workers are idle", || pool.idle_count() == pool.worker_count());
}

pub(crate) fn end(pool: &ThreadPool) {
    let report = pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
    assert_eq!((report.running, report.queued), (0, 0));
    assert_eq!((pool.stats().workers, pool.worker_count(), pool.idle_count()), (0, 0, 0));
}
