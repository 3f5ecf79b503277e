//! Replacements for workers that say that they block.

use super::tools::{AT_ONCE, FOR_EVER, end, occupy, pool, settle, sized};
use crate::support::{
    gate::Gate,
    watchdog::{until, within},
};
#[cfg(feature = "workstealing-exec")]
use executors::crossbeam_workstealing_pool;
use executors::{
    Executor, Pool, TaskError,
    elastic_pool::{self, Growth, Saturation, ThreadPool},
    run_now::RunNowExecutor,
};
use futures::channel::oneshot;
use std::{future, mem, sync::mpsc, task::Poll, thread};

/// The pool grows only for workers that block, so that as many are at work as the core has.
#[test]
fn a_blocked_worker_is_replaced() {
    within(|| {
        let pool = sized(1, 3, AT_ONCE).growth(Growth::WhenBlocked).build().expect("three threads");
        let gate = Gate::default();
        occupy(&pool, &gate);
        let waiting = pool.submit(|| ());
        assert_eq!(pool.worker_count(), 1, "no worker says that it blocks");
        gate.open();
        waiting.wait().expect("no panic");

        let (tell, told) = mpsc::channel();
        let outer = pool.submit(move || {
            elastic_pool::blocking(|| {
                let inner = told.recv();
                assert_eq!(elastic_pool::blocking(|| 7), 7, "blocking may be nested");
                inner
            })
        });
        // Before and after the other job has said so, there is one worker that does not block.
        assert_eq!(pool.submit(|| 1).wait().expect("no panic"), 1);
        pool.submit(move || tell.send(5).expect("the other listens")).wait().expect("no panic");
        assert_eq!(outer.wait().expect("no panic"), Ok(5));
        until("the replacement has left", || pool.stats().workers == 1);
        end(&pool);
    });
}

/// However often the worker has said so, and only if it is a worker.
#[test]
fn a_blocked_worker_is_replaced_by_one() {
    within(|| {
        let saturation = Saturation::RunOnCaller { queue: 2 };
        let pool = sized(1, 4, FOR_EVER).growth(Growth::WhenBlocked).when_saturated(saturation).build().expect("four");
        let gate = Gate::default();
        let ((tell, told), inner) = (mpsc::channel(), gate.clone());
        pool.execute(move || {
            elastic_pool::blocking(|| {
                elastic_pool::blocking(|| {
                    tell.send(()).expect("the test listens");
                    inner.pass();
                });
            });
        });
        told.recv().expect("the job begins");
        occupy(&pool, &gate);
        let wait = || {
            let gate = gate.clone();
            move || gate.pass()
        };
        (0..4).for_each(|_| pool.execute(wait()));
        let here = thread::current().id();
        pool.execute(move || {
            assert_eq!(thread::current().id(), here);
            elastic_pool::blocking(|| ());
        });
        assert_eq!((pool.worker_count(), pool.stats().panicked), (2, 0), "one blocks, one is at work");
        gate.open();
        end(&pool);
    });
}

/// A tower of blocked jobs, up to the maximum and no further.
#[test]
fn replacements_end_at_the_maximum() {
    fn stack(pool: ThreadPool, levels: usize) -> usize {
        match levels.checked_sub(1) {
            None => 0,
            Some(left) => {
                let (tell, told) = mpsc::channel();
                let again = pool.clone();
                pool.execute(move || tell.send(stack(again, left)).expect("the parent listens"));
                1 + elastic_pool::blocking(|| told.recv()).expect("the child runs")
            }
        }
    }

    within(|| {
        let pool = sized(1, 9, FOR_EVER).growth(Growth::WhenBlocked).build().expect("nine threads");
        let local = pool.clone();
        assert_eq!(pool.submit(move || stack(local, 8)).wait().expect("no panic"), 8);
        assert_eq!(pool.worker_count(), 9);
        end(&pool);
    });
}

