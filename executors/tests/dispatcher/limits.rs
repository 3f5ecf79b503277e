//! How many jobs of a subpool run at a time.

use super::tools::{Order, Room, end, watched};
use crate::support::{
    child::Child,
    gate::{Gate, occupy},
    threads,
    watchdog::until,
};
use executors::{
    Builder, Executor, Pool, THREADS_VARIABLE,
    dispatcher::{Dispatcher, Priority, Subpool},
};
use std::{
    collections::HashSet,
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

#[test]
fn limits_are_never_exceeded() {
    let dispatcher = Dispatcher::builder()
        .threads(8)
        .cpu_limit(3)
        .subpool("one", 1)
        .subpool("two", 2)
        .subpool("many", 100)
        .build()
        .expect("this is possible");
    let _watchdog = watched(&dispatcher);
    let limits = [("cpu", 3), ("one", 1), ("two", 2), ("many", 8)];
    let rooms: Vec<(Subpool, Room, usize)> =
        limits.map(|(name, limit)| (dispatcher.subpool(name).expect("it was built"), Room::default(), limit)).into();
    let ran = Arc::new(AtomicUsize::new(0));
    // Jobs from outside, each of which submits one more from inside, to the next subpool.
    thread::scope(|scope| {
        for submitter in 0..2 {
            let (rooms, ran) = (&rooms, &ran);
            scope.spawn(move || {
                for job in 0..2000 {
                    let place = (submitter + job) % rooms.len();
                    let priority = Priority::ALL[job % 5];
                    let (subpool, room) = (rooms[place].0.with_priority(priority), rooms[place].1.clone());
                    let (next, next_room) =
                        (rooms[(place + 1) % rooms.len()].0.clone(), rooms[(place + 1) % rooms.len()].1.clone());
                    let ran = Arc::clone(ran);
                    subpool.execute(move || {
                        room.enter();
                        next.execute(move || {
                            next_room.enter();
                            ran.fetch_add(1, SeqCst);
                        });
                    });
                }
            });
        }
    });
    dispatcher.join().expect("this is no worker");
    assert_eq!(ran.load(SeqCst), 4000);
    for (subpool, room, limit) in &rooms {
        assert!(room.most() <= *limit, "{}", subpool.name());
        assert_eq!(subpool.status().running, 0);
    }
    drop(rooms);
    end(dispatcher);
}

#[test]
fn as_many_jobs_run_as_the_limit_allows() {
    let dispatcher = Dispatcher::builder().threads(6).cpu_limit(2).subpool("three", 3).build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let (cpu, three) = (dispatcher.cpu(), dispatcher.subpool("three").expect("it was built"));
    for _ in 0..50 {
        // All five must be able to run at the same time.
        let meeting = Arc::new(Barrier::new(5));
        for subpool in [&cpu, &three, &three, &cpu, &three] {
            let meeting = Arc::clone(&meeting);
            subpool.execute(move || _ = meeting.wait());
        }
        dispatcher.join().expect("this is no worker");
    }
    end(dispatcher);
}

#[test]
fn a_full_subpool_delays_no_other_and_wakes_no_worker() {
    let dispatcher = Dispatcher::builder().threads(3).cpu_limit(3).subpool("full", 1).build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let (cpu, full) = (dispatcher.cpu(), dispatcher.subpool("full").expect("it was built"));
    let (gate, begun, order) = (Gate::default(), Gate::default(), Order::default());
    full.execute({
        let (gate, begun) = (gate.clone(), begun.clone());
        move || {
            begun.open();
            gate.pass();
        }
    });
    begun.pass();
    until("the others sleep", || cpu.stats().idle == 2);
    let woken = cpu.stats().wake_ups;
    (0..1000).for_each(|job| full.execute(order.note(job)));
    assert_eq!(cpu.stats().wake_ups, woken, "a worker was woken for jobs that none may run");
    assert_eq!((full.status().running, full.status().queued), (1, 1000));
    for _ in 0..100 {
        assert_eq!(cpu.submit(|| 1).wait().expect("it runs"), 1);
    }
    assert_eq!(order.taken(), []);
    gate.open();
    dispatcher.join().expect("this is no worker");
    assert_eq!(order.taken(), (0..1000).collect::<Vec<_>>());
    end(dispatcher);
}

/// Although all workers sleep when a burst comes, and the only token has not been taken yet: until the worker that was
/// called has come, submitters rely on it, and then the subpool's gate is shut.
#[test]
fn a_narrow_subpool_calls_one_worker() {
    const ROUNDS: usize = 41;
    let dispatcher = Dispatcher::builder().threads(4).subpool("one", 1).name("narrow").build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let one = dispatcher.subpool("one").expect("it was built");
    let ran = Arc::new(AtomicUsize::new(0));
    let mut calls = Vec::new();
    for round in 0..ROUNDS {
        // They must really sleep: a worker that is about to fall asleep may take the job for which another has been
        // called.
        until("all sleep", || one.stats().idle == 4 && threads::all_asleep("narrow") != Some(false));
        let (gate, before) = (Gate::default(), one.stats().wake_ups);
        // No job ends before all have been submitted.
        let jobs = (0..100).map(|_| {
            let (gate, ran) = (gate.clone(), Arc::clone(&ran));
            move || {
                gate.pass();
                ran.fetch_add(1, SeqCst);
            }
        });
        match round % 3 {
            0 => jobs.for_each(|job| one.execute(job)),
            1 => assert_eq!(one.execute_batch(jobs), 100),
            _ => {
                one.pause();
                jobs.for_each(|job| one.execute(job));
                one.resume();
            }
        }
        until("the first has begun", || one.status().running == 1);
        calls.push(one.stats().wake_ups - before);
        gate.open();
        dispatcher.join().expect("this is no worker");
    }
    assert_eq!(ran.load(SeqCst), 100 * ROUNDS);
    // More are called now and then, and the more, the busier the machine is: by submitters that look when the worker
    // that was called has come, but has not begun to look for jobs. Where the system does not say which threads sleep,
    // some may only have been about to.
    calls.sort_unstable();
    let usual = calls[ROUNDS / 2];
    assert!(usual == 1 || threads::all_asleep("narrow").is_none(), "{calls:?}");
    end(dispatcher);
}

#[test]
fn a_worker_takes_the_next_job_itself() {
    let dispatcher = Dispatcher::builder().threads(4).subpool("one", 1).build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let one = dispatcher.subpool("one").expect("it was built");
    one.pause();
    let threads = Arc::new(Mutex::new(HashSet::new()));
    for _ in 0..1000 {
        let threads = Arc::clone(&threads);
        one.execute(move || _ = threads.lock().expect("no panic under this lock").insert(thread::current().id()));
    }
    until("all sleep", || one.stats().idle == 4);
    let woken = one.stats().wake_ups;
    one.resume();
    dispatcher.join().expect("this is no worker");
    assert_eq!(threads.lock().expect("no panic under this lock").len(), 1);
    assert!(one.stats().wake_ups <= woken + 1);
    end(dispatcher);
}

/// The worker changes from one subpool to another and back, although both were resumed while it was busy: it falls
/// asleep only when all jobs have run, and sleepers are called for a subpool, not for each of its jobs.
#[test]
fn a_worker_takes_the_next_job_of_another_subpool_itself() {
    const JOBS: usize = 1000;
    let mut least = u64::MAX;
    for sleepers in [0, 3, 3, 3] {
        let builder = Dispatcher::builder().threads(2 + sleepers).cpu_limit(2).subpool("a", 1).subpool("b", 1);
        let dispatcher = builder.build().expect("possible");
        let _watchdog = watched(&dispatcher);
        let (elsewhere, gate) = (occupy(&dispatcher, 1), occupy(&dispatcher, 1));
        let narrow = ["a", "b"].map(|name| dispatcher.subpool(name).expect("it was built"));
        let (ran, threads) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(HashSet::new())));
        for subpool in &narrow {
            subpool.pause();
            for _ in 0..JOBS {
                let (ran, threads) = (Arc::clone(&ran), Arc::clone(&threads));
                subpool.execute(move || {
                    threads.lock().expect("no panic under this lock").insert(thread::current().id());
                    ran.fetch_add(1, SeqCst);
                });
            }
        }
        until("the others sleep", || dispatcher.stats().idle == sleepers);
        let woken = dispatcher.stats().wake_ups;
        narrow.iter().for_each(Subpool::resume);
        gate.open();
        until("all have run", || ran.load(SeqCst) == 2 * JOBS);
        let called = dispatcher.stats().wake_ups - woken;
        let threads = threads.lock().expect("no panic under this lock").len();
        if sleepers == 0 {
            assert_eq!((threads, called), (1, 0));
        } else {
            least = least.min(called);
        }
        elsewhere.open();
        end(dispatcher);
    }
    // One for each subpool, and some more while these are on their way, when the first worker changes subpools. A busy
    // machine adds some now and then.
    assert!(least <= 8, "{least} were called");
}

#[test]
fn the_cpu_subpool_is_as_wide_as_the_machine() {
    let dispatcher = Dispatcher::builder().threads(1).build().expect("possible");
    let cores = thread::available_parallelism().map_or(1, usize::from);
    assert_eq!(dispatcher.cpu().status().limit, cores);
    end(dispatcher);
}

/// The limit of the CPU subpool is the number of threads that the environment asks for, unless the program sets the
/// limit or the number of threads.
#[test]
fn the_environment_sets_the_limit_if_the_program_does_not() {
    Child::default().variable(THREADS_VARIABLE, "37").run(|| {
        let limit = |builder: Builder<Dispatcher>| builder.build().expect("possible").cpu().status().limit;
        assert_eq!(limit(Dispatcher::builder().preheat(0)), 37);
        assert_eq!(limit(Dispatcher::builder().preheat(0).cpu_limit(5)), 5);
        let cores = thread::available_parallelism().expect("this is known wherever tests run").get();
        assert_eq!(limit(Dispatcher::builder().preheat(0).threads(3)), cores);
    });
}
