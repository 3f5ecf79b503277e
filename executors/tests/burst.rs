//! What only burst pools promise: which worker is dealt to, and what happens when all of them are busy.
#![cfg(feature = "burst-exec")]

mod support;

#[cfg(feature = "thread-pinning")]
use executors::Placement;
use executors::{
    Executor, FuturesExecutor, Pool, Rejected, ShutdownError, TaskError, WaitError,
    burst_pool::{BurstError, BurstPool, ThreadPool, WhenBusy},
    timer::Timer,
    try_execute_locally,
};
use futures::executor::block_on;
use std::{
    cell::Cell,
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
        mpsc::{self, Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};
#[cfg(feature = "thread-pinning")]
use support::threads::{allowed_cores, can_be_pinned};
use support::{
    child::Child,
    gate::{Gate, occupy},
    log_book,
    on_drop::OnDrop,
    watchdog::{PATIENCE, until, until_waiting, watch},
};

/// Adds `workers` workers to the pool; each reports the values that it gets.
fn telling(pool: &mut BurstPool<u32>, workers: usize) -> Receiver<(usize, u32)> {
    let (tell, told) = channel();
    for worker in 0..workers {
        let tell = tell.clone();
        pool.spawn(move |value| tell.send((worker, value)).expect("the test listens"));
    }
    told
}

#[test]
fn as_many_values_as_workers_reach_every_worker() {
    let _watchdog = watch();
    let mut pool = BurstPool::new();
    let (meeting, seen) = (Arc::new(Barrier::new(4)), Arc::new(Mutex::new(HashSet::new())));
    for worker in 0..4 {
        let (meeting, seen) = (Arc::clone(&meeting), Arc::clone(&seen));
        pool.spawn(move |()| {
            meeting.wait(); // no worker gets past it with fewer than four
            seen.lock().unwrap().insert(worker);
        });
    }
    for _ in 0..200 {
        assert_eq!(pool.send_all([(); 4]), Ok(4));
        pool.join().expect("this is no worker");
    }
    assert_eq!(seen.lock().unwrap().len(), 4);
    assert_eq!(pool.shutdown().expect("it ends").finished, 800);
}

#[test]
fn values_are_dealt_in_turn() {
    let _watchdog = watch();
    let mut pool = BurstPool::builder().stealing(false).build().expect("the defaults are possible");
    let told = telling(&mut pool, 3);
    for value in 0..9 {
        pool.send(value).expect("there are workers");
        pool.join().expect("this is no worker");
        assert_eq!(told.recv().expect("handled"), (value as usize % 3, value));
    }
}

#[test]
fn without_stealing_a_worker_keeps_its_values() {
    let _watchdog = watch();
    let mut pool = BurstPool::builder().stealing(false).build().expect("the defaults are possible");
    let gates: [Gate; 2] = Default::default();
    let (tell, told) = channel();
    let (enter, entered) = channel();
    for (worker, gate) in gates.clone().into_iter().enumerate() {
        let (tell, enter) = (tell.clone(), enter.clone());
        pool.spawn(move |value: u32| {
            enter.send(()).expect("the test listens");
            gate.pass();
            tell.send((worker, value)).expect("the test listens");
        });
    }
    // One for each, and two more for each when both are busy.
    pool.send_all(0..2).expect("there are workers");
    entered.iter().take(2).for_each(drop);
    pool.send_all(2..6).expect("there are workers");
    gates[1].open();
    until("the second has nothing to do", || pool.stats().idle == 1);
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [(1, 1), (1, 3), (1, 5)]);
    assert_eq!((pool.stats().queued, pool.stats().steals), (2, 0), "the first worker's values are left alone");
    gates[0].open();
    pool.join().expect("this is no worker");
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [(0, 0), (0, 2), (0, 4)]);
    assert_eq!(pool.stats().steals, 0);
}

