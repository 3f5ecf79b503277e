//! What only dispatchers promise: limits, priorities, bound threads, pauses.
#![cfg(feature = "dispatcher-exec")]

mod support;

use executors::{
    Build, Builder, Executor, Fairness, FuturesExecutor, Pool, WaitError,
    dispatcher::{Dispatcher, MAX_SUBPOOLS, Priority, Subpool},
    try_execute_locally,
};
use std::{
    collections::HashSet,
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
        mpsc::channel,
    },
    thread::{self, ThreadId},
    time::Duration,
};
use support::{
    gate::Gate,
    watchdog::{PATIENCE, Watchdog, until, within},
};

fn watched(dispatcher: &Dispatcher) -> Watchdog {
    let suspect = dispatcher.clone();
    Watchdog::new(Box::new(move || format!("{suspect:#?}")))
}

fn end(dispatcher: Dispatcher) {
    let report = dispatcher.shutdown_timeout(PATIENCE).expect("a dispatcher without blocked jobs ends");
    assert_eq!((report.running, report.queued), (0, 0), "{report:?}");
}

/// Counts jobs that are inside at the same time.
#[derive(Clone, Default)]
struct Room(Arc<(AtomicUsize, AtomicUsize)>);

impl Room {
    fn enter(&self) {
        let inside = self.0.0.fetch_add(1, SeqCst) + 1;
        self.0.1.fetch_max(inside, SeqCst);
        // So that others have a chance to be one too many.
        thread::yield_now();
        self.0.0.fetch_sub(1, SeqCst);
    }

    /// The most that were inside at a time since the last call.
    fn most(&self) -> usize {
        self.0.1.swap(0, SeqCst)
    }
}

/// Notes in which order jobs begin.
#[derive(Clone, Default)]
struct Order(Arc<Mutex<Vec<usize>>>);

impl Order {
    fn note(&self, job: usize) -> impl FnOnce() + Send + use<> {
        let order = self.clone();
        move || order.0.lock().expect("no panic under this lock").push(job)
    }

    fn taken(&self) -> Vec<usize> {
        std::mem::take(&mut self.0.lock().expect("no panic under this lock"))
    }
}

/// Goes on for ever in `subpool`, until `done`. Counts its jobs.
fn chain(subpool: Subpool, done: &Arc<AtomicBool>, jobs: &Arc<AtomicUsize>) {
    let (done, jobs) = (Arc::clone(done), Arc::clone(jobs));
    jobs.fetch_add(1, SeqCst);
    if !done.load(SeqCst) {
        let next = subpool.clone();
        subpool.execute(move || chain(next, &done, &jobs));
    }
}

// --- limits ----------------------------------------------------------------------------------------------------------

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
    // From outside, and each job one more from inside, to the next subpool.
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
        assert_eq!(subpool.stats().running, 0);
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
        // All five must be there at the same time, and nobody in their way.
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
fn a_full_subpool_holds_up_nobody_and_wakes_nobody() {
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
    until("the others sleep", || Pool::stats(&cpu).idle == 2);
    let woken = Pool::stats(&cpu).wake_ups;
    (0..1000).for_each(|job| full.execute(order.note(job)));
    assert_eq!(Pool::stats(&cpu).wake_ups, woken, "somebody was woken for jobs that nobody may run");
    assert_eq!((full.stats().running, full.stats().queued), (1, 1000));
    for _ in 0..100 {
        assert_eq!(cpu.submit(|| 1).wait().expect("it runs"), 1);
    }
    assert_eq!(order.taken(), []);
    gate.open();
    dispatcher.join().expect("this is no worker");
    assert_eq!(order.taken(), (0..1000).collect::<Vec<_>>());
    end(dispatcher);
}

