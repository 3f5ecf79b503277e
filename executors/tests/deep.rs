//! Long chains. Of continuations: whether they run or are dropped, the stack does not grow with their length. Of jobs
//! that wait: the stack has room for as many as the documentation says.
#![cfg(all(feature = "cb-channel-exec", feature = "workstealing-exec"))]

mod support;

use executors::{
    FuturesExecutor, JoinHandle, Pool, TaskError, TaskHandle, crossbeam_channel_pool, crossbeam_workstealing_pool,
};
use futures::{channel::oneshot, executor::block_on, future::FutureExt};
use std::{
    any::Any,
    cell::Cell,
    future::poll_fn,
    mem,
    sync::{Arc, Mutex, mpsc},
    task::Poll,
    thread,
};
use support::watchdog::{PATIENCE, until, within};

/// More links than a worker's stack of 2 MiB has room for if each takes a frame. A frame has at least 16 bytes, and
/// without optimisation about a hundred for each of the functions that a link goes through.
const LINKS: u32 = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };

/// Futures each of which waits for the one before and adds one; the first waits for the sender.
fn chain(pool: &impl FuturesExecutor) -> (oneshot::Sender<u32>, TaskHandle<Result<u32, TaskError>>) {
    chain_of(LINKS, pool)
}

fn chain_of(links: u32, pool: &impl FuturesExecutor) -> (oneshot::Sender<u32>, TaskHandle<Result<u32, TaskError>>) {
    let (tell, told) = oneshot::channel();
    let mut last = pool.submit_future(told.map(|number| number.map_err(|_| TaskError::Cancelled)));
    for _ in 0..links {
        last = pool.submit_future(async move { Ok(last.await?? + 1) });
    }
    (tell, last)
}

/// The `cpu` subpool, or one whose jobs run one at a time: the `narrow` one, or the one that is `bound` to a thread.
#[cfg(feature = "dispatcher-exec")]
fn subpool(name: &str) -> executors::dispatcher::Subpool {
    let builder = executors::dispatcher::Dispatcher::builder().threads(3).subpool("narrow", 1).bound_subpool("bound");
    builder.build().expect("possible").subpool(name).expect("it was built")
}

#[test]
fn chains_of_continuations_run() {
    fn run(pool: impl Pool + FuturesExecutor) {
        within(|| {
            let (tell, last) = chain(&pool);
            // So that each link waits for the one before; otherwise they would run one by one.
            pool.join().expect("this is no worker");
            tell.send(5).expect("the first link waits");
            assert_eq!(last.wait().expect("no panic").expect("no failure"), LINKS + 5);
            pool.shutdown_timeout(PATIENCE).expect("nothing is left");
        });
    }

    run(crossbeam_workstealing_pool::small_pool(2));
    run(crossbeam_channel_pool::ThreadPool::new(2));
    #[cfg(feature = "dispatcher-exec")]
    for name in ["cpu", "narrow", "bound"] {
        run(subpool(name));
    }
}

/// The end of each link ends the next, all in the thread that gives the first its value, because the pool has ended.
#[test]
fn chains_of_continuations_are_dropped() {
    fn run(pool: impl Pool + FuturesExecutor) {
        within(|| {
            let (tell, last) = chain(&pool);
            pool.join().expect("this is no worker");
            pool.shutdown_timeout(PATIENCE).expect("suspended futures do not delay the end");
            assert!(!last.is_finished());
            assert!(tell.send(5).is_ok(), "the first link waits");
            assert!(matches!(block_on(last), Err(TaskError::Dropped)));
        });
    }

    run(crossbeam_workstealing_pool::small_pool(2));
    #[cfg(feature = "dispatcher-exec")]
    run(subpool("bound"));
}

/// The same in the destructor of a variable of a thread, which comes after those of variables that are used later.
#[test]
fn chains_of_continuations_are_dropped_when_a_thread_ends() {
    thread_local!(static FIRST: Cell<Option<oneshot::Sender<u32>>> = const { Cell::new(None) });

    within(|| {
        let pool = crossbeam_workstealing_pool::small_pool(2);
        let ((tell, last), (tell_few, last_of_few)) = (chain(&pool), chain_of(3, &pool));
        pool.join().expect("this is no worker");
        pool.shutdown_timeout(PATIENCE).expect("suspended futures do not delay the end");
        let ends = thread::spawn(|| {
            FIRST.set(Some(tell));
            drop(tell_few);
        });
        ends.join().expect("no panic");
        for last in [last, last_of_few] {
            assert!(matches!(block_on(last), Err(TaskError::Dropped)));
        }
    });
}

/// As above, while workers drop what they find in their queues.
#[test]
fn chains_of_continuations_are_discarded() {
    fn run(pool: impl Pool + FuturesExecutor) {
        within(|| {
            let (tell, last) = chain(&pool);
            tell.send(5).expect("the first link waits");
            pool.shutdown_now();
            match last.wait() {
                Ok(Ok(number)) => assert_eq!(number, LINKS + 5),
                Ok(Err(TaskError::Dropped)) | Err(TaskError::Dropped) => (),
                other => panic!("{other:?}"),
            }
            pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
        });
    }

    run(crossbeam_workstealing_pool::small_pool(2));
    #[cfg(feature = "dispatcher-exec")]
    for name in ["narrow", "bound"] {
        run(subpool(name));
    }
}