#[test]
fn an_idle_worker_takes_the_waiting_jobs_of_a_busy_one() {
    let _watchdog = watch();
    let pool = ThreadPool::builder().threads(2).build().expect("possible");
    let (first, second) = (occupy(&pool, 1), occupy(&pool, 1));
    let ran = Arc::new(AtomicUsize::new(0));
    let handles: Vec<_> = (0..10)
        .map(|_| {
            let ran = Arc::clone(&ran);
            pool.submit(move || ran.fetch_add(1, Relaxed))
        })
        .collect();
    assert_eq!(pool.stats().queued, 10);
    second.open();
    for handle in handles {
        handle.wait().expect("the other worker took it");
    }
    assert_eq!(ran.load(Relaxed), 10);
    first.open();
    pool.shutdown().expect("nothing blocks any more");
}

#[test]
fn a_job_that_is_refused_was_not_run() {
    let _watchdog = watch();
    let pool = ThreadPool::builder().threads(2).when_busy(WhenBusy::Refuse).build().expect("possible");
    for _ in 0..50 {
        let occupied = occupy(&pool, 2);
        let ran = Arc::new(AtomicUsize::new(0));
        let job = {
            let ran = Arc::clone(&ran);
            move || {
                ran.fetch_add(1, Relaxed);
            }
        };
        let Err(Rejected::Full(job)) = pool.try_execute(job) else { panic!("both are busy") };
        assert_eq!(pool.execute_batch((0..3).map(|_| || ())), 0);
        occupied.open();
        // A worker that has run a job is idle again when `join` returns.
        pool.join().expect("this is no worker");
        assert!(pool.try_execute(job).is_ok(), "both are idle");
        pool.join().expect("this is no worker");
        assert_eq!(ran.load(Relaxed), 1);
        until("both are idle", || pool.stats().idle == 2);
    }
    pool.shutdown().expect("nothing blocks");
}

/// In `execute`, which does not tell its caller.
#[test]
fn a_full_pool_logs_that_it_drops_a_job() {
    let _watchdog = watch();
    log_book::open();
    let pool = ThreadPool::builder().threads(1).when_busy(WhenBusy::Refuse).build().expect("possible");
    let occupied = occupy(&pool, 1);
    let told = log_book::of_this_thread().len();
    pool.execute(|| unreachable!("it is dropped"));
    let told = log_book::of_this_thread().split_off(told);
    assert!(matches!(&told[..], [(log::Level::Warn, what)] if what.contains("has no idle worker")), "{told:?}");
    occupied.open();
    assert_eq!(pool.shutdown_timeout(PATIENCE).expect("nothing blocks").finished, 1);
}

/// A repeated one only misses the time, unless the pool has been closed. Each time there is one warning.
#[test]
fn a_full_pool_drops_the_jobs_of_a_timer() {
    let _watchdog = watch();
    log_book::open();
    let name = "full-for-timers";
    let pool = ThreadPool::builder().threads(1).when_busy(WhenBusy::Refuse).name(name).build().expect("possible");
    let (timer, clock) = Timer::manual();
    let second = Duration::from_secs(1);
    let once = timer.after(second, &pool, || ()).expect("a thread");
    let (tell, told) = channel();
    let beat = timer.at_fixed_rate(second, &pool, move || tell.send(()).expect("the test listens"));
    let (beat, occupied) = (beat.expect("a thread"), occupy(&pool, 1));
    clock.advance(second);
    assert!(matches!(once.wait(), Err(TaskError::Dropped)));
    assert!(beat.is_scheduled() && told.try_recv().is_err());
    let entries = log_book::of_all_threads(name);
    let is_right = |(level, what): &(_, String)| *level == log::Level::Warn && what.contains("has no idle worker");
    assert!(entries.len() == 2 && entries.iter().all(is_right), "{entries:?}");
    occupied.open();
    pool.join().expect("this is no worker");
    clock.advance(second);
    assert_eq!(told.recv(), Ok(()));
    pool.shutdown().expect("nothing blocks");
    clock.advance(second);
    assert!(!beat.is_scheduled() && told.recv().is_err());
}