/// Though all sleep when a burst comes, and nobody has taken the only token yet. One is called, and sometimes another,
/// as a worker that is about to fall asleep may take the job for which the first was called; but not one for each job.
#[test]
fn a_narrow_subpool_calls_few() {
    let dispatcher = Dispatcher::builder().threads(4).subpool("one", 1).build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let one = dispatcher.subpool("one").expect("it was built");
    let (ran, mut called) = (Arc::new(AtomicUsize::new(0)), Vec::new());
    for round in 0..40 {
        until("all sleep", || Pool::stats(&one).idle == 4);
        let (gate, before) = (Gate::default(), Pool::stats(&one).wake_ups);
        // Nothing ends before all have come.
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
        until("the first has begun", || one.stats().running == 1);
        called.push(Pool::stats(&one).wake_ups - before);
        gate.open();
        dispatcher.join().expect("this is no worker");
    }
    assert_eq!(ran.load(SeqCst), 4000);
    assert!(called.iter().sum::<u64>() <= 2 * called.len() as u64, "many came in vain: {called:?}");
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
    until("all sleep", || Pool::stats(&one).idle == 4);
    let woken = Pool::stats(&one).wake_ups;
    one.resume();
    dispatcher.join().expect("this is no worker");
    assert_eq!(threads.lock().expect("no panic under this lock").len(), 1);
    assert!(Pool::stats(&one).wake_ups <= woken + 1);
    end(dispatcher);
}

#[test]
fn a_higher_limit_lets_waiting_jobs_begin() {
    let dispatcher = Dispatcher::builder().threads(4).subpool("some", 1).build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let some = dispatcher.subpool("some").expect("it was built");
    for _ in 0..50 {
        let (meeting, begun) = (Arc::new(Barrier::new(3)), Gate::default());
        for _ in 0..3 {
            let (meeting, begun) = (Arc::clone(&meeting), begun.clone());
            some.execute(move || {
                begun.open();
                meeting.wait();
            });
        }
        begun.pass();
        some.set_limit(3).expect("it is not bound");
        dispatcher.join().expect("this is no worker");
        some.set_limit(1).expect("it is not bound");
    }
    end(dispatcher);
}

#[test]
fn the_cpu_subpool_is_as_wide_as_the_machine() {
    let dispatcher = Dispatcher::builder().threads(1).build().expect("possible");
    let cores = thread::available_parallelism().map_or(1, usize::from);
    assert_eq!(dispatcher.cpu().stats().limit, cores);
    end(dispatcher);
}

/// Of the CPU subpool's stream, whose jobs lie in the workers' rings, and of a subpool that has queues of its own.
#[test]
fn a_lower_limit_is_kept_once_it_is_reached() {
    let dispatcher = Dispatcher::builder().threads(4).cpu_limit(4).subpool("some", 4).build().expect("possible");
    let _watchdog = watched(&dispatcher);
    for name in ["cpu", "some"] {
        let (subpool, room) = (dispatcher.subpool(name).expect("it was built"), Room::default());
        let (done, jobs) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        for _ in 0..8 {
            inside(subpool.clone(), room.clone(), Arc::clone(&done), Arc::clone(&jobs));
        }
        for limit in [4, 2, 3, 1, 2, 1, 4, 1] {
            subpool.set_limit(limit).expect("it is not bound");
            until("as many are left", || subpool.stats().running <= limit);
            room.most();
            let before = jobs.load(SeqCst);
            until("some jobs have run", || jobs.load(SeqCst) > before + 500);
            assert!(room.most() <= limit, "in {name}");
        }
        done.store(true, SeqCst);
        dispatcher.join().expect("this is no worker");
    }
    end(dispatcher);
}

fn inside(subpool: Subpool, room: Room, done: Arc<AtomicBool>, jobs: Arc<AtomicUsize>) {
    let next = subpool.clone();
    subpool.execute(move || {
        room.enter();
        jobs.fetch_add(1, SeqCst);
        if !done.load(SeqCst) {
            inside(next, room, done, jobs);
        }
    });
}

