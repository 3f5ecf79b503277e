//! Long chains. Of continuations: whether they run or are dropped, the stack does not grow with their length. Of jobs
//! that wait: the stack has room for as many as the documentation says.
#![cfg(all(
    feature = "cb-channel-exec",
    feature = "workstealing-exec",
    feature = "threadpool-exec",
    feature = "elastic-exec",
    feature = "burst-exec",
    feature = "dispatcher-exec"
))]

mod support;

use executors::{
    FuturesExecutor, JoinHandle, Pool, TaskError, TaskHandle, burst_pool, crossbeam_channel_pool,
    crossbeam_workstealing_pool,
    dispatcher::{Dispatcher, Subpool},
    elastic_pool,
    threadpool_executor::ThreadPoolExecutor,
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

fn chains_of_continuations_run<P: Pool + FuturesExecutor>(pool: impl Fn(usize) -> P) {
    within(|| {
        let pool = pool(2);
        let (tell, last) = chain(&pool);
        // So that each link waits for the one before; otherwise they would run one by one.
        pool.join().expect("this is no worker");
        tell.send(5).expect("the first link waits");
        assert_eq!(last.wait().expect("no panic").expect("no failure"), LINKS + 5);
        pool.shutdown_timeout(PATIENCE).expect("nothing is left");
    });
}

/// The end of each link ends the next, all in the thread that gives the first its value, because the pool has ended.
fn chains_of_continuations_are_dropped<P: Pool + FuturesExecutor>(pool: impl Fn(usize) -> P) {
    within(|| {
        let pool = pool(2);
        let (tell, last) = chain(&pool);
        pool.join().expect("this is no worker");
        pool.shutdown_timeout(PATIENCE).expect("suspended futures do not delay the end");
        assert!(!last.is_finished());
        assert!(tell.send(5).is_ok(), "the first link waits");
        assert!(matches!(block_on(last), Err(TaskError::Dropped)));
    });
}

/// The same in the destructor of a variable of a thread, which comes after those of variables that are used later.
fn chains_of_continuations_are_dropped_when_a_thread_ends<P: Pool + FuturesExecutor>(pool: impl Fn(usize) -> P) {
    thread_local!(static FIRST: Cell<Option<oneshot::Sender<u32>>> = const { Cell::new(None) });

    within(|| {
        let pool = pool(2);
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
fn chains_of_continuations_are_discarded<P: Pool + FuturesExecutor>(pool: impl Fn(usize) -> P) {
    within(|| {
        let pool = pool(2);
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
fn chains_of_detached_futures_are_dropped<P: Pool + FuturesExecutor>(pool: impl Fn(usize) -> P) {
    within(|| {
        for (with_wakers, is_over) in [(false, true), (true, false), (true, true)] {
            let pool = pool(2);
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
/// for it. So the drop may begin at either end of the chain.
fn chains_of_spawned_futures_are_dropped<P: Pool + FuturesExecutor>(make: impl Fn(usize) -> P) {
    within(|| {
        let suspended = || {
            let pool = make(2);
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

        let pool = make(2);
        let (tell, last) = spawned_chain(&pool);
        tell.send(()).expect("the first link waits");
        pool.shutdown_now();
        block_on(last.fallible());
        pool.shutdown_timeout(PATIENCE).expect("nothing blocks");

        // While the pool is open, too.
        let pool = make(2);
        let (tell, last) = spawned_chain(&pool);
        pool.join().expect("this is no worker");
        drop(last);
        pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
        assert!(tell.is_canceled());
    });
}

/// Jobs each of which waits for the one before are nested on one worker's stack if none has begun. `TaskHandle` says
/// how many a stack of 2 MiB has room for; these are two thirds of that.
fn jobs_that_wait_are_nested_as_deep_as_documented<P: Pool>(pool: impl Fn(usize) -> P) {
    const DEPTH: u32 = if cfg!(debug_assertions) { 500 } else { 2300 };

    within(|| {
        let pool = pool(1);
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

/// The `cpu` subpool, or one whose jobs run one at a time: the `narrow` one, or the one that is `bound` to a thread.
fn subpool(name: &str, threads: usize) -> Subpool {
    let builder = Dispatcher::builder().threads(threads + 1).cpu_limit(threads).subpool("narrow", 1);
    builder.bound_subpool("bound").build().expect("possible").subpool(name).expect("it was built")
}

/// Makes a `#[test]` of each test for each pool, which is built for a number of threads.
macro_rules! pools {
    ($($name:ident: |$threads:ident| $pool:expr;)+) => { $(
        mod $name {
            use super::*;

            tests! { |$threads| $pool;
                chains_of_continuations_are_discarded
                chains_of_continuations_are_dropped
                chains_of_continuations_are_dropped_when_a_thread_ends
                chains_of_continuations_run
                chains_of_detached_futures_are_dropped
                chains_of_spawned_futures_are_dropped
                jobs_that_wait_are_nested_as_deep_as_documented
            }
        }
    )+ };
}

macro_rules! tests {
    ($pool:expr; $($test:ident)+) => { $(
        #[test]
        fn $test() {
            crate::$test($pool);
        }
    )+ };
}

pools! {
    channel: |threads| crossbeam_channel_pool::ThreadPool::new(threads);
    stealing: |threads| crossbeam_workstealing_pool::small_pool(threads);
    elastic: |threads| elastic_pool::ThreadPool::new(1, threads, PATIENCE);
    burst: |threads| burst_pool::ThreadPool::new(threads);
    threadpool: |threads| ThreadPoolExecutor::new(threads);
    cpu: |threads| subpool("cpu", threads);
    narrow: |threads| subpool("narrow", threads);
    bound: |threads| subpool("bound", threads);
}