/// Also while workers start, and steal from each other.
#[test]
fn as_many_jobs_as_workers_are_not_refused() {
    let _watchdog = watch();
    for _ in 0..500 {
        let pool = ThreadPool::builder().threads(4).when_busy(WhenBusy::Refuse).build().expect("possible");
        let gate = Gate::default();
        for _ in 0..4 {
            let gate = gate.clone();
            assert!(pool.try_execute(move || gate.pass()).is_ok());
        }
        assert!(matches!(pool.try_execute(|| ()), Err(Rejected::Full(_))));
        gate.open();
        pool.shutdown().expect("nothing blocks");
    }
}

#[test]
fn a_batch_is_taken_as_far_as_workers_are_idle() {
    let _watchdog = watch();
    let pool = ThreadPool::builder().threads(3).when_busy(WhenBusy::Refuse).build().expect("possible");
    let gate = Gate::default();
    let jobs = (0..5).map(|_| {
        let gate = gate.clone();
        move || gate.pass()
    });
    assert_eq!(pool.execute_batch(jobs), 3);
    gate.open();
    assert_eq!(pool.shutdown_timeout(PATIENCE).expect("nothing blocks").finished, 3);
}

/// A future cannot be refused, not even the first time.
#[test]
fn a_full_pool_takes_futures() {
    let _watchdog = watch();
    let when_busy = WhenBusy::Block { timeout: None };
    for when_busy in [WhenBusy::Refuse, when_busy] {
        let pool = ThreadPool::builder().threads(1).when_busy(when_busy).build().expect("possible");
        let occupied = occupy(&pool, 1);
        let (spawned, submitted) = (pool.spawn(async { 1 }), pool.submit_future(async { 2 }));
        assert_eq!(pool.stats().queued, 2);
        occupied.open();
        assert_eq!((block_on(spawned), submitted.wait().expect("it runs")), (1, 2));
        pool.shutdown().expect("nothing blocks");
    }
}

/// A pool of two, both busy until the first two gates are opened, and a job that the first has submitted: it lies in a
/// mailbox, and lasts until the third gate is opened. It tells when it begins.
fn with_a_job_left(when_busy: WhenBusy) -> (ThreadPool, [Gate; 3], Receiver<&'static str>) {
    let pool = ThreadPool::builder().threads(2).when_busy(when_busy).build().expect("possible");
    let [first, second, left] = [Gate::default(), Gate::default(), Gate::default()];
    let (leave, leaves) = channel::<()>();
    let (enter, entered) = channel();
    pool.execute({
        let (first, left, enter) = (first.clone(), left.clone(), enter.clone());
        move || {
            enter.send("first").expect("the test listens");
            assert!(leaves.recv().is_err());
            let job = move || {
                enter.send("left").expect("the test listens");
                left.pass();
            };
            assert!(try_execute_locally(job).is_ok());
            first.pass();
        }
    });
    pool.execute({
        let (second, enter) = (second.clone(), enter.clone());
        move || {
            enter.send("second").expect("the test listens");
            second.pass();
        }
    });
    assert_eq!(entered.iter().take(2).collect::<HashSet<_>>(), HashSet::from(["first", "second"]));
    drop(leave);
    until("the job is left", || pool.stats().queued == 1);
    (pool, [first, second, left], entered)
}

/// A job that another job submits is dealt to a busy worker, and taken by the other one, whose own mailbox is empty.
#[test]
fn a_worker_that_runs_a_stolen_job_may_be_dealt_another() {
    let _watchdog = watch();
    let (pool, [first, second, left], entered) = with_a_job_left(WhenBusy::Refuse);
    assert!(pool.try_execute(|| ()).is_err(), "both are busy");
    second.open();
    assert_eq!(entered.recv(), Ok("left"));
    let ran = channel();
    assert!(pool.try_execute(move || ran.0.send(()).expect("the test listens")).is_ok(), "one counts as idle");
    assert!(pool.try_execute(|| ()).is_err(), "and is claimed for one job");
    first.open();
    ran.1.recv().expect("the worker that is free first runs it");
    left.open();
    pool.shutdown().expect("nothing blocks");
}