#[test]
fn jobs_are_cancelled_while_limits_and_pauses_change() {
    let dispatcher =
        Dispatcher::builder().threads(4).subpool("some", 2).bound_subpool("bound").build().expect("possible");
    let _watchdog = watched(&dispatcher);
    for name in ["cpu", "some", "bound"] {
        let subpool = dispatcher.subpool(name).expect("it was built");
        let (ran, mut cancelled) = (Arc::new(AtomicUsize::new(0)), 0);
        for job in 0..3000 {
            let ran = Arc::clone(&ran);
            let handle = subpool.submit(move || ran.fetch_add(1, SeqCst));
            match job % 30 {
                0 => subpool.pause(),
                10 if name != "bound" => subpool.set_limit(1 + job / 30 % 3).expect("it is not bound"),
                20 => subpool.resume(),
                _ => {}
            }
            if job % 3 == 0 {
                cancelled += usize::from(handle.cancel());
            } else {
                handle.detach();
            }
        }
        subpool.resume();
        dispatcher.join().expect("this is no worker");
        assert_eq!(ran.load(SeqCst) + cancelled, 3000, "in {name}");
        assert!(cancelled > 0, "in {name}");
    }
    end(dispatcher);
}

#[test]
fn limits_and_pauses_may_change_while_jobs_come() {
    let dispatcher = Dispatcher::builder()
        .threads(4)
        .cpu_limit(4)
        .subpool("some", 2)
        .bound_subpool("bound")
        .build()
        .expect("possible");
    let _watchdog = watched(&dispatcher);
    let names = ["cpu", "some", "bound"];
    let subpools = names.map(|name| dispatcher.subpool(name).expect("it was built"));
    let (ran, room) = (Arc::new(AtomicUsize::new(0)), Room::default());
    thread::scope(|scope| {
        for subpool in &subpools {
            let (ran, room) = (&ran, &room);
            scope.spawn(move || {
                for job in 0..3000 {
                    let (ran, room) = (Arc::clone(ran), room.clone());
                    let is_limited = subpool.name() == "some";
                    subpool.with_priority(Priority::ALL[job / 7 % 5]).execute(move || {
                        if is_limited {
                            room.enter();
                        }
                        ran.fetch_add(1, SeqCst);
                    });
                }
            });
            scope.spawn(move || {
                for change in 1..300 {
                    subpool.pause();
                    if subpool.name() != "bound" {
                        subpool.set_limit(1 + change % 3).expect("it is not bound");
                    }
                    thread::yield_now();
                    subpool.resume();
                }
            });
        }
    });
    dispatcher.join().expect("this is no worker");
    assert_eq!(ran.load(SeqCst), 9000);
    assert!(room.most() <= 3);
    drop(subpools);
    end(dispatcher);
}

// --- pauses ----------------------------------------------------------------------------------------------------------

#[test]
fn nothing_runs_while_a_subpool_is_paused() {
    let dispatcher = Dispatcher::builder().threads(2).cpu_limit(2).subpool("other", 1).build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let (cpu, other) = (dispatcher.cpu(), dispatcher.subpool("other").expect("it was built"));
    let (done, jobs) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    chain(cpu.clone(), &done, &jobs);
    for _ in 0..20 {
        cpu.pause();
        assert!(cpu.is_paused());
        until("its last job has ended", || cpu.stats().running == 0);
        let (before, woken) = (jobs.load(SeqCst), Pool::stats(&cpu).wake_ups);
        chain(cpu.clone(), &done, &jobs);
        chain(cpu.with_priority(Priority::HIGHEST), &done, &jobs);
        assert!(Pool::stats(&cpu).wake_ups <= woken + 1, "somebody was woken for paused jobs");
        // The others go on, on all threads.
        for _ in 0..50 {
            other.submit(|| ()).wait().expect("it runs");
        }
        assert_eq!(jobs.load(SeqCst), before + 2, "only those that began here");
        assert!(matches!(dispatcher.join_timeout(Duration::from_millis(1)), Err(WaitError::TimedOut)));
        cpu.resume();
        until("it goes on", || jobs.load(SeqCst) > before + 100);
    }
    done.store(true, SeqCst);
    dispatcher.join().expect("this is no worker");
    end(dispatcher);
}

