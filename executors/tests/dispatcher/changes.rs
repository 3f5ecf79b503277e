//! Limits and pauses that change while jobs come.

use super::tools::{Room, end, watched};
use crate::support::{gate::Gate, watchdog::until};
use executors::{
    Executor, Pool, TaskError, TaskHandle,
    dispatcher::{Dispatcher, Priority, Subpool},
    group::Group,
};
use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

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

/// For the CPU subpool's stream, whose jobs are in the workers' rings, and for a subpool that has queues of its own.
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
            until("no more are running", || subpool.status().running <= limit);
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

/// One by one and in groups, each by a thread of its own.
#[test]
fn jobs_are_cancelled_while_limits_and_pauses_change() {
    const SINGLE: usize = 3000;
    const GROUPS: usize = 100;
    const OF_GROUP: usize = 20;
    let dispatcher =
        Dispatcher::builder().threads(4).subpool("some", 2).bound_subpool("bound").build().expect("possible");
    let _watchdog = watched(&dispatcher);
    for name in ["cpu", "some", "bound"] {
        let subpool = dispatcher.subpool(name).expect("it was built");
        let (ran, done) = (Arc::new(AtomicUsize::new(0)), AtomicBool::new(false));
        let submit = || {
            let ran = Arc::clone(&ran);
            subpool.submit(move || _ = ran.fetch_add(1, SeqCst))
        };
        let (tell, told) = mpsc::channel::<TaskHandle<()>>();
        let cancelled = thread::scope(|scope| {
            scope.spawn(|| {
                for change in 0.. {
                    subpool.pause();
                    if name != "bound" {
                        subpool.set_limit(1 + change % 3).expect("it is not bound");
                    }
                    thread::yield_now();
                    subpool.resume();
                    if done.load(SeqCst) {
                        break;
                    }
                }
            });
            let one_by_one = scope.spawn(|| told.into_iter().filter(TaskHandle::cancel).count());
            let as_a_whole = scope.spawn(|| {
                let cancel_one = |_| {
                    let group: Group<()> = (0..OF_GROUP).map(|_| submit()).collect();
                    let cancelled = group.cancel();
                    let results = group.wait();
                    let failed = results.iter().filter(|result| matches!(result, Err(TaskError::Cancelled))).count();
                    assert_eq!((results.len(), failed), (OF_GROUP, cancelled), "in {name}");
                    cancelled
                };
                (0..GROUPS).map(cancel_one).sum::<usize>()
            });
            for job in 0..SINGLE {
                let handle = submit();
                if job % 3 == 0 { tell.send(handle).expect("the canceller listens") } else { handle.detach() }
            }
            drop(tell);
            let cancelled = [one_by_one, as_a_whole].map(|thread| thread.join().expect("no panic"));
            done.store(true, SeqCst);
            cancelled
        });
        dispatcher.join().expect("this is no worker");
        let cancelled: usize = cancelled.iter().sum();
        assert_eq!(ran.load(SeqCst) + cancelled, SINGLE + GROUPS * OF_GROUP, "in {name}");
        assert!(cancelled > 0, "in {name}");
    }
    end(dispatcher);
}

#[test]
fn limits_and_pauses_may_change_while_jobs_come() {
    let dispatcher = Dispatcher::builder()
        .threads(8)
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
