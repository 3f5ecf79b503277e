//! What happens to a job when the maximum is reached and all workers are busy.

use super::tools::{AT_ONCE, FOR_EVER, end, occupy, settle, sized};
use crate::support::{
    child::Child,
    gate::Gate,
    log_book,
    on_drop::OnDrop,
    watchdog::{until, until_waiting, within},
};
use executors::{
    Executor, FuturesExecutor, Pool, Rejected, TaskError, TaskHandle,
    elastic_pool::{Saturation, ThreadPool},
    run_now::RunNowExecutor,
    timer::Timer,
    try_execute_locally,
};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

/// A pool of two, both busy, and one job in its queue.
fn full(saturation: Saturation) -> (ThreadPool, Gate, Arc<Mutex<Vec<&'static str>>>) {
    let (pool, gate) =
        (sized(1, 2, FOR_EVER).when_saturated(saturation).build().expect("two threads"), Gate::default());
    (0..2).for_each(|_| occupy(&pool, &gate));
    let book = Arc::default();
    assert!(pool.try_execute(noting(&book, "waited")).is_ok(), "there is room for one");
    (pool, gate, book)
}

/// A pool of one, which is busy.
fn occupied(saturation: Saturation) -> (ThreadPool, Gate) {
    let (pool, gate) = (sized(1, 1, FOR_EVER).when_saturated(saturation).build().expect("one thread"), Gate::default());
    occupy(&pool, &gate);
    (pool, gate)
}

fn noting(book: &Arc<Mutex<Vec<&'static str>>>, what: &'static str) -> impl FnOnce() + Send + use<> {
    let book = Arc::clone(book);
    move || book.lock().expect("no panic under this lock").push(what)
}

#[track_caller]
fn assert_noted(book: &Mutex<Vec<&'static str>>, expected: &[&str]) {
    assert_eq!(*book.lock().expect("no panic under this lock"), expected);
}

#[test]
fn by_default_jobs_wait() {
    within(|| {
        let (pool, gate, book) = full(Saturation::Queue);
        (0..100).for_each(|_| pool.try_execute(|| ()).expect("there is always room"));
        assert_eq!((pool.worker_count(), pool.stats().queued), (2, 101));
        gate.open();
        end(&pool);
        assert_noted(&book, &["waited"]);
    });
}

#[test]
fn a_full_pool_may_refuse() {
    within(|| {
        log_book::open();
        let (pool, gate, book) = full(Saturation::Refuse { queue: 1 });
        let refused = pool.try_execute(noting(&book, "refused")).expect_err("the queue is full");
        assert!(matches!(refused, Rejected::Full(_)) && refused.to_string().contains("full"), "{refused}");
        refused.into_job()();
        pool.execute(noting(&book, "ignored"));
        assert_eq!(pool.execute_batch([noting(&book, "batch")]), 0);
        let refused = pool.submit(|| ()).wait();
        assert!(matches!(refused, Err(TaskError::Dropped)), "{refused:?}");
        let warnings = log_book::of_this_thread();
        let full = warnings.iter().filter(|(_, text)| text.contains("full")).count();
        assert_eq!(full, 2, "for `execute` and for the batch: {warnings:?}");
        assert!(!warnings.iter().any(|(_, text)| text.contains("closed")), "{warnings:?}");
        gate.open();
        settle(&pool);
        pool.try_execute(noting(&book, "later")).expect("there is room again");
        end(&pool);
        assert_noted(&book, &["refused", "waited", "later"]);
        assert!(matches!(pool.try_execute(|| ()), Err(Rejected::Closed(_))));
    });
}

