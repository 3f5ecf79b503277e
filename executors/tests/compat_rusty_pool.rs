//! The interface of rusty_pool 1.0, used as programs use it. (With `use rusty_pool;` in place of the line below, and
//! the features gone, this file compiles with that crate, and passes.)
//!
//! The shell passes jobs on to an elastic pool and keeps nothing of its own but the name, so its part of the contract
//! is tested there: in `conformance.rs` (its modules `elastic::*`) and `elastic.rs`.
//!
//! | of the shell | tested here | what it passes on |
//! |---|---|---|
//! | each job runs once; captures, sizes | `results_arrive_in_all_forms`, `tasks_need_not_be_closures`, `a_huge_job_runs` | `running` |
//! | closing, by the last handle only; late jobs, late wake-ups | `work_outlives_the_handles`, `polled::futures_outlive_the_handles` | `dropping`, `closing`, `futures` |
//! | panics | `a_panic_cancels_the_result_and_the_pool_goes_on` | `panics` |
//! | results, awaited or blocked for | `results_arrive_in_all_forms` | none: results are the shell's own |
//! | futures | `polled` | `futures` |
//! | `join`, with a timeout, by many, in a job | `a_join_with_a_timeout_gives_up`, `compat_rusty_pool_differences.rs` | `waiting` |
//! | growing, shrinking, hooks, the promise of an idle worker | `threads_beyond_the_core_leave_and_call_their_callbacks`, `hundreds_of_threads_may_block_at_once` | `elastic.rs` |
//! | sizes, names, nonsense | `sizes_names_and_counts`, `impossible_sizes_panic` | `building` |
//! | not offered: batches, `shutdown_now`, bounds, counters, groups, sequences, timers | | |
#![cfg(feature = "compat-rusty-pool")]

mod support;

use executors::compat::rusty_pool;

use crossbeam_channel::SendError;
use futures::channel::oneshot::{Canceled, Receiver};
use rusty_pool::{Builder, JoinHandle, MAX_SIZE, Task, ThreadPool};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};
use support::{
    child::Child,
    watchdog::{until, watch},
};

type Job = Box<dyn FnOnce() + Send + 'static>;
type Question = fn() -> u8;
type Tried<T> = Result<T, SendError<Job>>;

const MINUTE: Duration = Duration::from_secs(60);

/// Every name, with its type.
#[test]
fn the_surface_is_complete() {
    fn is_clone<T: Clone>() {}
    fn is_default<T: Default>() {}
    fn crosses_threads<T: Send + Sync + Unpin + 'static>() {}
    is_clone::<ThreadPool>();
    crosses_threads::<ThreadPool>();
    crosses_threads::<Builder>();
    crosses_threads::<JoinHandle<u8>>();
    is_default::<ThreadPool>();
    is_default::<Builder>();

    let _: usize = MAX_SIZE;
    let _: fn(usize, usize, Duration) -> ThreadPool = ThreadPool::new;
    let _: fn(String, usize, usize, Duration) -> ThreadPool = ThreadPool::new_named;
    let _: fn(&ThreadPool) -> usize = ThreadPool::get_current_worker_count;
    let _: fn(&ThreadPool) -> usize = ThreadPool::get_idle_worker_count;
    let _: fn(&ThreadPool, Job) = ThreadPool::execute::<Job>;
    let _: fn(&ThreadPool, Job) -> Tried<()> = ThreadPool::try_execute::<Job>;
    let _: fn(&ThreadPool, Question) -> JoinHandle<u8> = ThreadPool::evaluate::<u8, Question>;
    let _: fn(&ThreadPool, Question) -> Tried<JoinHandle<u8>> = ThreadPool::try_evaluate::<u8, Question>;
    let _: fn(&ThreadPool) = ThreadPool::join;
    let _: fn(&ThreadPool, Duration) = ThreadPool::join_timeout;
    let _: fn(ThreadPool) = ThreadPool::shutdown;
    let _: fn(ThreadPool) = ThreadPool::shutdown_join;
    let _: fn(ThreadPool, Duration) = ThreadPool::shutdown_join_timeout;
    let _: fn(&ThreadPool) -> &str = ThreadPool::get_name;
    let _: fn(&ThreadPool) = ThreadPool::start_core_threads;
    let _: fn() -> Builder = Builder::new;
    let _: fn(Builder, String) -> Builder = Builder::name;
    let _: fn(Builder, usize) -> Builder = Builder::core_size;
    let _: fn(Builder, usize) -> Builder = Builder::max_size;
    let _: fn(Builder, Duration) -> Builder = Builder::keep_alive;
    let _: fn(Builder, fn()) -> Builder = Builder::on_worker_start::<fn()>;
    let _: fn(Builder, fn()) -> Builder = Builder::on_worker_stop::<fn()>;
    let _: fn(Builder) -> ThreadPool = Builder::build;
    let _: fn(JoinHandle<u8>) -> u8 = JoinHandle::await_complete;
    let _: fn(JoinHandle<u8>) -> Result<u8, Canceled> = JoinHandle::try_await_complete;
    let _: fn(JoinHandle<u8>) -> Receiver<u8> = |handle| handle.receiver;
}

