//! Models of a task: whatever job and handle do at the same time, it has one outcome.

use super::{TaskHandle, task};
use crate::{
    error::TaskError,
    local::PoolId,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
        check, thread,
    },
};

/// Lets one thread have a task's job and another its handle. The task's result is whether it ran for the first time.
fn share(
    with_job: fn(Box<dyn FnOnce() + Send>),
    with_handle: impl Fn(TaskHandle<bool>, &AtomicUsize) + Send + Sync + 'static,
) {
    check(3, move || {
        let runs = Arc::new(AtomicUsize::new(0));
        let (job, handle) = task(PoolId::of(&*runs), {
            let runs = Arc::clone(&runs);
            move || runs.fetch_add(1, Relaxed) == 0
        });
        let worker = thread::spawn(move || with_job(Box::new(job)));
        with_handle(handle, &runs);
        worker.join().unwrap();
        assert!(runs.load(Relaxed) <= 1);
    });
}

fn run(job: Box<dyn FnOnce() + Send>) {
    job();
}

#[test]
fn a_result_reaches_who_waits() {
    share(run, |handle, runs| {
        assert!(handle.wait().unwrap());
        assert_eq!(runs.load(Relaxed), 1);
    });
}

#[test]
fn the_end_of_a_job_that_never_runs_reaches_who_waits() {
    share(drop, |handle, runs| {
        assert!(matches!(handle.wait(), Err(TaskError::Dropped)));
        assert_eq!(runs.load(Relaxed), 0);
    });
}

#[test]
fn a_task_runs_or_is_cancelled() {
    share(run, |handle, runs| {
        let cancelled = handle.cancel();
        match handle.wait() {
            Ok(first) => assert!(first && !cancelled),
            Err(TaskError::Cancelled) => assert!(cancelled && runs.load(Relaxed) == 0),
            Err(other) => panic!("{other}"),
        }
    });
}

#[test]
fn a_task_is_dropped_or_cancelled() {
    share(drop, |handle, _runs| {
        let cancelled = handle.cancel();
        match handle.wait() {
            Err(TaskError::Dropped) => assert!(!cancelled),
            Err(TaskError::Cancelled) => assert!(cancelled),
            other => panic!("{other:?}"),
        }
    });
}

/// As a worker does that waits for a task of its own pool.
#[test]
fn a_task_runs_here_or_there() {
    share(run, |handle, runs| {
        handle.task.run_if_queued();
        assert!(handle.wait().unwrap());
        assert_eq!(runs.load(Relaxed), 1);
    });
}