/// Many submitters at a small pool whose jobs block: as many jobs are accepted as there is room for.
#[test]
fn the_bound_is_exact() {
    within(|| {
        let pool = sized(1, 2, AT_ONCE).when_saturated(Saturation::Refuse { queue: 3 }).build().expect("two threads");
        let gate = Gate::default();
        let one = |_: &usize| {
            let gate = gate.clone();
            pool.try_execute(move || gate.pass()).is_ok()
        };
        let accepted: usize = thread::scope(|scope| {
            let submitters: Vec<_> = (0..4).map(|_| scope.spawn(|| (0..500).filter(one).count())).collect();
            submitters.into_iter().map(|submitter| submitter.join().expect("no panic")).sum()
        });
        assert_eq!(accepted, 2 + 3);
        gate.open();
        end(&pool);
        assert_eq!(pool.stats().finished, 5);
    });
}

/// Many submitters at a small pool whose jobs end soon: never more jobs run than there are workers, and each accepted
/// job runs.
#[test]
fn room_is_given_back() {
    within(|| {
        let pool = sized(1, 2, AT_ONCE).when_saturated(Saturation::Refuse { queue: 3 }).build().expect("two threads");
        let (inside, ran) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let accepted: usize = thread::scope(|scope| {
            let submit = || {
                let one = |_: &usize| {
                    let (inside, ran) = (Arc::clone(&inside), Arc::clone(&ran));
                    // Counted by the job, when it has left the queue and has its slot.
                    let job = move || {
                        assert!(inside.fetch_add(1, SeqCst) < 2);
                        ran.fetch_add(1, SeqCst);
                        inside.fetch_sub(1, SeqCst);
                    };
                    pool.try_execute(job).is_ok()
                };
                (0..2000).filter(one).count()
            };
            let submitters: Vec<_> = (0..4).map(|_| scope.spawn(submit)).collect();
            submitters.into_iter().map(|submitter| submitter.join().expect("no panic")).sum()
        });
        end(&pool);
        assert_eq!((ran.load(SeqCst), pool.stats().panicked), (accepted, 0));
    });
}

#[test]
fn a_full_pool_may_let_its_submitters_wait() {
    within(|| {
        let (pool, gate, book) = full(Saturation::Block { queue: 1, timeout: None });
        thread::scope(|scope| {
            let submitter = scope.spawn(|| pool.try_execute(noting(&book, "patient")).is_ok());
            until_waiting(&pool, 1);
            gate.open();
            assert!(submitter.join().expect("no panic"));
        });
        end(&pool);
        // Two workers took them, in any order.
        book.lock().expect("no panic under this lock").sort_unstable();
        assert_noted(&book, &["patient", "waited"]);
    });
}

#[test]
fn submitters_that_wait_give_up() {
    within(|| {
        let timeout = Some(Duration::from_millis(20));
        let (pool, gate, book) = full(Saturation::Block { queue: 1, timeout });
        let begin = Instant::now();
        assert!(matches!(pool.try_execute(noting(&book, "late")), Err(Rejected::Full(_))));
        assert!(begin.elapsed() >= Duration::from_millis(20));
        gate.open();
        end(&pool);
        assert_noted(&book, &["waited"]);
    });
}

#[test]
fn closing_releases_submitters_that_wait() {
    let discard = |pool: &ThreadPool| _ = pool.shutdown_now();
    for close in [ThreadPool::shutdown_async, discard] {
        within(|| {
            let saturation = Saturation::Block { queue: 0, timeout: None };
            let ((pool, gate), book) = (occupied(saturation), Arc::default());
            thread::scope(|scope| {
                let submitter = scope.spawn(|| pool.try_execute(noting(&book, "closed")));
                until_waiting(&pool, 1);
                close(&pool);
                assert!(matches!(submitter.join().expect("no panic"), Err(Rejected::Closed(_))));
            });
            gate.open();
            end(&pool);
            assert_noted(&book, &[]);
        });
    }
}

