//! Where `compat::rusty_pool` is not as rusty_pool 1.0: what the table in its documentation says, as far as it is not
//! tested for the elastic pool itself.
#![cfg(feature = "compat-rusty-pool-async")]

mod support;

use executors::compat::rusty_pool::{Builder, ThreadPool};
use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::Poll,
    thread,
    time::Duration,
};
use support::{
    gate::Gate,
    watchdog::{until, within},
};

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
fn thread_locals_outlast_a_panic() {
    thread_local!(static LEFT: Cell<u8> = const { Cell::new(0) });
    within(|| {
        let pool = ThreadPool::new(1, 1, MINUTE);
        let failed = pool.evaluate(|| {
            LEFT.set(1);
            panic!("expected by the test")
        });
        assert!(failed.try_await_complete().is_err());
        assert_eq!(pool.evaluate(|| LEFT.get()).await_complete(), 1);
    });
}

#[test]
fn a_callback_that_waits_for_its_own_pool_panics() {
    within(|| {
        let (own, ends) = (Arc::new(OnceLock::<ThreadPool>::new()), Arc::new(Mutex::new(Vec::new())));
        let callback = |when| {
            let (own, ends) = (Arc::clone(&own), Arc::clone(&ends));
            move || {
                let joined = catch_unwind(AssertUnwindSafe(|| own.get().expect("the test has set it").join()));
                ends.lock().expect("no panic under this lock").push((when, joined.is_ok()));
                joined.unwrap_or_else(|payload| resume_unwind(payload));
            }
        };
        let builder = Builder::new().core_size(0).max_size(1).keep_alive(Duration::ZERO);
        let pool = builder.on_worker_start(callback("start")).on_worker_stop(callback("stop")).build();
        own.set(pool.clone()).expect("it is set once");
        assert_eq!(pool.evaluate(|| 7).await_complete(), 7);
        until("both have ended", || ends.lock().expect("no panic under this lock").len() == 2);
        assert_eq!(*ends.lock().expect("no panic under this lock"), [("start", false), ("stop", false)]);
    });
}

#[test]
fn a_job_does_not_wait_for_the_thread_that_it_brings() {
    within(|| {
        let (gate, started) = (Gate::default(), AtomicUsize::new(0));
        let hold = gate.clone();
        let builder = Builder::new().name(String::from("two")).core_size(2).max_size(2);
        let builder = builder.on_worker_start(move || {
            if started.fetch_add(1, SeqCst) > 0 {
                hold.pass();
            }
        });
        let pool = builder.build();
        let name = || thread::current().name().map(str::to_owned);
        assert_eq!(pool.evaluate(name).await_complete().as_deref(), Some("two_thread_1"));
        let second = pool.evaluate(name);
        assert_eq!(pool.get_current_worker_count(), 2);
        assert_eq!(second.await_complete().as_deref(), Some("two_thread_1"));
        gate.open();
        pool.join();
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
