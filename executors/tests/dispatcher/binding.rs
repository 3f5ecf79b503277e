//! Subpools that are bound to a thread.

use super::tools::{Order, Room, end, here, watched};
use crate::support::{gate::Gate, watchdog::until};
use executors::{Executor, Pool, dispatcher::Dispatcher, try_execute_locally};
use std::{
    cell::Cell,
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

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
        assert_eq!(dispatcher.stats().panicked, 0);
        for order in order {
            assert_eq!(order.taken(), (0..2000).collect::<Vec<_>>());
        }
        drop(bound);
        end(dispatcher);
    }
}

/// The reserved ones the highest, the others the lowest, each in the order in which they were added.
#[test]
fn bound_threads_have_the_numbers_that_are_documented() {
    thread_local!(static NUMBER: Cell<Option<usize>> = const { Cell::new(None) });
    for (reserve, expected) in [(0, [0, 1, 2]), (1, [4, 0, 1]), (2, [3, 4, 0]), (3, [2, 3, 4])] {
        let builder = Dispatcher::builder().threads(5).reserve(reserve).on_start(|worker| NUMBER.set(Some(worker)));
        let builder = builder.bound_subpool("a").bound_subpool("b").bound_subpool("c");
        let dispatcher = builder.build().expect("possible");
        let _watchdog = watched(&dispatcher);
        let number = |name| dispatcher.subpool(name).expect("it was built").submit(|| NUMBER.get()).wait();
        let numbers = ["a", "b", "c"].map(|name| number(name).expect("it runs").expect("the hook has run"));
        assert_eq!(numbers, expected, "with {reserve} reserved");
        end(dispatcher);
    }
}

#[test]
fn jobs_that_bound_jobs_submit_stay_in_order() {
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
    assert_eq!((order.taken(), bound.stats().panicked), (vec![1, 2, 3, 4], 0));
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
        // Three threads, all of which have to be woken although the reserved one sleeps, too.
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
    assert_eq!(cpu.stats().panicked, 0);
    end(dispatcher);
}

/// Only jobs that race with the close may run on another thread; there, too, they run one at a time and in order.
#[test]
fn bound_jobs_leave_their_thread_only_after_the_close() {
    const SUBMITTERS: usize = 2;
    for round in 0..300 {
        let builder = Dispatcher::builder().threads(2).reserve(round % 2).bound_subpool("bound");
        let dispatcher = builder.build().expect("possible");
        let _watchdog = watched(&dispatcher);
        let bound = dispatcher.subpool("bound").expect("it was built");
        let (home, closes) = (here(&bound), Arc::new(AtomicBool::new(false)));
        let (ran, strays, room) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)), Room::default());
        let (orders, start) = ([(); SUBMITTERS].map(|()| Order::default()), Barrier::new(SUBMITTERS + 1));
        let submit = |order: &Order, job| {
            let note = order.note(job);
            let (closes, ran, strays) = (Arc::clone(&closes), Arc::clone(&ran), Arc::clone(&strays));
            let room = room.clone();
            let job = move || {
                if thread::current().id() != home && !closes.load(SeqCst) {
                    strays.fetch_add(1, SeqCst);
                }
                room.enter();
                note();
                ran.fetch_add(1, SeqCst);
            };
            bound.try_execute(job).is_ok()
        };
        let accepted = thread::scope(|scope| {
            let (submit, start) = (&submit, &start);
            let submitters = orders.each_ref().map(|order| {
                scope.spawn(move || {
                    start.wait();
                    (0..500).take_while(|&job| submit(order, job)).count()
                })
            });
            start.wait();
            closes.store(true, SeqCst);
            dispatcher.shutdown_async();
            submitters.map(|submitter| submitter.join().expect("no panic"))
        });
        until("all have run", || ran.load(SeqCst) == accepted.iter().sum::<usize>());
        assert_eq!(strays.load(SeqCst), 0, "jobs ran elsewhere before the close, in round {round}");
        assert!(room.most() <= 1, "round {round}");
        for (order, accepted) in orders.iter().zip(accepted) {
            assert!(order.taken().into_iter().eq(0..accepted), "round {round}");
        }
        end(dispatcher);
    }
}