/// What a dropped job owns may wait for a job that waits for room.
#[test]
fn submitters_are_told_before_jobs_are_discarded() {
    within(|| {
        let saturation = Saturation::Block { queue: 0, timeout: None };
        let pool = sized(1, 1, FOR_EVER).when_saturated(saturation).build().expect("one thread");
        let (inner, (end_job, job_ended), (tell, told)) = (pool.clone(), mpsc::channel::<()>(), mpsc::channel());
        pool.execute(move || {
            let waits = OnDrop::new(move || assert!(job_ended.recv().is_err()));
            assert!(try_execute_locally(move || drop(waits)).is_ok());
            tell.send(matches!(inner.try_execute(|| ()), Err(Rejected::Closed(_)))).expect("the test listens");
            drop(end_job);
        });
        until_waiting(&pool, 1);
        pool.shutdown_now();
        assert_eq!(told.recv(), Ok(true));
        end(&pool);
        // The worker may come to the other job before that is dropped.
        assert_eq!(pool.stats().finished + pool.stats().discarded, 2);
    });
}

/// Discarding what waits makes room, but not for a submitter that waits for room.
#[test]
fn discarding_lets_no_submitter_in() {
    within(|| {
        let (pool, gate, book) = full(Saturation::Block { queue: 1, timeout: None });
        thread::scope(|scope| {
            let submitter = scope.spawn(|| pool.try_execute(noting(&book, "closed")));
            until_waiting(&pool, 1);
            assert_eq!(pool.shutdown_now().discarded, 1);
            assert!(matches!(submitter.join().expect("no panic"), Err(Rejected::Closed(_))));
        });
        gate.open();
        end(&pool);
        assert_noted(&book, &[]);
    });
}

#[test]
fn a_full_pool_may_have_its_submitters_run_their_jobs() {
    within(|| {
        let (pool, gate, book) = full(Saturation::RunOnCaller { queue: 1 });
        let (here, (tell, told)) = (thread::current().id(), mpsc::channel());
        let (local, inner) = (pool.clone(), noting(&book, "inner"));
        pool.execute(move || {
            // As in any job of the pool.
            assert!(local.join().is_err() && try_execute_locally(inner).is_ok());
            tell.send(thread::current().id()).expect("the test listens");
        });
        assert_eq!(told.try_recv(), Ok(here));
        pool.execute(|| panic!("expected by the test"));
        assert_eq!((pool.stats().finished, pool.stats().panicked), (2, 1));
        gate.open();
        end(&pool);
        // Two workers took them, in any order.
        book.lock().expect("no panic under this lock").sort_unstable();
        assert_noted(&book, &["inner", "waited"]);
        assert_eq!(pool.stats().finished, 6);
    });
}

#[test]
fn a_worker_of_a_full_pool_runs_its_own_jobs() {
    within(|| {
        let pool =
            sized(1, 1, FOR_EVER).when_saturated(Saturation::RunOnCaller { queue: 0 }).build().expect("one thread");
        let local = pool.clone();
        let threads = pool.submit(move || {
            let (tell, told) = mpsc::channel();
            local.execute(move || tell.send(thread::current().id()).expect("the parent listens"));
            (thread::current().id(), told.recv().expect("the child has run"))
        });
        let (parent, child) = threads.wait().expect("no panic");
        assert_eq!(parent, child);
        end(&pool);
        assert_eq!(pool.stats().finished, 2);
    });
}

/// Also if the job that submits it does so within a job of another executor.
#[test]
fn a_job_that_runs_within_another_belongs_to_its_own_pool() {
    within(|| {
        let (calls, book, between) = (Arc::new(AtomicUsize::new(0)), Arc::default(), RunNowExecutor::new());
        let count = Arc::clone(&calls);
        let builder = sized(1, 1, FOR_EVER).when_saturated(Saturation::RunOnCaller { queue: 0 });
        let pool = builder.panic_handler(move |_| _ = count.fetch_add(1, SeqCst)).build().expect("one thread");
        let (executor, local) = (between.clone(), pool.clone());
        let (first, later) = (noting(&book, "first"), noting(&book, "later"));
        let parent = pool.submit(move || {
            executor.execute(move || {
                assert!(local.submit(|| panic!("expected by the test")).wait().is_err());
                local.execute(move || {
                    assert!(try_execute_locally(later).is_ok());
                    first();
                });
            });
        });
        parent.wait().expect("no panic");
        end(&pool);
        assert_noted(&book, &["first", "later"]);
        let panicked = (pool.stats().panicked, calls.load(SeqCst), between.stats().panicked);
        assert_eq!(panicked, (1, 1, 0));
    });
}