#[test]
fn a_blocked_submitter_goes_on_when_a_worker_is_idle() {
    let _watchdog = watch();
    let pool = ThreadPool::builder().threads(1).when_busy(WhenBusy::Block { timeout: None }).build().expect("possible");
    for _ in 0..50 {
        let occupied = occupy(&pool, 1);
        thread::scope(|scope| {
            let submitters: Vec<_> = (0..3).map(|_| scope.spawn(|| pool.try_execute(|| ()).is_ok())).collect();
            until_waiting(&pool, 3);
            occupied.open();
            assert!(submitters.into_iter().all(|submitter| submitter.join().unwrap()));
        });
    }
    pool.shutdown().expect("nothing blocks");
}

#[test]
fn a_blocked_submitter_gives_up_at_its_timeout() {
    let _watchdog = watch();
    let when_busy = WhenBusy::Block { timeout: Some(Duration::from_millis(1)) };
    let pool = ThreadPool::builder().threads(1).when_busy(when_busy).build().expect("possible");
    let occupied = occupy(&pool, 1);
    assert!(matches!(pool.try_execute(|| ()), Err(Rejected::Full(_))));
    assert!(matches!(pool.submit(|| ()).wait(), Err(TaskError::Dropped)));
    occupied.open();
    pool.shutdown().expect("nothing blocks");
}

#[test]
fn a_blocked_submitter_gives_up_at_the_close() {
    let _watchdog = watch();
    let ends: [fn(&ThreadPool); 2] = [ThreadPool::shutdown_async, |pool| _ = pool.shutdown_now()];
    for end in ends {
        let when_busy = WhenBusy::Block { timeout: None };
        let pool = ThreadPool::builder().threads(1).when_busy(when_busy).build().expect("possible");
        let occupied = occupy(&pool, 1);
        thread::scope(|scope| {
            let waits = scope.spawn(|| pool.try_execute(|| ()).map_err(|error| format!("{error:?}")));
            until_waiting(&pool, 1);
            end(&pool);
            assert_eq!(waits.join().expect("no panic"), Err("Closed(..)".to_owned()));
        });
        occupied.open();
    }
}

/// Discarding what waits makes a worker idle, but not for a submitter that waits for one.
#[test]
fn discarding_lets_no_blocked_submitter_in() {
    let _watchdog = watch();
    let (pool, [first, second, left], entered) = with_a_job_left(WhenBusy::Block { timeout: None });
    second.open();
    assert_eq!(entered.recv(), Ok("left"));
    assert!(pool.try_execute(|| ()).is_ok(), "one counts as idle");
    thread::scope(|scope| {
        let waits = scope.spawn(|| pool.try_execute(|| ()).map_err(|error| format!("{error:?}")));
        until_waiting(&pool, 1);
        assert_eq!(pool.shutdown_now().discarded, 1);
        assert_eq!(waits.join().expect("no panic"), Err("Closed(..)".to_owned()));
    });
    first.open();
    left.open();
    assert_eq!(pool.shutdown_timeout(PATIENCE).expect("nothing blocks").finished, 3);
}

