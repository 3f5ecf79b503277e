//! Where `compat::rusty_pool` is not as rusty_pool 1.0: what the table in its documentation says, as far as it is not
//! tested for the elastic pool itself.
#![cfg(feature = "compat-rusty-pool-async")]

mod support;

use executors::compat::rusty_pool::{Builder, ThreadPool};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::Poll,
    thread,
    time::Duration,
};
use support::watchdog::{until, within};

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn a_job_that_waits_for_its_own_pool_panics() {
    within(|| {
        let pool = ThreadPool::new(1, 1, MINUTE);
        for wait in [ThreadPool::join, |pool: &ThreadPool| pool.clone().shutdown_join()] {
            let own = pool.clone();
            assert!(pool.evaluate(move || wait(&own)).try_await_complete().is_err());
        }
        pool.join();
    });
}

#[test]
fn a_worker_survives_panics_and_calls_each_callback_once() {
    within(|| {
        let (started, stopped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (start, stop) = (Arc::clone(&started), Arc::clone(&stopped));
        let builder = Builder::new().core_size(1).max_size(1);
        let builder = builder.on_worker_start(move || {
            start.fetch_add(1, SeqCst);
            panic!("expected by the test");
        });
        let builder = builder.on_worker_stop(move || {
            stop.fetch_add(1, SeqCst);
        });
        let pool = builder.build();
        let thread = pool.evaluate(|| thread::current().id()).await_complete();
        for _ in 0..10 {
            assert!(pool.evaluate(|| panic!("expected by the test")).try_await_complete().is_err());
            assert_eq!(pool.evaluate(|| thread::current().id()).await_complete(), thread);
        }
        pool.shutdown_join();
        until("the thread has left", || stopped.load(SeqCst) == 1);
        assert_eq!(started.load(SeqCst), 1);
    });
}

#[test]
fn a_name_with_nul_panics_at_once() {
    let build = || Builder::new().name(String::from("nul\0")).build();
    assert!(catch_unwind(AssertUnwindSafe(build)).is_err());
}

#[test]
fn the_numbers_of_threads_that_have_left_are_given_again() {
    within(|| {
        let pool = ThreadPool::new_named(String::from("low"), 0, 1, Duration::ZERO);
        for _ in 0..20 {
            let name = pool.evaluate(|| thread::current().name().map(str::to_owned)).await_complete();
            assert_eq!(name.as_deref(), Some("low_thread_1"));
            until("the thread has left", || pool.get_current_worker_count() == 0);
        }
    });
}

/// `block_on` of the crate `futures` knows which threads it blocks, and panics on those.
#[test]
fn a_future_may_block_for_another_job() {
    within(|| {
        let pool = ThreadPool::new(2, 2, MINUTE);
        let own = pool.clone();
        assert_eq!(pool.complete(async move { own.evaluate(|| 5).await_complete() }).await_complete(), 5);
        let sum = async { pool.evaluate(|| 3).await_complete() + pool.complete(async { 4 }).await_complete() };
        assert_eq!(futures::executor::block_on(sum), 7);
    });
}

/// A future that is woken several times before its next step is polled once for that.
#[test]
fn wake_ups_are_merged() {
    within(|| {
        let (pool, polls) = (ThreadPool::new(1, 1, MINUTE), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&polls);
        let future = futures::future::poll_fn(move |context| {
            if count.fetch_add(1, SeqCst) == 0 {
                (0..5).for_each(|_| context.waker().wake_by_ref());
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        });
        pool.spawn_await(future).await_complete();
        pool.join();
        assert_eq!(polls.load(SeqCst), 2);
    });
}