/// And so does one that is dropped within another.
#[test]
fn a_job_that_is_dropped_within_another_belongs_to_its_own_pool() {
    within(|| {
        let (book, between) = (Arc::default(), RunNowExecutor::new());
        let builder = sized(1, 1, FOR_EVER).when_saturated(Saturation::DiscardOldest { queue: 1 });
        let pool = builder.build().expect("one thread");
        let (first, later) = (noting(&book, "first"), noting(&book, "later"));
        let guard = OnDrop::new(move || {
            assert!(try_execute_locally(later).is_ok());
            first();
        });
        let local = pool.clone();
        let parent = pool.submit(move || {
            between.execute(move || {
                local.execute(move || drop(guard));
                local.execute(|| ());
            });
        });
        parent.wait().expect("no panic");
        end(&pool);
        assert_eq!(pool.stats().discarded, 1);
        assert_noted(&book, &["first", "later"]);
    });
}

#[test]
fn a_full_pool_may_drop_its_oldest_job() {
    within(|| {
        let (pool, gate, book) = full(Saturation::DiscardOldest { queue: 1 });
        for what in ["second", "third"] {
            pool.try_execute(noting(&book, what)).expect("it takes the place of another");
        }
        assert_eq!((pool.stats().discarded, pool.stats().queued), (2, 1));
        gate.open();
        end(&pool);
        assert_noted(&book, &["third"]);
    });
}

/// Whichever submitter it is from.
#[test]
fn the_oldest_job_of_any_submitter_is_dropped() {
    within(|| {
        let (pool, gate, book) = full(Saturation::DiscardOldest { queue: 3 });
        for what in ["second", "third", "fourth", "fifth"] {
            thread::scope(|scope| {
                scope.spawn(|| pool.try_execute(noting(&book, what)).expect("it takes the place of another"));
            });
        }
        assert_eq!((pool.stats().discarded, pool.stats().queued), (2, 3));
        gate.open();
        end(&pool);
        // Two workers took them, in any order.
        book.lock().expect("no panic under this lock").sort_unstable();
        assert_noted(&book, &["fifth", "fourth", "third"]);
    });
}

/// Each job that is dropped for another submits two, for which others are dropped: these drops must not nest.
#[test]
fn a_job_that_is_dropped_for_room_may_submit() {
    const JOBS: usize = 20_000;

    struct Guard(ThreadPool);

    impl Drop for Guard {
        fn drop(&mut self) {
            (0..2).for_each(|_| self.0.execute(|| ()));
        }
    }

    // If they did, the process would run out of stack.
    Child::default().run(|| {
        let (pool, gate) = occupied(Saturation::DiscardOldest { queue: JOBS });
        for _ in 0..JOBS {
            let guard = Guard(pool.clone());
            pool.execute(move || drop(guard));
        }
        pool.execute(|| ());
        // All guards are gone, and some of the jobs that they submitted.
        assert_eq!(pool.stats().queued, JOBS);
        assert_eq!(pool.stats().discarded, 2 * JOBS as u64 + 1);
        // The bound is where it was.
        pool.execute(|| ());
        assert_eq!((pool.stats().queued, pool.stats().discarded), (JOBS, 2 * JOBS as u64 + 2));
        gate.open();
        end(&pool);
        assert_eq!(pool.stats().finished, JOBS as u64 + 1);
    });
}