#[test]
fn results_arrive_in_all_forms() {
    let _watchdog = watch();
    let pool = ThreadPool::new(2, 4, MINUTE);
    assert_eq!(pool.evaluate(|| 1).await_complete(), 1);
    assert_eq!(pool.try_evaluate(|| 2).unwrap().try_await_complete(), Ok(2));
    assert_eq!(pool.complete(async { 3 }).await_complete(), 3);
    assert_eq!(pool.try_complete(async { 4 }).unwrap().await_complete(), 4);
    assert_eq!(futures::executor::block_on(pool.evaluate(|| 5).receiver), Ok(5));
    let (tell, told) = mpsc::channel();
    let again = tell.clone();
    pool.execute(move || again.send(6).unwrap());
    pool.try_execute(move || tell.send(6).unwrap()).unwrap();
    pool.join();
    assert_eq!(told.iter().collect::<Vec<_>>(), [6, 6]);
    pool.shutdown_join();
}

/// A closure of more than a worker's stack.
#[test]
fn a_huge_job_runs() {
    fn give() {
        let (pool, (tell, told)) = (ThreadPool::new(1, 1, MINUTE), mpsc::channel());
        let load = [7_u8; 3 << 20];
        pool.execute(move || tell.send(load.iter().all(|byte| *byte == 7)).unwrap());
        assert_eq!(told.recv(), Ok(true));
    }

    // If it did not, the process would run out of stack.
    Child::default().run(|| {
        let submitter = thread::Builder::new().stack_size(64 << 20).spawn(give).expect("there is room for a thread");
        submitter.join().expect("no panic");
    });
}

#[test]
fn a_panic_cancels_the_result_and_the_pool_goes_on() {
    let _watchdog = watch();
    let pool = ThreadPool::new(1, 1, MINUTE);
    for _ in 0..3 {
        let handle: JoinHandle<u8> = pool.evaluate(|| panic!("expected by the test"));
        assert_eq!(handle.try_await_complete(), Err(Canceled));
    }
    assert!(
        catch_unwind(AssertUnwindSafe(|| pool.evaluate(|| -> u8 { panic!("expected by the test") }).await_complete()))
            .is_err()
    );
    assert_eq!(pool.evaluate(|| 8).await_complete(), 8);
    pool.join();
    assert_eq!(pool.get_current_worker_count(), 1);
}

/// A task of a program's own type.
#[test]
fn tasks_need_not_be_closures() {
    let _watchdog = watch();
    struct Answer(u8);

    impl Task<u8> for Answer {
        fn run(self) -> u8 {
            self.0
        }

        fn into_fn(self) -> Option<Box<dyn FnOnce() -> u8 + Send + 'static>> {
            None
        }

        fn is_fn(&self) -> bool {
            false
        }
    }

    fn ask<R: Send + 'static, T: Task<R> + 'static>(pool: &ThreadPool, task: T) -> R {
        pool.evaluate(task).await_complete()
    }

    let pool = ThreadPool::default();
    assert_eq!((ask(&pool, Answer(42)), ask(&pool, || 43)), (42, 43));
    assert!((|| 1_u8).is_fn());
    assert_eq!((|| 1_u8).into_fn().map(|f| f()), Some(1));
}