#[test]
fn the_close_lifts_pauses() {
    let dispatcher =
        Dispatcher::builder().threads(2).subpool("some", 1).bound_subpool("bound").build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let ran = Arc::new(AtomicUsize::new(0));
    for name in ["cpu", "some", "bound"] {
        let subpool = dispatcher.subpool(name).expect("it was built");
        subpool.pause();
        for _ in 0..10 {
            let ran = Arc::clone(&ran);
            subpool.execute(move || _ = ran.fetch_add(1, SeqCst));
        }
    }
    let paused = dispatcher.cpu();
    let report = dispatcher.shutdown_timeout(PATIENCE).expect("it drains");
    assert_eq!((report.finished, ran.load(SeqCst)), (30, 30));
    paused.pause();
    assert!(!paused.is_paused(), "it is closed");
}

#[test]
fn paused_jobs_can_be_discarded() {
    let dispatcher = Dispatcher::builder().threads(2).bound_subpool("bound").build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let bound = dispatcher.subpool("bound").expect("it was built");
    bound.pause();
    let handle = bound.submit(|| ());
    assert_eq!(dispatcher.shutdown_now().discarded, 1);
    assert!(handle.wait().is_err());
    end(dispatcher);
}

// --- bound threads ---------------------------------------------------------------------------------------------------

fn here(subpool: &Subpool) -> ThreadId {
    subpool.submit(|| thread::current().id()).wait().expect("it runs")
}

#[test]
fn bound_jobs_run_on_one_thread_and_in_order() {
    for reserve in 0..=2 {
        let builder = Dispatcher::builder().threads(4).reserve(reserve);
        let dispatcher = builder.bound_subpool("a").bound_subpool("b").build().expect("possible");
        let _watchdog = watched(&dispatcher);
        let bound = ["a", "b"].map(|name| dispatcher.subpool(name).expect("it was built"));
        let threads = bound.each_ref().map(here);
        assert_ne!(threads[0], threads[1]);
        let order = [Order::default(), Order::default()];
        for job in 0..2000 {
            for place in 0..2 {
                let (note, expected) = (order[place].note(job), threads[place]);
                bound[place].execute(move || {
                    assert_eq!(thread::current().id(), expected);
                    note();
                });
            }
            dispatcher.execute(|| ());
        }
        dispatcher.join().expect("this is no worker");
        assert_eq!(Pool::stats(&dispatcher).panicked, 0);
        for order in order {
            assert_eq!(order.taken(), (0..2000).collect::<Vec<_>>());
        }
        drop(bound);
        end(dispatcher);
    }
}

#[test]
fn what_bound_jobs_give_from_inside_stays_in_order_behind_what_was_there() {
    let dispatcher = Dispatcher::builder().threads(2).bound_subpool("bound").build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let bound = dispatcher.subpool("bound").expect("it was built");
    let (order, gate) = (Order::default(), Gate::default());
    let (child, grandchild) = (order.note(3), order.note(4));
    let thread = here(&bound);
    bound.execute({
        let gate = gate.clone();
        move || {
            gate.pass();
            let job = move || {
                assert_eq!(thread::current().id(), thread);
                child();
                assert!(try_execute_locally(grandchild).is_ok());
            };
            assert!(try_execute_locally(job).is_ok());
        }
    });
    bound.execute(order.note(1));
    bound.execute(order.note(2));
    gate.open();
    dispatcher.join().expect("this is no worker");
    assert_eq!((order.taken(), Pool::stats(&bound).panicked), (vec![1, 2, 3, 4], 0));
    end(dispatcher);
}

#[test]
fn reserved_threads_run_nothing_else_and_are_not_called_for_it() {
    let dispatcher =
        Dispatcher::builder().threads(4).cpu_limit(4).reserve(1).bound_subpool("bound").build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let (cpu, bound) = (dispatcher.cpu(), dispatcher.subpool("bound").expect("it was built"));
    let reserved = here(&bound);
    for _ in 0..200 {
        // Three threads, all of which must come though the reserved one sleeps, too.
        let meeting = Arc::new(Barrier::new(3));
        for _ in 0..3 {
            let meeting = Arc::clone(&meeting);
            cpu.execute(move || {
                assert_ne!(thread::current().id(), reserved);
                meeting.wait();
            });
        }
        dispatcher.join().expect("this is no worker");
    }
    assert_eq!(Pool::stats(&cpu).panicked, 0);
    end(dispatcher);
}

