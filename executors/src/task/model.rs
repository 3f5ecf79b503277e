//! Models of a task: whatever job and handle do at the same time, it has one outcome.

use super::{TaskHandle, task};
use crate::{
    error::TaskError,
    local::{Home, PoolId},
    sync::{
        Arc, Goal,
        atomic::{AtomicUsize, Ordering::Relaxed},
        check_reaching, thread,
    },
};
use std::sync::atomic::AtomicUsize as Uncounted;

/// How often a task has run.
#[derive(Default)]
struct Runs {
    count: AtomicUsize,
    /// By the thread that has the handle. Not loom's: not part of what is modelled.
    by_waiter: Uncounted,
}

impl Runs {
    /// Returns whether it ran for the first time. The thread that has the handle is the model's `own`.
    fn count(&self, own: thread::ThreadId) -> bool {
        self.by_waiter.fetch_add(usize::from(thread::current().id() == own), Relaxed);
        self.count.fetch_add(1, Relaxed) == 0
    }

    fn number(&self) -> usize {
        self.count.load(Relaxed)
    }
}

/// Gives a task's job to one thread and its handle to another. The task's result is whether it ran for the first time.
fn share<const N: usize>(
    goals: [&'static str; N],
    with_job: fn(Box<dyn FnOnce() + Send>),
    with_handle: impl Fn(TaskHandle<bool>, &Runs, [Goal; N]) + Send + Sync + 'static,
) {
    check_reaching(3, goals, move |goals| {
        let runs = Arc::new(Runs::default());
        let (job, handle) = task(Home::of(PoolId::of(&*runs)), {
            let (runs, own) = (Arc::clone(&runs), thread::current().id());
            move || runs.count(own)
        });
        let worker = thread::spawn(move || with_job(Box::new(job)));
        with_handle(handle, &runs, goals);
        worker.join().unwrap();
        assert!(runs.number() <= 1);
    });
}

fn run(job: Box<dyn FnOnce() + Send>) {
    job();
}

#[test]
fn a_result_reaches_the_waiter() {
    share([], run, |handle, runs, []| {
        assert!(handle.wait().unwrap());
        assert_eq!(runs.number(), 1);
    });
}

#[test]
fn the_waiter_is_told_of_a_job_that_never_runs() {
    share([], drop, |handle, runs, []| {
        assert!(matches!(handle.wait(), Err(TaskError::Dropped)));
        assert_eq!(runs.number(), 0);
    });
}

#[test]
fn a_task_runs_or_is_cancelled() {
    share(RUNS_OR_IS_CANCELLED, run, cancel_and_wait);
}

const RUNS_OR_IS_CANCELLED: [&str; 2] = ["it runs", "it is cancelled"];

fn cancel_and_wait(handle: TaskHandle<bool>, runs: &Runs, [does_run, is_cancelled]: [Goal; 2]) {
    let cancelled = handle.cancel();
    does_run.is_reached_if(!cancelled);
    is_cancelled.is_reached_if(cancelled);
    match handle.wait() {
        Ok(first) => assert!(first && !cancelled),
        Err(TaskError::Cancelled) => assert!(cancelled && runs.number() == 0),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_task_is_dropped_or_cancelled() {
    share(["it is dropped", "it is cancelled"], drop, |handle, _runs, [is_dropped, is_cancelled]| {
        let cancelled = handle.cancel();
        is_dropped.is_reached_if(!cancelled);
        is_cancelled.is_reached_if(cancelled);
        match handle.wait() {
            Err(TaskError::Dropped) => assert!(!cancelled),
            Err(TaskError::Cancelled) => assert!(cancelled),
            other => panic!("{other:?}"),
        }
    });
}

/// Like a worker that waits for a task of its own pool.
#[test]
fn a_task_runs_on_its_waiter_or_in_the_pool() {
    share(ON_WAITER_OR_IN_POOL, run, help_and_wait);
}

const ON_WAITER_OR_IN_POOL: [&str; 2] = ["it runs on its waiter", "it runs in the pool"];

fn help_and_wait(handle: TaskHandle<bool>, runs: &Runs, [on_waiter, in_pool]: [Goal; 2]) {
    handle.task.run_if_queued();
    assert!(handle.wait().unwrap());
    assert_eq!(runs.number(), 1);
    on_waiter.is_reached_if(runs.by_waiter.load(Relaxed) == 1);
    in_pool.is_reached_if(runs.by_waiter.load(Relaxed) == 0);
}

/// What a pool polls, and the handle: as above, for a future that ends at its second step.
#[cfg(feature = "_futures")]
mod continuation {
    use super::*;
    use crate::{
        sync::{
            atomic::Ordering::{Acquire, Release},
            check,
        },
        task::{block_on, continuation},
    };
    use std::{
        future::{Future, poll_fn},
        task::{Context, Poll, Waker},
    };

    /// Lets one thread poll a future as a pool does, at most `polls` times, and then drop it; another thread has its
    /// handle.
    fn share<const N: usize>(
        goals: [&'static str; N],
        polls: usize,
        with_handle: impl Fn(TaskHandle<bool>, &Runs, [Goal; N]) + Send + Sync + 'static,
    ) {
        check_reaching(3, goals, move |goals| {
            let runs = Arc::new(Runs::default());
            let (count, own) = (Arc::clone(&runs), thread::current().id());
            // Suspended once.
            let mut has_begun = false;
            let future = poll_fn(move |context| {
                if !std::mem::replace(&mut has_begun, true) {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(count.count(own))
            });
            let (driver, handle) = continuation(Home::of(PoolId::of(&*runs)), future);
            let worker = thread::spawn(move || {
                let mut driver = Box::pin(driver);
                for _ in 0..polls {
                    if driver.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                        break;
                    }
                }
            });
            with_handle(handle, &runs, goals);
            worker.join().unwrap();
            assert!(runs.number() <= 1);
        });
    }

    #[test]
    fn a_result_reaches_the_waiter() {
        share([], 2, |handle, _runs, []| assert!(handle.wait().unwrap()));
    }

    #[test]
    fn the_waiter_is_told_of_the_end_of_a_suspended_future() {
        share([], 1, |handle, runs, []| {
            assert!(matches!(handle.wait(), Err(TaskError::Dropped)));
            assert_eq!(runs.number(), 0);
        });
    }

    #[test]
    fn a_future_runs_or_is_cancelled() {
        share(RUNS_OR_IS_CANCELLED, 2, cancel_and_wait);
    }

    /// Like a worker that waits for a future of its own pool.
    #[test]
    fn a_future_runs_on_its_waiter_or_in_the_pool() {
        share(ON_WAITER_OR_IN_POOL, 2, help_and_wait);
    }

    /// The same, where the pool drops it.
    #[test]
    fn a_future_runs_on_its_waiter_or_is_dropped() {
        share(["it runs", "it is dropped"], 1, |handle, runs, [does_run, is_dropped]| {
            handle.task.run_if_queued();
            let outcome = handle.wait();
            does_run.is_reached_if(outcome.is_ok());
            is_dropped.is_reached_if(outcome.is_err());
            match outcome {
                Ok(first) => assert!(first && runs.number() == 1),
                Err(TaskError::Dropped) => assert_eq!(runs.number(), 0),
                Err(other) => panic!("{other}"),
            }
        });
    }

    /// Each of two threads does something and then wakes the future. It ends when it sees that both have: after the
    /// last wake at the latest, also if one poll answers both wakes. Fails if the alarm is set by a store.
    #[test]
    fn a_future_sees_what_each_thread_has_done_that_has_woken_it() {
        check(3, || {
            let (done, mut threads) = (Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]), Vec::new());
            block_on(poll_fn(|context| {
                if threads.is_empty() {
                    threads.extend((0..2).map(|number| {
                        let (done, waker) = (Arc::clone(&done), context.waker().clone());
                        thread::spawn(move || {
                            done[number].store(1, Release);
                            waker.wake();
                        })
                    }));
                }
                if done.iter().all(|it| it.load(Acquire) == 1) { Poll::Ready(()) } else { Poll::Pending }
            }));
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
    }
}
