//! End a pool: run everything, wait no longer than you like, or drop what has not begun, and know what happened.
//!
//! Run with `cargo run --example shutdown`.

use executors::{Executor, Pool, Rejected, ShutdownError, TaskError, crossbeam_channel_pool::ThreadPool};
use std::{sync::mpsc, thread, time::Duration};

fn main() {
    drain();
    deadline();
    discard();
    from_a_job();
}

/// Jobs that a pool has accepted still run; later ones are given back.
fn drain() {
    let pool = ThreadPool::new(2);
    let jobs: Vec<_> = (0..50).map(|_| pool.submit(|| thread::sleep(Duration::from_millis(1)))).collect();

    pool.shutdown_async();
    let late = pool.try_execute(|| unreachable!("the pool is closed"));
    assert!(matches!(late, Err(Rejected::Closed(_job))));

    let report = pool.shutdown_timeout(Duration::from_secs(10)).expect("fifty short jobs end in time");
    assert_eq!((report.finished, report.discarded), (50, 0));
    assert!(jobs.into_iter().all(|job| job.wait().is_ok()));
}

/// A caller need not wait for a job that takes too long.
fn deadline() {
    let pool = ThreadPool::new(1);
    let (open, gate) = mpsc::channel::<()>();
    pool.execute(move || gate.recv().expect("the gate opens"));
    pool.execute(|| ());

    match pool.shutdown_timeout(Duration::from_millis(50)) {
        Err(ShutdownError::TimedOut { workers, report, .. }) => {
            assert_eq!((workers, report.running + report.queued), (1, 2));
        }
        other => unreachable!("the gate is closed, but the pool says {other:?}"),
    }

    // The jobs go on all the same, and can be waited for once more.
    open.send(()).expect("the job waits for this");
    let report = pool.shutdown_timeout(Duration::from_secs(10)).expect("the gate is open");
    assert_eq!(report.finished, 2);
}

/// Drops what has not begun, and says how much that was.
fn discard() {
    let pool = ThreadPool::new(1);
    let (begin, begun) = mpsc::channel();
    let (open, gate) = mpsc::channel::<()>();
    let running = pool.submit(move || {
        begin.send(()).expect("the main thread listens");
        gate.recv().expect("the gate opens");
    });
    let waiting: Vec<_> = (0..10).map(|_| pool.submit(|| unreachable!("this job never begins"))).collect();
    begun.recv().expect("the first job begins");

    let report = pool.shutdown_now();
    assert_eq!(report.running, 1);
    assert!(waiting.into_iter().all(|job| matches!(job.wait(), Err(TaskError::Dropped))));

    // Running jobs are left alone.
    open.send(()).expect("the job waits for this");
    running.wait().expect("the job returned");
    let report = pool.shutdown_timeout(Duration::from_secs(10)).expect("nothing is left");
    assert_eq!((report.finished, report.discarded), (1, 10));
}

/// A job can close its own pool, but not wait for its end.
fn from_a_job() {
    let pool = ThreadPool::new(1);
    let own = pool.clone();
    let refused = pool.submit(move || own.shutdown_timeout(Duration::from_secs(10)));
    let refused = refused.wait().expect("the job returned");
    assert_eq!(refused, Err(ShutdownError::FromWorker));
    pool.shutdown_timeout(Duration::from_secs(10)).expect("the pool is closed and idle");
}