/// What a dropped job owns may wait for a job that waits for an idle worker.
#[test]
fn a_blocked_submitter_is_told_before_jobs_are_discarded() {
    let _watchdog = watch();
    let pool = ThreadPool::builder().threads(1).when_busy(WhenBusy::Block { timeout: None }).build().expect("possible");
    let (inner, (end_job, job_ended), (tell, told)) = (pool.clone(), channel::<()>(), channel());
    pool.execute(move || {
        let waits = OnDrop::new(move || assert!(job_ended.recv().is_err()));
        assert!(try_execute_locally(move || drop(waits)).is_ok());
        tell.send(matches!(inner.try_execute(|| ()), Err(Rejected::Closed(_)))).expect("the test listens");
        drop(end_job);
    });
    until_waiting(&pool, 1);
    pool.shutdown_now();
    assert_eq!(told.recv(), Ok(true));
    let report = pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
    // The worker may come to the other job before that is dropped.
    assert_eq!(report.finished + report.discarded, 2);
}

#[test]
fn a_sender_of_values_may_wait() {
    let _watchdog = watch();
    let build = |timeout| {
        let builder = BurstPool::builder().when_busy(WhenBusy::Block { timeout });
        let (mut pool, gate) = (builder.build().expect("the defaults are possible"), Gate::default());
        assert_eq!(pool.send(0), Err(BurstError::NoWorkers(0)), "there is no worker to wait for");
        let (pass, (tell, told), (begin, begun)) = (gate.clone(), channel(), channel());
        pool.spawn(move |value: u32| {
            // The test receives this for the first value only.
            let _ = begin.send(());
            pass.pass();
            tell.send(value).expect("the test listens");
        });
        pool.send(1).expect("the worker is idle");
        begun.recv().expect("the worker has it in hand");
        (pool, gate, told)
    };

    // A sender waits until the worker is idle,
    let (pool, gate, told) = build(None);
    thread::scope(|scope| {
        let waits = scope.spawn(|| pool.send_all(2..4));
        until_waiting(&pool, 1);
        gate.open();
        assert_eq!(waits.join().expect("no panic"), Ok(2));
    });
    assert_eq!(told.iter().take(3).collect::<Vec<_>>(), [1, 2, 3]);
    pool.shutdown().expect("nothing blocks");

    // for some time,
    let (pool, gate, told) = build(Some(Duration::from_millis(1)));
    assert_eq!(pool.send_all(2..4), Err(BurstError::Busy(vec![2, 3])));
    gate.open();
    assert_eq!(told.recv(), Ok(1));
    pool.shutdown().expect("nothing blocks");

    // or until the pool is closed.
    let ends: [fn(&BurstPool<u32>); 2] = [BurstPool::close, |pool| _ = pool.shutdown_now()];
    for end in ends {
        let (pool, gate, _told) = build(None);
        thread::scope(|scope| {
            let waits = scope.spawn(|| pool.send(2));
            until_waiting(&pool, 1);
            end(&pool);
            assert_eq!(waits.join().expect("no panic"), Err(BurstError::Closed(2)));
        });
        gate.open();
        pool.shutdown().expect("nothing blocks");
    }
}

/// Each on its worker, before its first value and after its last.
#[test]
fn hooks_run_before_and_after_handlers() {
    let _watchdog = watch();
    let events = Arc::new(Mutex::new(Vec::new()));
    let note = |event| {
        let events = Arc::clone(&events);
        move |worker| events.lock().unwrap().push((worker, event, thread::current().id()))
    };
    let builder = BurstPool::builder().on_start(note("start")).on_stop(note("stop"));
    let mut pool = builder.build().expect("the defaults are possible");
    let meeting = Arc::new(Barrier::new(3));
    for worker in 0..3 {
        let (meeting, note) = (Arc::clone(&meeting), note("value"));
        pool.spawn(move |()| {
            meeting.wait(); // so that each has one
            note(worker);
        });
    }
    pool.send_all([(); 3]).expect("there are workers");
    pool.shutdown().expect("nothing blocks");
    for worker in 0..3 {
        let own: Vec<_> = events.lock().unwrap().iter().filter(|event| event.0 == worker).copied().collect();
        assert_eq!(own.iter().map(|event| event.1).collect::<Vec<_>>(), ["start", "value", "stop"]);
        assert!(own.iter().all(|event| event.2 == own[0].2), "on one thread");
    }
}