/// Drops that would be nested too deep are put off, and take up no room: the destructor during which this happens may
/// submit one more job when all others have run.
#[test]
fn jobs_whose_drop_is_put_off_take_up_no_room() {
    /// As many drops may be nested.
    const NESTING: usize = 16;

    struct Guard(ThreadPool, Option<Gate>);

    impl Drop for Guard {
        fn drop(&mut self) {
            let Guard(pool, gate_of_last) = self;
            let Some(gate) = gate_of_last else { return pool.execute(|| ()) };
            (0..=NESTING).for_each(|_| pool.execute(|| ()));
            gate.open();
            until("all have begun", || pool.stats().queued == 0);
            pool.execute(|| ());
        }
    }

    within(|| {
        let (pool, gate) = occupied(Saturation::DiscardOldest { queue: NESTING });
        for number in 1..=NESTING {
            let guard = Guard(pool.clone(), (number == NESTING).then(|| gate.clone()));
            pool.execute(move || drop(guard));
        }
        pool.execute(|| ());
        end(&pool);
        // The last guard's jobs have displaced those of the others, and the first of its own.
        assert_eq!(pool.stats().discarded, 2 * NESTING as u64 + 1);
        assert_eq!(pool.stats().finished, 1 + NESTING as u64 + 1);
    });
}

/// The destructor of a job that is dropped for another ends the pool: the rest is dropped there and then.
#[test]
fn a_job_that_is_dropped_for_room_may_discard_the_rest() {
    struct Guard(ThreadPool);

    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.shutdown_now();
        }
    }

    within(|| {
        let (pool, gate, book) = full(Saturation::DiscardOldest { queue: 2 });
        gate.open();
        settle(&pool);
        let gate = Gate::default();
        (0..2).for_each(|_| occupy(&pool, &gate));
        let guard = Guard(pool.clone());
        pool.execute(move || drop(guard));
        pool.execute(noting(&book, "waiting"));
        pool.execute(noting(&book, "new"));
        assert_eq!((pool.stats().queued, pool.stats().discarded), (0, 3));
        gate.open();
        end(&pool);
        assert_noted(&book, &["waited"]);
    });
}

/// The destructor of a job that is dropped for another submits a job, for which the next is dropped, and waits for the
/// thread that waits for that one.
#[test]
fn a_job_that_is_dropped_for_room_tells_its_waiter_from_within_a_drop() {
    struct Owner(ThreadPool, Option<thread::JoinHandle<()>>);

    impl Drop for Owner {
        fn drop(&mut self) {
            self.0.execute(|| ());
            self.1.take().into_iter().for_each(|waiter| waiter.join().expect("no panic"));
        }
    }

    within(|| {
        let (pool, gate) = occupied(Saturation::DiscardOldest { queue: 2 });
        // It is told of a handle that does not exist before the job.
        let (give, given) = mpsc::channel::<TaskHandle<()>>();
        let waiter = thread::spawn(move || {
            let next = given.recv().expect("the test gives it");
            assert!(matches!(next.wait(), Err(TaskError::Dropped)));
        });
        let owner = Owner(pool.clone(), Some(waiter));
        pool.execute(move || drop(owner));
        give.send(pool.submit(|| ())).expect("the waiter listens");
        pool.execute(|| ());
        assert_eq!((pool.stats().queued, pool.stats().discarded), (2, 2));
        gate.open();
        end(&pool);
    });
}