#[test]
fn futures_stay_where_they_were_spawned() {
    let dispatcher =
        Dispatcher::builder().threads(4).subpool("one", 1).bound_subpool("bound").build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let bound = dispatcher.subpool("bound").expect("it was built");
    let thread = here(&bound);
    let (sender, receiver) = futures::channel::oneshot::channel();
    let task = bound.spawn(async move {
        let before = thread::current().id();
        receiver.await.expect("it is sent");
        (before, thread::current().id())
    });
    dispatcher.cpu().execute(move || sender.send(()).expect("it is awaited"));
    assert_eq!(futures::executor::block_on(task), (thread, thread));

    let (one, room) = (dispatcher.subpool("one").expect("it was built"), Room::default());
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let room = room.clone();
            one.spawn(async move {
                for _ in 0..5 {
                    room.enter();
                    futures::pending_once().await;
                }
            })
        })
        .collect();
    tasks.into_iter().for_each(futures::executor::block_on);
    assert_eq!(room.most(), 1);
    end(dispatcher);
}

mod futures {
    pub(super) use ::futures::{channel, executor};

    /// Wakes itself and gives way once.
    pub(super) async fn pending_once() {
        let mut is_second = false;
        std::future::poll_fn(|context| {
            if std::mem::replace(&mut is_second, true) {
                return std::task::Poll::Ready(());
            }
            context.waker().wake_by_ref();
            std::task::Poll::Pending
        })
        .await;
    }
}

// --- waiting for results ---------------------------------------------------------------------------------------------

#[test]
fn jobs_wait_for_jobs_of_their_own_subpool_by_running_them() {
    let dispatcher = Dispatcher::builder().threads(1).subpool("one", 1).build().expect("possible");
    let _watchdog = watched(&dispatcher);
    for name in ["cpu", "one"] {
        let subpool = dispatcher.subpool(name).expect("it was built");
        let inner = subpool.clone();
        let sum = subpool.submit(move || inner.submit(|| 1).wait().expect("it runs") + 1);
        assert_eq!(sum.wait().expect("it runs"), 2);
    }
    end(dispatcher);
}

#[test]
fn jobs_wait_for_jobs_of_other_subpools_until_these_run_where_they_belong() {
    let dispatcher =
        Dispatcher::builder().threads(3).subpool("one", 1).bound_subpool("bound").build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let (cpu, bound, one) = (
        dispatcher.cpu(),
        dispatcher.subpool("bound").expect("it was built"),
        dispatcher.subpool("one").expect("it was built"),
    );
    let thread = here(&bound);
    for _ in 0..100 {
        let bound = bound.clone();
        assert_eq!(cpu.submit(move || here(&bound)).wait().expect("it runs"), thread);
    }
    // Paused, and a job of another subpool waits for it: it must not run it itself.
    one.pause();
    let (handle, waits) = (one.submit(|| thread::current().id()), Gate::default());
    let waiter = cpu.submit({
        let waits = waits.clone();
        move || {
            waits.open();
            (handle.wait().expect("it runs"), thread::current().id())
        }
    });
    waits.pass();
    for _ in 0..50 {
        assert_eq!(one.stats().queued, 1);
        thread::yield_now();
    }
    one.resume();
    let (ran, waited) = waiter.wait().expect("it runs");
    assert_ne!(ran, waited);
    end(dispatcher);
}

// --- priorities ------------------------------------------------------------------------------------------------------