/// Futures each of which owns what the next one waits for: its sender, or its only waker.
fn detached_chain(pool: &impl FuturesExecutor, with_wakers: bool) -> (Box<dyn Any + Send>, mpsc::Receiver<()>) {
    let (end, ended) = mpsc::channel();
    let mut owned: Box<dyn Any + Send> = Box::new(end);
    for _ in 0..LINKS {
        let next = mem::replace(&mut owned, Box::new(()));
        owned = if with_wakers {
            let slot = Arc::new(Mutex::new(None));
            let own = Arc::downgrade(&slot);
            pool.spawn_detached(poll_fn(move |context| {
                let _owned = &next;
                let slot = own.upgrade();
                slot.map_or(Poll::Ready(()), |slot| {
                    *slot.lock().expect("no panic under this lock") = Some(context.waker().clone());
                    Poll::Pending
                })
            }));
            Box::new(slot)
        } else {
            let (tell, told) = oneshot::channel::<()>();
            pool.spawn_detached(async move {
                let _owned = next;
                let _told_or_not = told.await;
            });
            Box::new(tell)
        };
    }
    (owned, ended)
}

/// The drop of each future wakes the next, or drops its last waker.
#[test]
fn chains_of_detached_futures_are_dropped() {
    fn run<P: Pool + FuturesExecutor>(make: impl Fn() -> P) {
        within(|| {
            for (with_wakers, is_over) in [(false, true), (true, false), (true, true)] {
                let pool = make();
                let (first, ended) = detached_chain(&pool, with_wakers);
                pool.join().expect("this is no worker");
                if is_over {
                    pool.shutdown_timeout(PATIENCE).expect("suspended futures do not delay the end");
                }
                drop(first);
                assert!(ended.recv().is_err(), "the last link is dropped");
            }
        });
    }

    run(|| crossbeam_workstealing_pool::small_pool(2));
    run(|| crossbeam_channel_pool::ThreadPool::new(2));
    #[cfg(feature = "elastic-exec")]
    run(|| executors::elastic_pool::ThreadPool::new(1, 2, PATIENCE));
    #[cfg(feature = "threadpool-exec")]
    run(|| executors::threadpool_executor::ThreadPoolExecutor::new(2));
}

/// Futures each of which waits for the one before; the first waits for the sender.
fn spawned_chain(pool: &impl FuturesExecutor) -> (oneshot::Sender<()>, JoinHandle<Option<()>>) {
    let (tell, told) = oneshot::channel();
    let mut last = pool.spawn(told.map(Result::ok));
    for _ in 0..LINKS {
        let before = last.fallible();
        last = pool.spawn(async move { before.await.flatten() });
    }
    (tell, last)
}

/// A future that is dropped drops the handle that it waits for, which cancels that future, and wakes the one that waits
/// for it.
#[test]
fn chains_of_spawned_futures_are_dropped() {
    /// From either end of the chain.
    fn run<P: Pool + FuturesExecutor>(make: impl Fn() -> P) {
        within(|| {
            let suspended = || {
                let pool = make();
                let (tell, last) = spawned_chain(&pool);
                pool.join().expect("this is no worker");
                pool.shutdown_timeout(PATIENCE).expect("suspended futures do not delay the end");
                (tell, last)
            };
            let (tell, last) = suspended();
            drop(tell);
            assert_eq!(block_on(last.fallible()), None);
            let (tell, last) = suspended();
            drop(last);
            until("the first link is dropped", || tell.is_canceled());

            let pool = make();
            let (tell, last) = spawned_chain(&pool);
            tell.send(()).expect("the first link waits");
            pool.shutdown_now();
            block_on(last.fallible());
            pool.shutdown_timeout(PATIENCE).expect("nothing blocks");

            // While the pool is open, too.
            let pool = make();
            let (tell, last) = spawned_chain(&pool);
            pool.join().expect("this is no worker");
            drop(last);
            pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
            assert!(tell.is_canceled());
        });
    }

    run(|| crossbeam_workstealing_pool::small_pool(2));
    run(|| crossbeam_channel_pool::ThreadPool::new(2));
    #[cfg(feature = "threadpool-exec")]
    run(|| executors::threadpool_executor::ThreadPoolExecutor::new(2));
    #[cfg(feature = "dispatcher-exec")]
    run(|| subpool("bound"));
}

/// Jobs each of which waits for the one before are nested on one worker's stack if none has begun. `TaskHandle` says
/// how many a stack of 2 MiB has room for; these are two thirds of that.
#[test]
fn jobs_that_wait_are_nested_as_deep_as_documented() {
    const DEPTH: u32 = if cfg!(debug_assertions) { 500 } else { 2300 };

    fn run(pool: impl Pool) {
        within(|| {
            let (tell, told) = mpsc::channel::<TaskHandle<u32>>();
            let outermost = pool.submit(move || told.recv().expect("the test tells").wait());
            let mut last = pool.submit(|| 1);
            for _ in 1..DEPTH {
                last = pool.submit(move || last.wait().expect("no panic") + 1);
            }
            tell.send(last).expect("the only worker waits for it");
            assert!(matches!(outermost.wait().expect("no panic"), Ok(DEPTH)));
            pool.shutdown_timeout(PATIENCE).expect("nothing is left");
        });
    }

    run(crossbeam_workstealing_pool::small_pool(1));
    run(crossbeam_channel_pool::ThreadPool::new(1));
    #[cfg(feature = "dispatcher-exec")]
    run(subpool("bound"));
}