/// A future, or a job that another one has left behind, is not dropped, so that no waiter waits for it for ever.
#[test]
fn futures_and_jobs_of_jobs_are_not_dropped_for_room() {
    within(|| {
        let saturation = Saturation::DiscardOldest { queue: 1 };
        let (pool, gate) =
            (sized(1, 1, FOR_EVER).when_saturated(saturation).build().expect("one thread"), Gate::default());
        let (wake, woken) = futures::channel::oneshot::channel::<u8>();
        let (waiting, book) = (pool.submit_future(woken), Arc::default());
        settle(&pool);
        let ((tell, told), passes, inner) = (mpsc::channel(), gate.clone(), noting(&book, "left behind"));
        pool.execute(move || {
            assert!(try_execute_locally(inner).is_ok(), "this is a job");
            tell.send(()).expect("the test listens");
            passes.pass();
        });
        told.recv().expect("the job begins");
        wake.send(1).expect("the future waits");
        let dropped = pool.submit(|| ());
        for what in ["second", "third"] {
            pool.try_execute(noting(&book, what)).expect("it takes the place of another");
        }
        assert_eq!((pool.stats().discarded, pool.stats().queued), (2, 3));
        assert!(matches!(dropped.wait(), Err(TaskError::Dropped)));
        gate.open();
        assert_eq!(waiting.wait().expect("no panic"), Ok(1));
        end(&pool);
        book.lock().expect("no panic under this lock").sort_unstable();
        assert_noted(&book, &["left behind", "third"]);
    });
}

/// Jobs of both kinds, each of which is followed by another of its kind: none starves the other.
#[test]
fn jobs_that_may_be_dropped_and_steps_go_in_turn() {
    within(|| {
        let ((pool, gate), book) = (occupied(Saturation::DiscardOldest { queue: 100 }), Arc::default());
        for _ in 0..10 {
            pool.try_execute(noting(&book, "job")).expect("there is room");
            let step = noting(&book, "step");
            pool.spawn(async { step() }).detach();
        }
        gate.open();
        settle(&pool);
        let order = book.lock().expect("no panic under this lock").clone();
        assert!(order.chunks(2).all(|two| two[0] != two[1]), "{order:?}");
        end(&pool);
    });
}

/// Whether the pool refuses it or discards it for another job; but when the pool is closed, it does not come up again.
#[test]
fn a_repeated_job_misses_times_at_which_there_is_no_room() {
    for saturation in [Saturation::Refuse { queue: 0 }, Saturation::DiscardOldest { queue: 1 }] {
        within(|| {
            let pool = sized(1, 1, FOR_EVER).when_saturated(saturation).build().expect("one thread");
            let (gate, (timer, clock)) = (Gate::default(), Timer::manual());
            occupy(&pool, &gate);
            let (second, (tell, told)) = (Duration::from_secs(1), mpsc::channel());
            let beat = timer.at_fixed_rate(second, &pool, move || tell.send(()).expect("the test listens"));
            let beat = beat.expect("a thread");
            clock.advance(second);
            pool.execute(|| ()); // takes its place, or is refused, too
            assert!(beat.is_scheduled());
            gate.open();
            pool.join().expect("this is no worker");
            assert!(told.try_recv().is_err());
            clock.advance(second);
            assert_eq!(told.recv(), Ok(()));
            pool.shutdown_borrowed().expect("nothing blocks");
            clock.advance(second);
            assert!(!beat.is_scheduled() && told.recv().is_err());
        });
    }
}

/// The thread is no worker, but what it runs is a job of the pool: one for which the destructor of another waits.
#[test]
fn a_job_within_the_drop_of_another_may_submit_while_the_pool_drains() {
    within(|| {
        let (pool, gate) = occupied(Saturation::DiscardOldest { queue: 2 });
        let (tell, told) = mpsc::channel::<TaskHandle<()>>();
        let waits = OnDrop::new(move || told.recv().expect("it is sent").wait().expect("it runs"));
        pool.execute(move || drop(waits));
        let (local, ran) = (pool.clone(), Arc::new(AtomicUsize::new(0)));
        let counts = [(); 2].map(|()| Arc::clone(&ran));
        let parent = pool.submit(move || {
            local.shutdown_async();
            let [one, other] = counts.map(|count| move || _ = count.fetch_add(1, SeqCst));
            assert!(local.try_execute(one).is_ok() && try_execute_locally(other).is_ok());
        });
        tell.send(parent).expect("the destructor listens");
        pool.execute(|| ());
        gate.open();
        end(&pool);
        assert_eq!(ran.load(SeqCst), 2);
    });
}