#[test]
fn higher_priorities_go_first_and_equal_ones_in_order() {
    // Fewer jobs than it takes for lower ones to get their turn.
    for name in ["cpu", "one", "bound"] {
        let dispatcher = Dispatcher::builder()
            .threads(2)
            .cpu_limit(1)
            .subpool("one", 1)
            .bound_subpool("bound")
            .build()
            .expect("possible");
        let _watchdog = watched(&dispatcher);
        let (subpool, order) = (dispatcher.subpool(name).expect("it was built"), Order::default());
        subpool.pause();
        for job in 0..50 {
            let priority = Priority::new((job * 3 % 5) as u8).expect("below 5");
            subpool.with_priority(priority).execute(order.note(usize::from(priority.number()) * 100 + job));
        }
        subpool.resume();
        dispatcher.join().expect("this is no worker");
        let noted = order.taken();
        let mut expected = noted.clone();
        expected.sort_by_key(|job| (std::cmp::Reverse(job / 100), *job));
        assert_eq!((noted.len(), &noted), (50, &expected), "{name}");
        end(dispatcher);
    }
}

#[test]
fn higher_priorities_go_first_across_subpools() {
    let dispatcher =
        Dispatcher::builder().threads(1).cpu_limit(1).subpool("a", 1).subpool("b", 9).build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let (order, gate) = (Order::default(), Gate::default());
    let names = ["cpu", "a", "b"];
    let subpools = names.map(|name| dispatcher.subpool(name).expect("it was built"));
    subpools[0].with_priority(Priority::HIGHEST).execute({
        let gate = gate.clone();
        move || gate.pass()
    });
    for job in 0..45 {
        let number = job % 5;
        let priority = Priority::new(number as u8).expect("below 5");
        subpools[job % 3].with_priority(priority).execute(order.note(number));
    }
    gate.open();
    dispatcher.join().expect("this is no worker");
    let noted = order.taken();
    assert!(noted.len() == 45 && noted.is_sorted_by(|before, after| before >= after), "{noted:?}");
    drop(subpools);
    end(dispatcher);
}

/// As the contract says, also in a full subpool, whoever has its token. (With a limit of one, its jobs can be counted
/// exactly: nobody else counts while one of them runs.)
#[test]
fn the_lowest_priority_begins_in_time() {
    for threads in 1..=4 {
        let builder = Dispatcher::builder().threads(threads).cpu_limit(1).subpool("a", 1).subpool("b", 4);
        let dispatcher = builder.build().expect("possible");
        let _watchdog = watched(&dispatcher);
        let full = ["cpu", "a"].map(|name| dispatcher.subpool(name).expect("it was built"));
        let other = dispatcher.subpool("b").expect("it was built");
        let (done, jobs) = (Arc::new(AtomicBool::new(false)), [(); 3].map(|()| Arc::new(AtomicUsize::new(0))));
        // There are always jobs at each of the four higher levels of both, and of one whose jobs draw workers away.
        for (subpool, jobs) in full.iter().chain([&other]).zip(&jobs) {
            for priority in &Priority::ALL[1..] {
                (0..2).for_each(|_| chain(subpool.with_priority(*priority), &done, jobs));
            }
        }
        for round in 0..20 {
            let (subpool, jobs) = (&full[round % 2], Arc::clone(&jobs[round % 2]));
            let victim = subpool.with_priority(Priority::LOWEST);
            // From inside, so that none of the subpool begins meanwhile.
            let submit = move || {
                let before = jobs.load(SeqCst);
                victim.submit(move || jobs.load(SeqCst) - before)
            };
            let passed = subpool.submit(submit).wait().and_then(|handle| handle.wait()).expect("both run");
            assert!(passed <= 62 * (5 + threads), "{passed} jobs went first, with {threads} threads");
        }
        done.store(true, SeqCst);
        dispatcher.join().expect("this is no worker");
        drop((full, other));
        end(dispatcher);
    }
}