/// The first workers are pinned to the listed cores, and further ones go anywhere; after a panic, too.
#[cfg(feature = "thread-pinning")]
#[test]
fn handlers_sit_on_their_cores() {
    if !can_be_pinned() {
        return;
    }
    let _watchdog = watch();
    let cores = core_affinity::get_core_ids().expect("tests run where cores are known");
    let pinned: Vec<_> = cores.iter().rev().take(2).map(|core| core.id).collect();
    let builder = BurstPool::builder().placement(Placement::Cores(pinned.clone()));
    let mut pool = builder.build().expect("these cores exist");
    let workers = pinned.len() + 2;
    let (meeting, (tell, told)) = (Arc::new(Barrier::new(workers)), channel());
    for worker in 0..workers {
        let (meeting, tell) = (Arc::clone(&meeting), tell.clone());
        pool.spawn(move |panics: bool| {
            meeting.wait(); // so that each has one
            tell.send((worker, allowed_cores())).expect("the test listens");
            assert!(!panics, "as the test wants it");
        });
    }
    let anywhere = allowed_cores();
    let place = |worker| match pinned.get(worker) {
        Some(core) => anywhere.is_some().then(|| usize::to_string(core)),
        None => anywhere.clone(),
    };
    let expected: Vec<_> = (0..workers).map(|worker| (worker, place(worker))).collect();
    for panics in [true, false] {
        pool.send_all(vec![panics; workers]).expect("there are workers");
        let mut seen: Vec<_> = told.iter().take(workers).collect();
        seen.sort_unstable();
        assert_eq!(seen, expected);
    }
    pool.shutdown().expect("nothing blocks");

    let error = BurstPool::<()>::builder().placement(Placement::Cores(vec![1_000_000])).build().unwrap_err();
    assert!(error.to_string().contains("1000000"), "{error}");
}

#[test]
fn errors_say_what_to_do() {
    let mut pool = BurstPool::new();
    assert_eq!(pool.send(7), Err(BurstError::NoWorkers(7)));
    assert_eq!(pool.send_all([7, 8]), Err(BurstError::NoWorkers(vec![7, 8])));
    assert!(BurstError::NoWorkers(()).to_string().contains("`spawn`"));
    assert!(BurstError::Busy(()).to_string().contains("WhenBusy::Queue"));
    pool.spawn(|_| ());
    pool.close();
    assert_eq!(pool.send(7), Err(BurstError::Closed(7)));
    assert!(pool.try_spawn(|_| ()).unwrap_err().to_string().contains("closed"));
    let error = BurstPool::<()>::builder().threads(2).build().unwrap_err();
    assert!(error.to_string().contains("`spawn` once for each worker"), "{error}");
    let error = BurstPool::<()>::builder().name("a\0b").build().unwrap_err();
    assert!(error.to_string().contains("NUL"), "{error}");
    assert!(ThreadPool::builder().threads(0).build().is_err());
}

#[test]
fn a_closed_pool_spawns_no_worker() {
    let mut pool = BurstPool::<()>::new();
    pool.spawn(|()| ());
    pool.close();
    let thrown = catch_unwind(AssertUnwindSafe(|| pool.spawn(|()| ()))).expect_err("it is too late");
    assert!(thrown.downcast_ref::<String>().expect("a text").contains("closed"));
    assert!(pool.worker_count() <= 1);
    pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
    assert_eq!((pool.worker_count(), pool.stats().workers), (0, 0));
}

#[test]
fn refused_values_come_back() {
    for error in [BurstError::Closed("value"), BurstError::Busy("value"), BurstError::NoWorkers("value")] {
        let shown = [error.to_string(), format!("{error:?}")];
        assert!(shown.iter().all(|text| !text.contains("value")), "{shown:?}");
        assert_eq!(error.into_value(), "value");
    }
}