#[test]
fn sizes_names_and_counts() {
    let _watchdog = watch();
    let pool = Builder::new().name(String::from("sized")).core_size(2).max_size(4).keep_alive(MINUTE).build();
    assert_eq!((pool.get_name(), pool.get_current_worker_count(), pool.get_idle_worker_count()), ("sized", 0, 0));
    pool.start_core_threads();
    assert_eq!(pool.get_current_worker_count(), 2);
    until("both are idle", || pool.get_idle_worker_count() == 2);
    let meeting = Arc::new(Barrier::new(5));
    let ((tell, told), mut names) = (mpsc::channel(), Vec::<String>::new());
    for _ in 0..4 {
        let (meeting, tell) = (Arc::clone(&meeting), tell.clone());
        pool.execute(move || {
            tell.send(thread::current().name().unwrap().to_owned()).unwrap();
            meeting.wait();
        });
        // The thread that was idle is busy now.
        names.push(told.recv().unwrap());
    }
    meeting.wait();
    assert_eq!(pool.get_current_worker_count(), 4);
    names.sort();
    assert_eq!(names, ["sized_thread_1", "sized_thread_2", "sized_thread_3", "sized_thread_4"]);
    pool.join();
    until("all are idle", || pool.get_idle_worker_count() == 4);
    assert!(ThreadPool::default().get_name().starts_with("rusty_pool_"));
}

