//! Futures in both forms, and panics.

use super::tools::{AT_ONCE, FOR_EVER, end, pool, settle};
use crate::support::{
    suspend,
    watchdog::{until, within},
};
use executors::{Executor, FuturesExecutor, Pool, group::Group};
use futures::executor::block_on;
use std::{future, task::Poll, thread};

#[test]
fn futures_run_on_one_worker_or_step_by_step() {
    within(|| {
        let pool = pool(1, 2, AT_ONCE);
        assert_eq!(pool.complete(async { 6 * 7 }).wait().expect("no panic"), 42);
        let yielding = async {
            for _ in 0..10 {
                suspend::yield_once().await;
            }
            8
        };
        assert_eq!(block_on(pool.spawn(yielding)), 8);
        let (tell, told) = futures::channel::oneshot::channel();
        let waiting = pool.complete(told);
        pool.execute(move || tell.send(9).expect("the future waits"));
        assert_eq!(waiting.wait().expect("no panic"), Ok(9));
        end(&pool);
    });
}

/// The future waits for a closure of the same group, and there is no other worker: the waiter runs the closure first.
#[test]
fn the_waiter_of_a_group_runs_closures_before_a_future_that_keeps_its_worker() {
    within(|| {
        let pool = pool(1, 1, FOR_EVER);
        let inner = pool.clone();
        let outer = pool.submit(move || {
            let (tell, told) = futures::channel::oneshot::channel();
            let completed = inner.complete(async { told.await.expect("the closure tells") });
            let closure = inner.submit(move || {
                tell.send(1).expect("the future waits");
                2
            });
            let group: Group<_> = [completed, closure].into_iter().collect();
            group.wait().into_iter().map(|result| result.expect("no panic")).collect::<Vec<_>>()
        });
        assert_eq!(outer.wait().expect("no panic"), [1, 2]);
        end(&pool);
    });
}

/// `complete` gives a future a worker until it ends; `spawn` does not.
#[test]
fn a_future_that_waits_keeps_its_worker_or_gives_it_back() {
    within(|| {
        let pool = pool(1, 1, FOR_EVER);
        let (wake, woken) = futures::channel::oneshot::channel();
        let spawned = pool.spawn(woken);
        settle(&pool);
        assert_eq!((pool.idle_count(), pool.worker_count()), (1, 1));
        let (end_it, ended) = futures::channel::oneshot::channel();
        let completed = pool.complete(ended);
        until("the worker is at it", || pool.idle_count() == 0);
        wake.send(1).expect("the future waits");
        assert_eq!(pool.stats().queued, 1, "no worker steps it");
        end_it.send(2).expect("the future waits");
        assert_eq!(completed.wait().expect("no panic"), Ok(2));
        assert_eq!(block_on(spawned), Ok(1));
        end(&pool);
    });
}

/// A poll that parks, as a nested wait does, may use up the wake-up of the thread; the future is polled again.
#[test]
fn a_future_that_parks_is_woken() {
    within(|| {
        let (pool, mut polls) = (pool(1, 1, FOR_EVER), 0);
        let parking = future::poll_fn(move |context| {
            polls += 1;
            if polls == 2 {
                return Poll::Ready(polls);
            }
            context.waker().wake_by_ref();
            thread::park();
            Poll::Pending
        });
        assert_eq!(pool.complete(parking).wait().expect("no panic"), 2);
        end(&pool);
    });
}

#[test]
fn a_worker_that_panics_goes_on() {
    within(|| {
        let pool = pool(1, 1, FOR_EVER);
        for _ in 0..20 {
            pool.execute(|| std::panic::resume_unwind(Box::new("expected by the test")));
            settle(&pool);
            assert_eq!(pool.worker_count(), 1);
        }
        assert_eq!(pool.stats().panicked, 20);
        end(&pool);
    });
}