#[test]
fn values_are_queued_by_default() {
    let _watchdog = watch();
    assert_eq!(WhenBusy::default(), WhenBusy::Queue);
    let mut pool = BurstPool::default();
    assert_eq!(pool.worker_count(), 0);
    let gate = Gate::default();
    for workers in 1..=2 {
        let gate = gate.clone();
        pool.spawn(move |()| gate.pass());
        assert_eq!(pool.worker_count(), workers);
    }
    assert_eq!(pool.send_all([(); 10]), Ok(10));
    assert_eq!(pool.join_timeout(Duration::from_millis(1)), Err(WaitError::TimedOut));
    assert!(format!("{pool:?}").starts_with("BurstPool { workers: 2, "), "{pool:?}");
    gate.open();
    assert_eq!(pool.join_timeout(PATIENCE), Ok(()));
    assert_eq!(pool.stats().finished, 10);
    pool.shutdown().expect("nothing blocks");
}

/// The handler of a worker that could not be started is dropped, too, with what it owns.
#[test]
fn a_refused_thread_leaves_no_handler() {
    if !cfg!(target_os = "linux") {
        return; // there the address space is not limited
    }
    Child::default().address_space(2 << 30).run(|| {
        let mut pool = BurstPool::<()>::builder().stack_size(4 << 30).build().expect("no thread is started yet");
        let witness = Arc::new(());
        let owned = Arc::clone(&witness);
        let refused = pool.try_spawn(move |()| drop(Arc::clone(&owned))).unwrap_err();
        assert!(refused.is_thread_refused(), "{refused}");
        assert_eq!(Arc::strong_count(&witness), 1);
        assert_eq!(pool.send(()), Err(BurstError::NoWorkers(())));
    });
}

#[test]
fn a_panicking_handler_is_called_again() {
    let _watchdog = watch();
    let (report, reported) = channel();
    let report = Mutex::new(report);
    let mut pool = BurstPool::builder()
        .panic_handler(move |payload| {
            report.lock().unwrap().send(payload.downcast_ref::<&str>().copied()).unwrap();
        })
        .build()
        .expect("possible");
    let (tell, told) = channel();
    let mut calls = 0; // a handler may keep state
    pool.spawn(move |panics: bool| {
        calls += 1;
        if panics {
            panic!("as the test wants it");
        }
        tell.send(calls).expect("the test listens");
    });
    pool.send_all([true, false]).expect("there is a worker");
    assert_eq!((reported.recv(), told.recv()), (Ok(Some("as the test wants it")), Ok(2)));
    pool.join().expect("this is no worker");
    assert_eq!((pool.stats().panicked, pool.stats().finished), (1, 2));
    pool.shutdown().expect("it ends");
}

#[test]
fn handlers_need_not_be_sync() {
    let _watchdog = watch();
    let mut pool = BurstPool::new();
    let (tell, told) = channel();
    let state = Cell::new(0); // `Send`, not `Sync`
    pool.spawn(move |value: i32| {
        state.set(state.get() + value);
        tell.send(state.get()).expect("the test listens");
    });
    pool.send_all([1, 2, 3]).expect("there is a worker");
    assert_eq!(told.iter().take(3).collect::<Vec<_>>(), [1, 3, 6]);
}

#[test]
fn a_dropped_pool_handles_its_values_and_drops_its_handlers() {
    let _watchdog = watch();
    for workers in [1, 3] {
        let mut pool = BurstPool::new();
        let told = telling(&mut pool, workers);
        pool.send_all(0..100).expect("there are workers");
        drop(pool);
        // Ends because the handlers are dropped, and their senders with them.
        let mut values: Vec<_> = told.iter().map(|(_worker, value)| value).collect();
        values.sort_unstable();
        assert!(values.into_iter().eq(0..100));
    }
    drop(BurstPool::<()>::new());
}

