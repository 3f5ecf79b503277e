//! Where `compat::rusty_pool` differs from rusty_pool 1.0: what the table in its documentation says, except for what is
//! tested on the elastic pool itself.
#![cfg(feature = "compat-rusty-pool")]

mod support;

use executors::{
    compat::rusty_pool::{Builder, JoinHandle, Task, ThreadPool},
    try_execute_locally,
};
use std::{
    cell::Cell,
    fmt::Debug,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};
use support::{
    child::Child,
    gate::Gate,
    log_book,
    on_drop::OnDrop,
    threads::processor_time,
    watchdog::{until, within},
};

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn a_huge_job_with_a_result_runs() {
    fn give() {
        let pool = ThreadPool::new(1, 1, MINUTE);
        let load = [7_u8; 3 << 20];
        assert!(pool.evaluate(move || load.iter().all(|byte| *byte == 7)).await_complete());
    }

    // If it did not, the process would run out of stack.
    Child::default().run(|| {
        let submitter = thread::Builder::new().stack_size(64 << 20).spawn(give).expect("there is room for a thread");
        submitter.join().expect("no panic");
    });
}

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

/// As in rusty_pool, this waits until the time is up, because the job itself keeps the pool from being idle.
#[test]
fn a_job_may_wait_for_its_own_pool_with_a_timeout() {
    within(|| {
        let (pool, time) = (ThreadPool::new(1, 1, MINUTE), Duration::from_millis(20));
        let wait: [fn(ThreadPool, Duration); 2] =
            [|pool, time| pool.join_timeout(time), ThreadPool::shutdown_join_timeout];
        for wait in wait {
            let own = pool.clone();
            let waited = pool.evaluate(move || {
                let begin = Instant::now();
                wait(own, time);
                begin.elapsed()
            });
            let waited = waited.try_await_complete().expect("no panic");
            assert!(waited >= time, "{waited:?}");
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

/// Gives `submit` a pool of that name, whose thread is busy, and requires that no job panics.
fn without_panics(name: &str, submit: impl FnOnce(&ThreadPool)) {
    within(|| {
        log_book::open();
        let (pool, gate) = (ThreadPool::new_named(name.to_owned(), 1, 1, MINUTE), Gate::default());
        let passes = gate.clone();
        pool.execute(move || passes.pass());
        submit(&pool);
        gate.open();
        pool.join();
        assert_eq!(log_book::of_all_threads(name), []);
    });
}

/// A value that panics when it is dropped.
fn bomb() -> OnDrop<impl FnOnce() + Send> {
    OnDrop::new(|| resume_unwind(Box::new("expected by the test")))
}

#[test]
fn a_result_that_nobody_takes_may_panic() {
    without_panics("untaken", |pool| drop(pool.evaluate(bomb)));
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
fn the_callback_of_a_core_thread_that_waits_for_its_own_pool_panics() {
    within(|| {
        let (own, (tell, told)) = (Arc::new(OnceLock::<ThreadPool>::new()), mpsc::channel());
        let callers = Arc::clone(&own);
        let builder = Builder::new().core_size(1).max_size(1).on_worker_start(move || {
            let joined = catch_unwind(AssertUnwindSafe(|| callers.get().expect("the test has set it").join()));
            tell.send(joined.is_ok()).expect("the test waits for it");
        });
        let pool = builder.build();
        own.set(pool.clone()).expect("it is set once");
        pool.start_core_threads();
        assert_eq!(told.recv(), Ok(false));
    });
}

#[test]
fn waiting_in_a_stop_callback_takes_the_whole_timeout() {
    within(|| {
        let time = Duration::from_millis(20);
        let (own, (tell, told)) = (Arc::new(OnceLock::<ThreadPool>::new()), mpsc::channel());
        let callers = Arc::clone(&own);
        let builder = Builder::new().core_size(0).max_size(1).keep_alive(Duration::ZERO).on_worker_stop(move || {
            let (pool, begin) = (callers.get().expect("the test has set it"), Instant::now());
            pool.join_timeout(time);
            pool.clone().shutdown_join_timeout(time);
            tell.send(begin.elapsed()).expect("the test waits for it");
        });
        let pool = builder.build();
        own.set(pool.clone()).expect("it is set once");
        pool.execute(|| ());
        let waited = told.recv().expect("the thread stops");
        assert!(waited >= 2 * time, "{waited:?}");
    });
}

#[test]
fn a_job_does_not_wait_for_the_thread_that_is_started_for_it() {
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
fn the_numbers_of_threads_that_have_left_are_reused() {
    within(|| {
        let pool = ThreadPool::new_named(String::from("low"), 0, 1, Duration::ZERO);
        for _ in 0..20 {
            let name = pool.evaluate(|| thread::current().name().map(str::to_owned)).await_complete();
            assert_eq!(name.as_deref(), Some("low_thread_1"));
            // A thread keeps its number until it is on its way out, and then it is not counted any more.
            until("the thread is gone", || {
                pool.get_current_worker_count() == 0
                    && processor_time("low_thread").is_none_or(|of_those_left| of_those_left.is_zero())
            });
        }
    });
}

/// The first thread sleeps, and the one that was hired beyond the core does not.
#[test]
fn the_thread_that_has_slept_longest_leaves_first() {
    within(|| {
        let pool = ThreadPool::new_named(String::from("warm"), 1, 2, Duration::from_millis(10));
        let name = || thread::current().name().map(str::to_owned);
        let (tell, told) = mpsc::channel();
        let gates = ["warm_thread_1", "warm_thread_2"].map(|expected| {
            let (gate, tell) = (Gate::default(), tell.clone());
            let closed = gate.clone();
            pool.execute(move || {
                tell.send(name()).expect("the test listens");
                closed.pass();
            });
            assert_eq!(told.recv().expect("it begins").as_deref(), Some(expected));
            gate
        });
        gates[0].open();
        until("one has left", || pool.get_current_worker_count() == 1);
        gates[1].open();
        until("the other is idle", || pool.get_idle_worker_count() == 1);
        assert_eq!(pool.evaluate(name).await_complete().as_deref(), Some("warm_thread_2"));
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

/// `is_fn` and `into_fn` are not asked, whatever they would say.
#[test]
fn tasks_that_claim_to_be_closures_are_run_as_tasks() {
    struct Liar(mpsc::Sender<&'static str>);

    impl Task<()> for Liar {
        fn run(self) {
            self.0.send("run").expect("the test listens");
        }

        fn into_fn(self) -> Option<Box<dyn FnOnce() + Send + 'static>> {
            Some(Box::new(move || self.0.send("into_fn").expect("the test listens")))
        }

        fn is_fn(&self) -> bool {
            self.0.send("is_fn").expect("the test listens");
            true
        }
    }

    within(|| {
        let (pool, (tell, told)) = (ThreadPool::new(1, 1, MINUTE), mpsc::channel());
        pool.execute(Liar(tell.clone()));
        assert!(pool.try_execute(Liar(tell.clone())).is_ok());
        pool.evaluate(Liar(tell.clone())).await_complete();
        assert!(pool.try_evaluate(Liar(tell)).is_ok());
        assert_eq!(told.iter().collect::<Vec<_>>(), ["run"; 4]);
    });
}

#[test]
fn a_worker_on_its_way_to_its_first_job_is_idle() {
    within(|| {
        let gate = Gate::default();
        let hold = gate.clone();
        let pool = Builder::new().core_size(1).max_size(1).on_worker_start(move || hold.pass()).build();
        let (own, count) = (pool.clone(), ThreadPool::get_idle_worker_count);
        let first = pool.evaluate(move || count(&own));
        assert_eq!((pool.get_current_worker_count(), count(&pool)), (1, 1));
        gate.open();
        assert_eq!(first.await_complete(), 0);
    });
}

/// The job needs the other thread time and again while `shutdown_join` waits, and gets no other.
#[test]
fn idle_threads_stay_until_the_work_is_done() {
    within(|| {
        let (started, stopped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let count = |counter: &Arc<AtomicUsize>| {
            let counter = Arc::clone(counter);
            move || {
                counter.fetch_add(1, SeqCst);
            }
        };
        let builder = Builder::new().core_size(2).max_size(2);
        let pool = builder.on_worker_start(count(&started)).on_worker_stop(count(&stopped)).build();
        pool.start_core_threads();
        until("both threads have started", || started.load(SeqCst) == 2);
        let (gate, left) = (Gate::default(), Arc::clone(&stopped));
        let given_up = gate.clone();
        let job = pool.evaluate(move || {
            given_up.pass();
            for _ in 0..1000 {
                let (tell, told) = mpsc::channel();
                let child = move || tell.send(thread::current().id()).expect("the parent listens");
                assert!(try_execute_locally(child).is_ok(), "this is a job");
                assert_ne!(told.recv(), Ok(thread::current().id()));
            }
            left.load(SeqCst)
        });
        gate.open();
        pool.shutdown_join();
        assert_eq!(job.await_complete(), 0, "no thread has left");
        until("both threads have left", || stopped.load(SeqCst) == 2);
        assert_eq!(started.load(SeqCst), 2);
    });
}

/// The CPUs that count are those that the thread that makes the pool may use, not those of the machine.
#[cfg(feature = "thread-pinning")]
#[test]
fn the_default_is_a_core_thread_for_each_cpu_that_may_be_used() {
    let core_threads = || {
        let pool = ThreadPool::default();
        pool.start_core_threads();
        pool.get_current_worker_count()
    };
    within(|| {
        let cpus = thread::available_parallelism().expect("this is known wherever tests run").get();
        assert_eq!(core_threads(), cpus);
        let on_one_core = move || {
            let cores = core_affinity::get_core_ids().expect("tests run where cores are known");
            core_affinity::set_for_current(cores[0]).then(core_threads)
        };
        if let Some(threads) = thread::spawn(on_one_core).join().expect("no panic") {
            assert_eq!(threads, 1);
        }
    });
}

#[test]
fn panics_name_the_value_and_the_possible_ones() {
    fn is_debug<T: Debug>() {}
    is_debug::<ThreadPool>();
    is_debug::<Builder>();
    struct Silent;
    is_debug::<JoinHandle<Silent>>();

    let text = |pool: fn() -> ThreadPool| {
        let payload = catch_unwind(pool).expect_err("there is no such pool");
        *payload.downcast::<String>().expect("a text")
    };
    for text in [text(|| ThreadPool::new(2, 1, MINUTE)), text(|| Builder::new().core_size(2).max_size(1).build())] {
        assert!(text.contains("max_size is 1") && text.contains("at least core_size, 2"), "{text}");
    }
    let text = text(|| ThreadPool::new(0, 0, MINUTE));
    assert!(text.contains("max_size is 0") && text.contains("at least 1"), "{text}");
}

#[cfg(feature = "compat-rusty-pool-async")]
mod polled {
    use super::{Arc, AtomicUsize, Builder, MINUTE, SeqCst, ThreadPool, bomb, mpsc, until, within, without_panics};
    use futures::future::poll_fn;
    use std::task::{Poll, Waker};

    #[test]
    fn a_result_of_a_future_that_nobody_takes_may_panic() {
        without_panics("unawaited", |pool| drop(pool.spawn_await(async { bomb() })));
    }

    /// A future that is woken several times before its next step is polled once for that.
    #[test]
    fn wake_ups_are_merged() {
        within(|| {
            let (pool, polls) = (ThreadPool::new(1, 1, MINUTE), Arc::new(AtomicUsize::new(0)));
            let count = Arc::clone(&polls);
            let future = poll_fn(move |context| {
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

    /// Only a future that can go on needs the pool; and one that has panicked cannot.
    #[test]
    fn the_waker_of_a_finished_future_keeps_no_thread() {
        within(|| {
            for panics in [false, true] {
                let stopped = Arc::new(AtomicUsize::new(0));
                let stop = Arc::clone(&stopped);
                let builder = Builder::new().core_size(1).max_size(1).on_worker_stop(move || {
                    stop.fetch_add(1, SeqCst);
                });
                let (pool, (keep, kept)) = (builder.build(), mpsc::channel::<Waker>());
                pool.spawn(poll_fn(move |context| {
                    keep.send(context.waker().clone()).expect("the test keeps it");
                    assert!(!panics, "as the test wants it");
                    Poll::Ready(())
                }));
                let waker = kept.recv().expect("it is polled");
                pool.shutdown();
                until("the thread has left", || stopped.load(SeqCst) == 1);
                waker.wake();
            }
        });
    }
}
