//! What only elastic pools do: growing, shrinking, being full. What they have in common with others is in
//! `conformance.rs`.
#![cfg(feature = "elastic-exec")]

mod support;

use executors::{
    Builder, Executor, FuturesExecutor, Pool, TaskError,
    elastic_pool::{self, Growth, Refusal, Saturation, ThreadPool},
    try_execute_locally,
};
use futures::executor::block_on;
use std::{
    hint,
    sync::{
        Arc, Barrier, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};
use support::{
    child::Child,
    gate::Gate,
    log_book, suspend, threads,
    watchdog::{PATIENCE, until, within},
};

/// So long that nobody leaves in a test.
const FOR_EVER: Duration = Duration::MAX;
/// So short that whoever may leave does so at once.
const AT_ONCE: Duration = Duration::from_nanos(1);

fn sized(core: usize, max: usize, keep_alive: Duration) -> Builder<ThreadPool> {
    ThreadPool::builder().core(core).max(max).keep_alive(keep_alive)
}

fn pool(core: usize, max: usize, keep_alive: Duration) -> ThreadPool {
    sized(core, max, keep_alive).build().expect("these sizes are possible")
}

/// Keeps a worker busy until the gate is opened; returns when it is.
fn occupy(pool: &ThreadPool, gate: &Gate) {
    let ((tell, told), gate) = (mpsc::channel(), gate.clone());
    pool.execute(move || {
        tell.send(()).expect("the test listens");
        gate.pass();
    });
    told.recv().expect("the job begins");
}

/// Waits until all has run and all workers are idle. (When a join returns, all has run; a worker may be woken for
/// nothing then.)
fn settle(pool: &ThreadPool) {
    pool.join().expect("this is no worker");
    until("all workers are idle", || pool.idle_count() == pool.worker_count());
}

fn end(pool: &ThreadPool) {
    let report = pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
    assert_eq!((report.running, report.queued), (0, 0));
    assert_eq!((pool.stats().workers, pool.worker_count(), pool.idle_count()), (0, 0, 0));
}

#[test]
fn no_thread_before_the_first_job_and_one_for_each_until_the_core_is_full() {
    within(|| {
        let pool = pool(3, 3, FOR_EVER);
        assert_eq!((pool.worker_count(), pool.stats().workers), (0, 0));
        for job in 1..=5 {
            pool.execute(|| ());
            settle(&pool);
            assert_eq!(pool.worker_count(), job.min(3), "also if workers are idle");
        }
        end(&pool);
    });
}

#[test]
fn beyond_the_core_a_worker_is_hired_only_if_none_is_idle() {
    within(|| {
        let (pool, gate) = (pool(1, 3, FOR_EVER), Gate::default());
        for _ in 0..10 {
            pool.execute(|| ());
            settle(&pool);
            assert_eq!(pool.worker_count(), 1, "the first worker was idle");
        }
        occupy(&pool, &gate);
        assert_eq!((pool.worker_count(), pool.idle_count()), (1, 0));
        occupy(&pool, &gate);
        assert_eq!(pool.worker_count(), 2);
        occupy(&pool, &gate);
        assert_eq!(pool.worker_count(), 3);
        pool.execute(|| ());
        assert_eq!((pool.worker_count(), pool.stats().queued), (3, 1), "this is the maximum");
        gate.open();
        settle(&pool);
        assert_eq!((pool.worker_count(), pool.stats().done), (3, 14));
        end(&pool);
    });
}

/// One idle worker, and several jobs at once: each job needs a worker, as none ends before all have begun. A pool that
/// counted on the idle worker for two of them would leave one behind the other for ever.
#[test]
fn an_idle_worker_is_promised_to_one_job_only() {
    const SUBMITTERS: usize = 4;
    for round in 0..300 {
        within(|| {
            let pool = pool(1, SUBMITTERS + 1, FOR_EVER);
            (0..=round % 2).for_each(|_| pool.execute(|| ()));
            settle(&pool);
            let (start, meeting) = (Barrier::new(SUBMITTERS), Arc::new(Barrier::new(SUBMITTERS + 1)));
            thread::scope(|scope| {
                for _ in 0..SUBMITTERS {
                    scope.spawn(|| {
                        let meeting = Arc::clone(&meeting);
                        start.wait();
                        pool.execute(move || {
                            meeting.wait();
                        });
                    });
                }
            });
            meeting.wait();
            settle(&pool);
            end(&pool);
        });
    }
}

/// The same with one submitter, from inside, and in a batch.
#[test]
fn each_of_several_jobs_has_a_worker_of_its_own() {
    for round in 0..150 {
        within(|| {
            let pool = pool(round % 3, 8, FOR_EVER);
            let meeting = Arc::new(Barrier::new(6));
            let job = |_| {
                let meeting = Arc::clone(&meeting);
                move || {
                    meeting.wait();
                }
            };
            match round % 4 {
                0 => (0..5).for_each(|number| pool.execute(job(number))),
                1 => assert_eq!(pool.execute_batch((0..5).map(job)), 5),
                2 => {
                    let (local, jobs) = (pool.clone(), (0..5).map(job).collect::<Vec<_>>());
                    pool.execute(move || jobs.into_iter().for_each(|job| local.execute(job)));
                }
                _ => {
                    let jobs = (0..5).map(job).collect::<Vec<_>>();
                    pool.execute(move || jobs.into_iter().for_each(|job| drop(try_execute_locally(job))));
                }
            }
            meeting.wait();
            end(&pool);
        });
    }
}

#[test]
fn workers_beyond_the_core_leave() {
    within(|| {
        let counts = Arc::new([const { AtomicUsize::new(0) }; 2]);
        let hook = |which: usize| {
            let counts = Arc::clone(&counts);
            move |_| {
                counts[which].fetch_add(1, SeqCst);
            }
        };
        let pool = sized(2, 6, AT_ONCE).on_start(hook(0)).on_stop(hook(1)).build().expect("six threads");
        let stopped = || counts[1].load(SeqCst);
        let here = || counts[0].load(SeqCst) - stopped();
        for round in 1..=20 {
            let gate = Gate::default();
            (0..6).for_each(|_| occupy(&pool, &gate));
            assert_eq!(pool.worker_count(), 6);
            gate.open();
            until("four have left", || pool.stats().workers == 2);
            assert_eq!((pool.worker_count(), here()), (2, 2), "the core stays");
            assert!(stopped() >= 4 * round);
        }
        end(&pool);
        assert_eq!(here(), 0);
    });
}

/// What a worker submits on its way out is for those who come after it.
#[test]
fn a_stop_hook_may_submit() {
    within(|| {
        let (own, ran) = (Arc::new(OnceLock::<ThreadPool>::new()), Arc::new(AtomicUsize::new(0)));
        let (pool_of_hook, left) = (Arc::clone(&own), AtomicUsize::new(3));
        let count = Arc::clone(&ran);
        let hook = move |_| {
            let again = left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
            if let Some(pool) = pool_of_hook.get().filter(|_| again) {
                let count = Arc::clone(&count);
                let job = move || {
                    count.fetch_add(1, SeqCst);
                };
                pool.try_execute(job).expect("the pool is open");
            }
        };
        let pool = sized(0, 1, AT_ONCE).on_stop(hook).build().expect("one thread");
        own.set(pool.clone()).expect("nobody else sets it");
        pool.execute(|| ());
        until("what the hooks have submitted has run", || ran.load(SeqCst) == 3);
        end(&pool);
    });
}

#[test]
fn a_worker_beyond_the_core_stays_for_as_long_as_it_was_told() {
    within(|| {
        let keep_alive = Duration::from_millis(50);
        let pool = pool(0, 1, keep_alive);
        let begin = Instant::now();
        pool.execute(|| ());
        until("the worker has left", || pool.worker_count() == 0);
        assert!(begin.elapsed() >= keep_alive);
        end(&pool);
    });
}

/// Jobs that come in just when the time of the only worker runs out.
#[test]
fn a_job_that_meets_a_leaving_worker_is_neither_lost_nor_left() {
    for (core, max) in [(0, 1), (0, 2), (1, 2)] {
        within(|| {
            let pool = pool(core, max, AT_ONCE);
            for round in 0..3000 {
                (0..round % 200).for_each(|_| hint::spin_loop());
                assert_eq!(pool.submit(move || round).wait().expect("no panic"), round);
            }
            assert_eq!(pool.stats().panicked, 0);
            end(&pool);
            assert_eq!(pool.stats().done, 3000);
        });
    }
}

/// The same while the other workers are blocked, so that nobody else comes to the job.
#[test]
fn a_job_that_meets_a_leaving_worker_does_not_wait_for_the_others() {
    within(|| {
        let (pool, gate) = (pool(1, 3, AT_ONCE), Gate::default());
        occupy(&pool, &gate);
        occupy(&pool, &gate);
        for round in 0..3000 {
            (0..round % 200).for_each(|_| hint::spin_loop());
            assert_eq!(pool.submit(move || round).wait().expect("no panic"), round);
        }
        gate.open();
        end(&pool);
    });
}

/// Jobs that spawn jobs on workers that come and go: when a join returns, all have ended.
#[test]
fn a_join_returns_behind_the_last_job() {
    for (core, max, keep_alive) in [(0, 3, AT_ONCE), (1, 2, AT_ONCE), (2, 4, FOR_EVER)] {
        within(|| {
            let pool = pool(core, max, keep_alive);
            let ended = Arc::new(AtomicUsize::new(0));
            for round in 1..=500 {
                let (local, count) = (pool.clone(), Arc::clone(&ended));
                pool.execute(move || {
                    let again = Arc::clone(&count);
                    local.execute(move || {
                        (0..100).for_each(|_| hint::spin_loop());
                        again.fetch_add(1, SeqCst);
                    });
                    count.fetch_add(1, SeqCst);
                });
                pool.join().expect("this is no worker");
                assert_eq!(ended.load(SeqCst), 2 * round);
            }
            end(&pool);
        });
    }
}

/// Pools that are closed while their workers leave, or before there are any.
#[test]
fn a_pool_may_end_at_any_time() {
    for round in 0..600 {
        within(|| {
            let pool = pool(round % 2, 2, AT_ONCE);
            let jobs = round % 4;
            (0..jobs).for_each(|_| pool.execute(|| ()));
            (0..round % 300).for_each(|_| hint::spin_loop());
            end(&pool);
            assert_eq!(pool.stats().done, jobs as u64);
        });
    }
}

#[test]
fn core_threads_may_be_started_before_the_first_job() {
    within(|| {
        let pool = pool(3, 5, FOR_EVER);
        pool.start_core_threads();
        assert_eq!(pool.worker_count(), 3);
        pool.start_core_threads();
        assert_eq!(pool.worker_count(), 3);
        until("they are idle", || pool.stats().idle == 3);
        pool.execute(|| ());
        settle(&pool);
        assert_eq!(pool.worker_count(), 3);
        end(&pool);
    });
}

/// The numbers of workers that have left are given again, and so are their names.
#[test]
fn numbers_stay_low() {
    within(|| {
        let started = Arc::new(Mutex::new(Vec::new()));
        let note = Arc::clone(&started);
        let hook = move |number| note.lock().expect("no panic under this lock").push(number);
        let pool = sized(0, 4, AT_ONCE).name("low").on_start(hook).build().expect("four threads");
        for round in 0..200 {
            let name = pool.submit(|| thread::current().name().map(str::to_owned)).wait().expect("no panic");
            assert!(name.expect("it has one").starts_with("low-"), "{round}");
        }
        end(&pool);
        assert!(started.lock().expect("no panic under this lock").iter().all(|&number| number < 4));
    });
}

/// As many blocked threads as some programs have: each job has one.
#[test]
fn thousands_of_threads_may_block() {
    const THREADS: usize = 3000;
    Child::default().run(|| {
        let pool = sized(2, THREADS, FOR_EVER).stack_size(64 << 10).build().expect("this many threads are possible");
        for _ in 0..2 {
            let meeting = Arc::new(Barrier::new(THREADS + 1));
            for _ in 0..THREADS {
                let meeting = Arc::clone(&meeting);
                pool.execute(move || {
                    meeting.wait();
                });
            }
            meeting.wait();
            settle(&pool);
            assert_eq!(pool.worker_count(), THREADS);
        }
        end(&pool);
    });
}

/// Where the operating system refuses further threads, those that there are do the work.
#[test]
fn refused_threads_leave_the_work_to_the_others() {
    Child::default().address_space(2 << 30).run(|| {
        let pool = sized(12, 12, FOR_EVER).stack_size(256 << 20).build().expect("no thread is started yet");
        let jobs: Vec<_> = (0..24).map(|number| pool.submit(move || number)).collect();
        let sum: i32 = jobs.into_iter().map(|job| job.wait().expect("no panic")).sum();
        assert_eq!(sum, 276);
        assert!(!cfg!(target_os = "linux") || (1..12).contains(&pool.worker_count()), "{}", pool.worker_count());
        end(&pool);
    });
}

/// Where there is none at all, the submitter does the work.
#[test]
fn refused_threads_leave_the_work_to_the_submitter() {
    if !cfg!(target_os = "linux") {
        return; // there the address space is not limited
    }
    Child::default().address_space(2 << 30).run(|| {
        log_book::open();
        let pool = sized(1, 4, FOR_EVER).name("nobody").stack_size(4 << 30).build().expect("no thread is started yet");
        let here = thread::current().id();
        for _ in 0..3 {
            let local = pool.clone();
            let job = pool.submit(move || {
                local.execute(|| ());
                thread::current().id()
            });
            assert_eq!(job.wait().expect("no panic"), here);
        }
        pool.join().expect("this is no worker any more");
        assert_eq!((pool.stats().done, pool.worker_count()), (6, 0));
        assert!(!log_book::of_all_threads("nobody goes on with 0 threads").is_empty());
        end(&pool);
    });
}

/// A pool of two, both busy, and one job in its queue.
fn full(saturation: Saturation) -> (ThreadPool, Gate, Arc<Mutex<Vec<&'static str>>>) {
    let (pool, gate) =
        (sized(1, 2, FOR_EVER).when_saturated(saturation).build().expect("two threads"), Gate::default());
    (0..2).for_each(|_| occupy(&pool, &gate));
    let book = Arc::default();
    assert!(pool.offer(noting(&book, "waited")).is_ok(), "there is room for one");
    (pool, gate, book)
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
        (0..100).for_each(|_| pool.offer(|| ()).expect("there is always room"));
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
        let Err(Refusal::Full(job)) = pool.offer(noting(&book, "refused")) else { panic!("the queue is full") };
        job();
        pool.try_execute(noting(&book, "tried")).expect_err("the queue is full").into_job()();
        pool.execute(noting(&book, "ignored"));
        assert_eq!(pool.execute_batch([noting(&book, "batch")]), 0);
        let refused = pool.submit(|| ()).wait();
        assert!(matches!(refused, Err(TaskError::Dropped)), "{refused:?}");
        let warnings = log_book::of_this_thread();
        assert!(warnings.iter().any(|(_, text)| text.contains("full")), "{warnings:?}");
        gate.open();
        settle(&pool);
        pool.offer(noting(&book, "later")).expect("there is room again");
        end(&pool);
        assert_noted(&book, &["refused", "tried", "waited", "later"]);
        assert!(matches!(pool.offer(|| ()), Err(Refusal::Closed(_))));
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
            pool.offer(move || gate.pass()).is_ok()
        };
        let accepted: usize = thread::scope(|scope| {
            let submitters: Vec<_> = (0..4).map(|_| scope.spawn(|| (0..500).filter(one).count())).collect();
            submitters.into_iter().map(|submitter| submitter.join().expect("no panic")).sum()
        });
        assert_eq!(accepted, 2 + 3);
        gate.open();
        end(&pool);
        assert_eq!(pool.stats().done, 5);
    });
}