#[test]
fn threads_beyond_the_core_leave_and_call_their_callbacks() {
    let _watchdog = watch();
    let (started, stopped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (start, stop) = (Arc::clone(&started), Arc::clone(&stopped));
    let pool = Builder::new()
        .core_size(1)
        .max_size(3)
        .keep_alive(Duration::from_millis(30))
        .on_worker_start(move || {
            start.fetch_add(1, SeqCst);
        })
        .on_worker_stop(move || {
            stop.fetch_add(1, SeqCst);
        })
        .build();
    let meeting = Arc::new(Barrier::new(3));
    for _ in 0..3 {
        let meeting = Arc::clone(&meeting);
        pool.execute(move || {
            meeting.wait();
        });
    }
    until("two have left", || pool.get_current_worker_count() == 1 && stopped.load(SeqCst) == 2);
    assert_eq!(started.load(SeqCst), 3);
    pool.shutdown_join();
    until("the last has left", || stopped.load(SeqCst) == 3);
}

#[test]
fn impossible_sizes_panic() {
    for (core, max) in [(0, 0), (2, 1), (0, MAX_SIZE + 1)] {
        assert!(catch_unwind(|| ThreadPool::new(core, max, MINUTE)).is_err(), "{core} of {max}");
    }
    assert_eq!(ThreadPool::new(0, MAX_SIZE, Duration::ZERO).evaluate(|| 9).await_complete(), 9);
    // The maximum bounds a core size that was not chosen.
    assert_eq!(Builder::new().max_size(1).build().evaluate(|| 10).await_complete(), 10);
}

#[test]
fn a_join_with_a_timeout_gives_up() {
    let _watchdog = watch();
    let pool = ThreadPool::new(1, 1, MINUTE);
    let (tell, told) = mpsc::channel::<()>();
    pool.execute(move || {
        let _ = told.recv();
    });
    let begin = Instant::now();
    pool.join_timeout(Duration::from_millis(20));
    assert!(begin.elapsed() >= Duration::from_millis(20));
    pool.clone().shutdown_join_timeout(Duration::from_millis(1));
    drop(tell);
    pool.shutdown_join();
}

/// All handles are gone: what was submitted runs.
#[test]
fn work_outlives_the_handles() {
    let _watchdog = watch();
    let pool = ThreadPool::new(1, 1, MINUTE);
    let ((open, opened), (tell, told)) = (mpsc::channel(), mpsc::channel());
    let again = tell.clone();
    pool.execute(move || again.send(opened.recv().unwrap()).unwrap());
    pool.execute(move || tell.send(2).unwrap());
    pool.shutdown();
    open.send(1).unwrap();
    assert_eq!((told.recv(), told.recv()), (Ok(1), Ok(2)));
    assert!(told.recv().is_err(), "everything of the pool is dropped");
}

/// As the runtime of Wasmer uses it: the maximum is the core, and all of it blocks.
#[test]
fn hundreds_of_threads_may_block_at_once() {
    let _watchdog = watch();
    const THREADS: usize = 200;
    let stopped = Arc::new(AtomicUsize::new(0));
    let stop = Arc::clone(&stopped);
    let builder = Builder::new().name(String::from("blocking")).core_size(THREADS).max_size(THREADS);
    let builder = builder.keep_alive(Duration::from_millis(1)).on_worker_stop(move || {
        stop.fetch_add(1, SeqCst);
    });
    let pool = builder.build();
    let mut expected: Vec<_> = (1..=THREADS).map(|thread| format!("blocking_thread_{thread}")).collect();
    expected.sort();
    // First when there is no thread yet, then when all are idle.
    for _ in 0..2 {
        let meeting = Arc::new(Barrier::new(THREADS + 1));
        let block = || {
            let meeting = Arc::clone(&meeting);
            move || {
                meeting.wait();
                thread::current().name().unwrap().to_owned()
            }
        };
        let blocked: Vec<_> = (0..THREADS).map(|_| pool.evaluate(block())).collect();
        meeting.wait();
        let mut names: Vec<_> = blocked.into_iter().map(JoinHandle::await_complete).collect();
        names.sort();
        assert_eq!(names, expected);
        pool.join();
        until("all are idle", || pool.get_idle_worker_count() == THREADS);
    }
    assert_eq!((pool.get_current_worker_count(), stopped.load(SeqCst)), (THREADS, 0));
    pool.shutdown();
    until("all have left", || stopped.load(SeqCst) == THREADS);
}

#[cfg(feature = "compat-rusty-pool-async")]
mod polled {
    use super::{JoinHandle, MINUTE, ThreadPool, mpsc, thread, watch};
    use futures::channel::oneshot;
    use std::future::{Future, pending};

    #[test]
    fn futures_run_in_all_forms() {
        let _watchdog = watch();
        let pool = ThreadPool::new(2, 4, MINUTE);
        assert_eq!(pool.spawn_await(async { 1 }).await_complete(), 1);
        assert_eq!(pool.try_spawn_await(async { 2 }).unwrap().await_complete(), 2);
        let (tell, told) = mpsc::channel();
        let again = tell.clone();
        pool.spawn(async move { again.send(3).unwrap() });
        pool.try_spawn(async move { tell.send(3).unwrap() }).unwrap();
        pool.join();
        assert_eq!(told.iter().collect::<Vec<_>>(), [3, 3]);
        pool.shutdown_join();
    }

    /// Nobody can wake it any more.
    #[test]
    fn a_future_that_leaves_no_waker_is_dropped() {
        let _watchdog = watch();
        let (pool, (keep, kept)) = (ThreadPool::new(1, 1, MINUTE), mpsc::channel::<()>());
        pool.spawn(async move {
            let _keep = keep;
            pending::<()>().await;
        });
        assert!(kept.recv().is_err(), "it is dropped");
        pool.shutdown_join();
    }

    /// All handles are gone: a future that waits keeps the pool.
    #[test]
    fn futures_outlive_the_handles() {
        let _watchdog = watch();
        let pool = ThreadPool::new(1, 1, MINUTE);
        let (wake, woken) = oneshot::channel::<u8>();
        let (tell, told) = mpsc::channel();
        let again = tell.clone();
        pool.spawn(async move { again.send(woken.await.unwrap()).unwrap() });
        pool.execute(move || tell.send(1).unwrap());
        pool.shutdown();
        assert_eq!(told.recv(), Ok(1));
        wake.send(2).unwrap();
        assert_eq!(told.recv(), Ok(2));
        assert!(told.recv().is_err(), "everything of the pool is dropped");
    }

    /// A future that is completed by another thread, and polled only when it is woken.
    #[test]
    fn futures_do_not_block_a_thread() {
        let _watchdog = watch();
        fn pass(number: u32) -> impl Future<Output = u32> {
            let (sender, receiver) = oneshot::channel();
            thread::spawn(move || sender.send(number).unwrap());
            async { receiver.await.unwrap() }
        }

        let pool = ThreadPool::new(1, 1, MINUTE);
        let sums: Vec<_> = (0..20).map(|n| pool.spawn_await(async move { pass(n).await + pass(1).await })).collect();
        let sum: u32 = sums.into_iter().map(JoinHandle::await_complete).sum();
        assert_eq!(sum, 210);
    }
}