#[test]
fn handlers_are_kept_until_the_pool_is_dropped() {
    let _watchdog = watch();
    let (mut pool, witness) = (BurstPool::new(), Arc::new(()));
    let owned = Arc::clone(&witness);
    pool.spawn(move |()| _ = &owned);
    pool.send(()).expect("there is a worker");
    pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
    pool.shutdown_now();
    assert_eq!(Arc::strong_count(&witness), 2);
    drop(pool);
    assert_eq!(Arc::strong_count(&witness), 1);
}

/// Also if the pool's owner drops it: a panic of what a handler owns does not reach the caller.
#[test]
fn a_handler_that_panics_when_dropped_is_survived() {
    struct Bomb(Sender<()>);

    impl Drop for Bomb {
        fn drop(&mut self) {
            self.0.send(()).expect("the test listens");
            std::panic::resume_unwind(Box::new("as the test wants it"));
        }
    }

    let _watchdog = watch();
    let (tell, told) = channel();
    for ends_first in [true, false] {
        let mut pool = BurstPool::new();
        let bomb = Bomb(tell.clone());
        pool.spawn(move |()| _ = &bomb);
        pool.send(()).expect("there is a worker");
        if ends_first {
            pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
        }
        drop(pool);
        assert_eq!(told.recv(), Ok(()));
    }
}

#[test]
fn values_that_are_discarded_are_dropped() {
    let _watchdog = watch();
    let mut pool = BurstPool::new();
    let (release, released) = channel::<()>();
    let (entered, enters) = channel();
    pool.spawn(move |value: Arc<()>| {
        entered.send(()).expect("the test listens");
        assert!(released.recv().is_err());
        drop(value);
    });
    let value = Arc::new(());
    pool.send_all((0..5).map(|_| Arc::clone(&value))).expect("there is a worker");
    enters.recv().expect("one is handled");
    let report = pool.shutdown_now();
    assert_eq!((report.discarded, report.running), (4, 1));
    assert_eq!(Arc::strong_count(&value), 2);
    drop(release);
    pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn handlers_cannot_wait_for_their_pool() {
    let _watchdog = watch();
    let mut pool = BurstPool::new();
    let (tell, told) = channel();
    pool.spawn(move |pool: Arc<BurstPool<()>>| {
        drop(pool);
        tell.send(()).expect("the test listens");
    });
    let mut inner = BurstPool::new();
    let (give, given) = mpsc::sync_channel::<Arc<BurstPool<()>>>(1);
    let (answer, answered) = channel();
    inner.spawn(move |()| {
        let own = given.recv().expect("the test gives it");
        answer.send((own.join(), own.shutdown_timeout(PATIENCE).map(drop))).expect("the test listens");
    });
    let inner = Arc::new(inner);
    inner.send(()).expect("there is a worker");
    give.send(Arc::clone(&inner)).expect("the handler waits");
    assert_eq!(answered.recv(), Ok((Err(WaitError::FromWorker), Err(ShutdownError::FromWorker))));
    // The last handle to a pool may be dropped on a worker of another.
    pool.send(inner).expect("there is a worker");
    told.recv().expect("handled");
}

#[test]
fn values_race_with_the_end() {
    let _watchdog = watch();
    for round in 0..300 {
        let mut pool = BurstPool::new();
        let handled = Arc::new(AtomicUsize::new(0));
        for _ in 0..2 {
            let handled = Arc::clone(&handled);
            pool.spawn(move |()| {
                handled.fetch_add(1, Relaxed);
            });
        }
        let accepted = thread::scope(|scope| {
            let submitters: Vec<_> =
                (0..2).map(|_| scope.spawn(|| (0..20).take_while(|_| pool.send(()).is_ok()).count())).collect();
            if round % 2 == 0 {
                thread::yield_now();
            }
            pool.close();
            submitters.into_iter().map(|submitter| submitter.join().unwrap()).sum::<usize>()
        });
        let report = pool.shutdown().expect("nothing blocks");
        assert_eq!((report.finished as usize, handled.load(Relaxed)), (accepted, accepted), "{report:?}");
    }
}