/// Many submitters at a small pool whose jobs end soon: never more jobs run than there are workers, and each accepted job runs.
#[test]
fn room_is_given_back() {
    within(|| {
        let pool = sized(1, 2, AT_ONCE).when_saturated(Saturation::Refuse { queue: 3 }).build().expect("two threads");
        let (inside, ran) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let accepted: usize = thread::scope(|scope| {
            let submit = || {
                let one = |_: &usize| {
                    let (inside, ran) = (Arc::clone(&inside), Arc::clone(&ran));
                    // Counted by the job: it has left the queue then, and has its slot.
                    let job = move || {
                        assert!(inside.fetch_add(1, SeqCst) < 2);
                        ran.fetch_add(1, SeqCst);
                        inside.fetch_sub(1, SeqCst);
                    };
                    pool.offer(job).is_ok()
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
            let submitter = scope.spawn(|| pool.offer(noting(&book, "patient")).is_ok());
            gate.open();
            assert!(submitter.join().expect("no panic"));
        });
        end(&pool);
        // Two workers took them.
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
        assert!(matches!(pool.offer(noting(&book, "late")), Err(Refusal::Full(_))));
        assert!(begin.elapsed() >= Duration::from_millis(20));
        gate.open();
        end(&pool);
        assert_noted(&book, &["waited"]);
    });
}

#[test]
fn closing_releases_submitters_that_wait() {
    within(|| {
        let (pool, gate, book) = full(Saturation::Block { queue: 1, timeout: None });
        thread::scope(|scope| {
            let submitter = scope.spawn(|| pool.offer(noting(&book, "closed")));
            pool.shutdown_async();
            assert!(matches!(submitter.join().expect("no panic"), Err(Refusal::Closed(_))));
        });
        gate.open();
        end(&pool);
        assert_noted(&book, &["waited"]);
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
        assert_eq!((pool.stats().done, pool.stats().panicked), (2, 1));
        gate.open();
        end(&pool);
        // Two workers took them.
        book.lock().expect("no panic under this lock").sort_unstable();
        assert_noted(&book, &["inner", "waited"]);
        assert_eq!(pool.stats().done, 6);
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
        assert_eq!(pool.stats().done, 2);
    });
}

#[test]
fn a_full_pool_may_drop_its_oldest_job() {
    within(|| {
        let (pool, gate, book) = full(Saturation::DiscardOldest { queue: 1 });
        for what in ["second", "third"] {
            pool.offer(noting(&book, what)).expect("it takes the place of another");
        }
        assert_eq!((pool.stats().discarded, pool.stats().queued), (2, 1));
        gate.open();
        end(&pool);
        assert_noted(&book, &["third"]);
    });
}

/// Of several submitters, too.
#[test]
fn the_oldest_job_is_dropped_whoever_gave_it() {
    within(|| {
        let (pool, gate, book) = full(Saturation::DiscardOldest { queue: 3 });
        for what in ["second", "third", "fourth", "fifth"] {
            thread::scope(|scope| {
                scope.spawn(|| pool.offer(noting(&book, what)).expect("it takes the place of another"));
            });
        }
        assert_eq!((pool.stats().discarded, pool.stats().queued), (2, 3));
        gate.open();
        end(&pool);
        // Two workers took them.
        book.lock().expect("no panic under this lock").sort_unstable();
        assert_noted(&book, &["fifth", "fourth", "third"]);
    });
}

/// Nobody waits for ever for a future, or for a job that another one has left behind.
#[test]
fn what_goes_on_is_not_dropped_however_old() {
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
            pool.offer(noting(&book, what)).expect("it takes the place of another");
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
        let saturation = Saturation::DiscardOldest { queue: 100 };
        let pool = sized(1, 1, FOR_EVER).when_saturated(saturation).build().expect("one thread");
        let (gate, book) = (Gate::default(), Arc::default());
        occupy(&pool, &gate);
        for _ in 0..10 {
            pool.offer(noting(&book, "job")).expect("there is room");
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

/// Growth only for those that block: as many at work as the core has.
#[test]
fn who_blocks_is_replaced() {
    within(|| {
        let pool = sized(1, 3, AT_ONCE).growth(Growth::WhenBlocked).build().expect("three threads");
        let gate = Gate::default();
        occupy(&pool, &gate);
        let waiting = pool.submit(|| ());
        assert_eq!(pool.worker_count(), 1, "nobody says that it blocks");
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
        // Before and after the other has said so, there is one worker that does not block.
        assert_eq!(pool.submit(|| 1).wait().expect("no panic"), 1);
        pool.submit(move || tell.send(5).expect("the other listens")).wait().expect("no panic");
        assert_eq!(outer.wait().expect("no panic"), Ok(5));
        until("the replacement has left", || pool.stats().workers == 1);
        end(&pool);
    });
}

/// However often it has said so, and only if it is a worker.
#[test]
fn who_blocks_is_replaced_by_one() {
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

/// Also if there is no worker any more that could see the end.
#[test]
fn a_future_woken_after_the_end_is_cancelled() {
    within(|| {
        let pool = pool(0, 1, AT_ONCE);
        let (wake, woken) = futures::channel::oneshot::channel::<u8>();
        let waiting = pool.spawn(woken).fallible();
        pool.submit(|| ()).wait().expect("no panic");
        until("the worker has left", || pool.stats().workers == 0);
        end(&pool);
        let _ = wake.send(1);
        assert!(block_on(waiting).is_none());
        assert_eq!(pool.stats().workers, 0, "nobody is hired for it");
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

#[test]
fn all_waiters_are_released_together() {
    within(|| {
        let (pool, gate) = (pool(1, 4, AT_ONCE), Gate::default());
        (0..3).for_each(|_| occupy(&pool, &gate));
        assert!(pool.join_timeout(Duration::from_millis(5)).is_err());
        thread::scope(|scope| {
            let waiters: Vec<_> = (0..8).map(|_| scope.spawn(|| pool.join())).collect();
            gate.open();
            assert!(waiters.into_iter().all(|waiter| waiter.join().expect("no panic").is_ok()));
        });
        end(&pool);
    });
}

/// No thread and no memory of one is left of workers that have left.
#[test]
fn nothing_is_left_of_those_who_left() {
    Child::default().run(|| {
        let Some(before) = threads::count() else { return };
        let pool = pool(0, 4, AT_ONCE);
        for _ in 0..200 {
            pool.submit(|| ()).wait().expect("no panic");
        }
        until("all have left", || threads::count() == Some(before));
        drop(pool);
    });
}

#[test]
fn impossible_pools_are_refused() {
    let refusal = |builder: Builder<ThreadPool>| builder.build().expect_err("this pool is impossible").to_string();
    let error = refusal(sized(3, 2, FOR_EVER));
    assert!(error.contains('3') && error.contains('2') && error.contains("max"), "{error}");
    let error = refusal(sized(0, 0, FOR_EVER));
    assert!(error.contains("at least 1"), "{error}");
    let error = refusal(sized(0, 1, Duration::ZERO));
    assert!(error.contains("keep_alive"), "{error}");
    let error = refusal(sized(0, 1 << 20, FOR_EVER));
    assert!(error.contains(&(1 << 20).to_string()), "{error}");
    let error = refusal(sized(0, 1, FOR_EVER).when_saturated(Saturation::DiscardOldest { queue: 0 }));
    assert!(error.contains("DiscardOldest"), "{error}");
}

#[test]
fn numbers_that_are_left_out_follow_from_the_others() {
    let sizes = |builder: Builder<ThreadPool>| {
        let pool = builder.build().expect("a possible pool");
        pool.start_core_threads();
        let core = pool.worker_count();
        let gate = Gate::default();
        // As many as there can be, and one more to see that it is not taken.
        (0..20).for_each(|_| {
            let gate = gate.clone();
            pool.execute(move || gate.pass());
        });
        let max = pool.worker_count();
        gate.open();
        end(&pool);
        (core, max)
    };
    within(|| {
        assert_eq!(sizes(ThreadPool::builder().threads(3)), (3, 3));
        assert_eq!(sizes(ThreadPool::builder().core(3)), (3, 6));
        assert_eq!(sizes(ThreadPool::builder().core(0)), (0, 1));
        assert_eq!(sizes(ThreadPool::builder().max(1)), (1, 1));
        assert_eq!(sizes(ThreadPool::builder().core(1).threads(4)), (1, 4));
        assert_eq!(sizes(ThreadPool::builder().max(4).threads(2)), (2, 4));
    });
}