/// Just like a worker that says so, but only while the future waits.
#[test]
fn a_worker_that_waits_for_a_future_is_replaced() {
    within(|| {
        let pool = sized(1, 2, AT_ONCE).growth(Growth::WhenBlocked).build().expect("two threads");
        let gate = Gate::default();
        let (passes, (tell, told)) = (gate.clone(), oneshot::channel());
        let (begin, begun) = mpsc::channel();
        let completed = pool.complete(async move {
            begin.send(()).expect("the test listens");
            passes.pass();
            told.await
        });
        begun.recv().expect("the future begins");
        let other = pool.submit(move || tell.send(5).expect("the future waits"));
        assert_eq!((pool.worker_count(), pool.stats().queued), (1, 1), "the future does not wait yet");
        gate.open();
        other.wait().expect("no panic");
        assert_eq!(completed.wait().expect("no panic"), Ok(5));
        until("the replacement has left", || pool.stats().workers == 1);
        end(&pool);
    });
}

/// A future that has woken itself does not wait.
#[test]
fn a_worker_whose_future_yields_is_not_replaced() {
    within(|| {
        let pool = sized(1, 2, FOR_EVER).growth(Growth::WhenBlocked).build().expect("two threads");
        let gate = Gate::default();
        let passes = gate.clone();
        let (begin, begun) = mpsc::channel();
        let completed = pool.complete(async move {
            begin.send(()).expect("the test listens");
            passes.pass();
            let mut has_yielded = false;
            future::poll_fn(move |context| {
                context.waker().wake_by_ref();
                if mem::replace(&mut has_yielded, true) { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        });
        begun.recv().expect("the future begins");
        let other = pool.submit(|| ());
        gate.open();
        completed.wait().expect("no panic");
        other.wait().expect("no panic");
        assert_eq!(pool.worker_count(), 1);
        end(&pool);
    });
}

#[test]
fn blocking_is_harmless_elsewhere() {
    assert_eq!(elastic_pool::blocking(|| 1), 1);
    within(|| {
        let pool = pool(1, 2, FOR_EVER);
        let failed = pool.submit(|| elastic_pool::blocking(|| panic!("expected by the test"))).wait();
        assert!(matches!(failed, Err(TaskError::Panicked(_))));
        settle(&pool);
        assert!(format!("{pool:?}").contains("blocked: 0"), "{pool:?}");
        end(&pool);
    });
}

/// A worker that runs a job of another executor within its own blocks when that job does.
#[test]
fn a_worker_that_blocks_in_a_nested_executor_is_replaced() {
    within(|| {
        let pool = sized(1, 2, AT_ONCE).growth(Growth::WhenBlocked).build().expect("two threads");
        let (tell, told) = mpsc::channel();
        let inner = RunNowExecutor::new();
        let outer = pool.submit(move || inner.submit(|| elastic_pool::blocking(move || told.recv())).wait());
        pool.execute(move || tell.send(5).expect("the other listens"));
        assert_eq!(outer.wait().expect("no panic").expect("no panic"), Ok(5));
        end(&pool);
    });
}

/// So does one that waits for the parts of a fork, which another pool runs.
#[cfg(feature = "workstealing-exec")]
#[test]
fn a_worker_that_forks_in_another_pool_is_replaced() {
    within(|| {
        let pool = sized(1, 2, AT_ONCE).growth(Growth::WhenBlocked).build().expect("two threads");
        let other = crossbeam_workstealing_pool::ThreadPool::builder().threads(1).build().expect("one thread");
        let (tell, told) = mpsc::channel();
        let forks = other.clone();
        let outer = pool.submit(move || forks.fork_join(move || told.recv(), || 7));
        pool.execute(move || tell.send(5).expect("the part listens"));
        assert_eq!(outer.wait().expect("no panic"), (Ok(5), 7));
        end(&pool);
        other.shutdown().expect("nothing is left");
    });
}