#[test]
fn subpools_of_one_priority_take_turns() {
    let dispatcher =
        Dispatcher::builder().threads(1).cpu_limit(1).subpool("a", 1).subpool("b", 1).build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let subpools = ["cpu", "a", "b"].map(|name| dispatcher.subpool(name).expect("it was built"));
    let done = Arc::new(AtomicBool::new(false));
    let jobs = [(); 3].map(|()| Arc::new(AtomicUsize::new(0)));
    for (subpool, jobs) in subpools.iter().zip(&jobs) {
        chain(subpool.clone(), &done, jobs);
    }
    until("all have run some jobs", || jobs.iter().all(|jobs| jobs.load(SeqCst) > 10_000));
    done.store(true, SeqCst);
    dispatcher.join().expect("this is no worker");
    let counts = jobs.map(|jobs| jobs.load(SeqCst));
    let (least, most) = (counts.iter().min().expect("three"), counts.iter().max().expect("three"));
    assert!(*most < least * 3, "{counts:?}");
    drop(subpools);
    end(dispatcher);
}

// --- handles and errors ----------------------------------------------------------------------------------------------

#[test]
fn handles_keep_the_dispatcher_open() {
    within(|| {
        let subpool = Dispatcher::new(1).cpu();
        let other = subpool.with_priority(Priority::LOW);
        drop(subpool);
        let (tell, told) = channel();
        other.execute(move || tell.send(1).expect("the test listens"));
        assert_eq!(told.recv(), Ok(1));
        assert_eq!(format!("{} {:?}", other.name(), other.stats().limit > 0), "cpu true");
        other.shutdown().expect("it ends");
    });
}

#[test]
fn names_lead_to_subpools() {
    let dispatcher =
        Dispatcher::builder().threads(2).subpool("disk", 3).bound_subpool("window").build().expect("possible");
    assert_eq!(dispatcher.subpools().collect::<Vec<_>>(), ["cpu", "disk", "window"]);
    let disk = dispatcher.subpool("disk").expect("it was built");
    assert_eq!((disk.name(), disk.stats().limit), ("disk", 3));
    let unknown = dispatcher.subpool("dsik").expect_err("there is none");
    assert_eq!(unknown.name(), "dsik");
    let text = unknown.to_string();
    assert!(text.contains("\"dsik\"") && text.contains("\"disk\"") && text.contains("Builder::subpool"), "{text}");
    end(dispatcher);
}

#[test]
fn impossible_limits_are_refused() {
    let dispatcher =
        Dispatcher::builder().threads(2).subpool("disk", 3).bound_subpool("window").build().expect("possible");
    let disk = dispatcher.subpool("disk").expect("it was built");
    let zero = disk.set_limit(0).expect_err("nothing could run").to_string();
    assert!(zero.contains("limit of 0") && zero.contains("\"disk\"") && zero.contains("pause"), "{zero}");
    assert_eq!(disk.stats().limit, 3);
    let window = dispatcher.subpool("window").expect("it was built");
    assert_eq!(window.set_limit(1), Ok(()));
    let two = window.set_limit(2).expect_err("it is bound").to_string();
    assert!(two.contains("\"window\"") && two.contains("cannot be 2"), "{two}");
    end(dispatcher);
}

#[test]
fn priorities_out_of_range_are_refused() {
    assert_eq!(Priority::ALL.map(Priority::number), [0, 1, 2, 3, 4]);
    assert_eq!((Priority::new(4), Priority::default()), (Ok(Priority::HIGHEST), Priority::NORMAL));
    let text = Priority::try_from(5).expect_err("there are five").to_string();
    assert!(text.contains("no priority 5") && text.contains("to 4"), "{text}");
}

#[test]
fn impossible_dispatchers_are_refused() {
    type Change = fn(Builder<Dispatcher>) -> Builder<Dispatcher>;
    let cases: [(Change, &str); 9] = [
        (|builder| builder.threads(0), "0 threads"),
        (|builder| builder.subpool("disk", 0), "limit of 0 the subpool \"disk\""),
        (|builder| builder.cpu_limit(0), "limit of 0 the subpool \"cpu\""),
        (|builder| builder.subpool("x", 1).bound_subpool("x"), "two subpools called \"x\""),
        (|builder| builder.bound_subpool("cpu"), "two subpools called \"cpu\""),
        (
            |builder| ["a", "b", "c"].into_iter().fold(builder.threads(2), Builder::bound_subpool),
            "3 subpools are to be bound to a thread each, but there are only 2 threads",
        ),
        (|builder| builder.threads(2).reserve(2).bound_subpool("a").bound_subpool("b"), "2 of 2 threads are reserved"),
        (
            |builder| builder.threads(4).reserve(2).bound_subpool("a"),
            "2 threads are reserved for bound subpools, of which there are 1",
        ),
        (|builder| builder.main_subpool("x", Priority::HIGH), "main subpool is to be \"x\""),
    ];
    for (change, expected) in cases {
        let text = refusal(change(Dispatcher::builder()));
        assert!(text.contains(expected), "{text}");
    }
    let many = |builder: Builder<Dispatcher>, number| {
        (0..number).fold(builder, |builder, n| builder.subpool(n.to_string(), 1))
    };
    let text = refusal(many(Dispatcher::builder().threads(1), MAX_SUBPOOLS));
    assert!(text.contains("11 subpools share") && text.contains("only 10"), "{text}");
    end(many(Dispatcher::builder().threads(1), MAX_SUBPOOLS - 1).build().expect("as many as there may be"));
    let text = refusal(Dispatcher::builder().fairness(Fairness::TIMED));
    assert!(text.contains("Fairness::Timed") && text.contains("Fairness::Counted"), "{text}");
}

fn refusal<P: Build + std::fmt::Debug>(builder: Builder<P>) -> String {
    builder.build().expect_err("this is impossible").to_string()
}

// --- preheating ------------------------------------------------------------------------------------------------------

#[test]
fn cold_threads_start_when_nobody_has_time() {
    let builder = Dispatcher::builder().threads(6).cpu_limit(6).preheat(2).bound_subpool("bound");
    let dispatcher = builder.build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let workers = || Pool::stats(&dispatcher).workers;
    assert_eq!(workers(), 2);
    // One at a time, and it is asleep when the next one comes.
    for _ in 0..100 {
        dispatcher.submit(|| ()).wait().expect("it runs");
        dispatcher.join().expect("this is no worker");
        until("it sleeps", || Pool::stats(&dispatcher).idle == workers());
    }
    assert!(workers() <= 3, "{} threads for one job at a time", workers());
    // As many as there are, all at the same time; from outside, and from inside.
    let meeting = Arc::new(Barrier::new(5));
    for _ in 0..2 {
        let meeting = Arc::clone(&meeting);
        dispatcher.execute(move || _ = meeting.wait());
    }
    dispatcher.execute(move || {
        for _ in 0..2 {
            let meeting = Arc::clone(&meeting);
            assert!(try_execute_locally(move || _ = meeting.wait()).is_ok());
        }
        meeting.wait();
    });
    dispatcher.join().expect("this is no worker");
    assert_eq!((workers(), Pool::stats(&dispatcher).panicked), (6, 0));
    end(dispatcher);
}

#[test]
fn cold_threads_are_not_missed() {
    for _ in 0..50 {
        let dispatcher = Dispatcher::builder().threads(4).cpu_limit(4).preheat(0).build().expect("possible");
        let _watchdog = watched(&dispatcher);
        let meeting = Arc::new(Barrier::new(4));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let meeting = Arc::clone(&meeting);
                    dispatcher.execute(move || _ = meeting.wait());
                });
            }
        });
        end(dispatcher);
    }
    // Cold when it ends.
    end(Dispatcher::builder().threads(4).preheat(0).build().expect("possible"));
}

#[test]
fn what_is_full_or_paused_starts_no_threads() {
    let dispatcher = Dispatcher::builder().threads(4).subpool("one", 1).preheat(1).build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let one = dispatcher.subpool("one").expect("it was built");
    let gate = Gate::default();
    for _ in 0..10 {
        let gate = gate.clone();
        one.execute(move || gate.pass());
    }
    until("one runs", || one.stats().running == 1 && one.stats().queued == 9);
    assert!(Pool::stats(&one).workers <= 2, "{:?}", Pool::stats(&one));
    gate.open();
    end(dispatcher);
}
