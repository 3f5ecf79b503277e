//! Threads that are started when they are needed.

use super::tools::{end, watched};
use crate::support::{
    child::Child,
    gate::Gate,
    log_book,
    threads::{allowed_cores, on_pinned_thread, pin_to_one_of_several_cores},
    watchdog::until,
};
use executors::{Executor, Placement, Pool, dispatcher::Dispatcher, try_execute_locally};
use std::{
    mem,
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

#[test]
fn cold_threads_start_when_nobody_has_time() {
    let builder = Dispatcher::builder().threads(6).cpu_limit(6).preheat(2).bound_subpool("bound");
    let dispatcher = builder.build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let workers = || dispatcher.stats().workers;
    assert_eq!(workers(), 2);
    // One at a time, and it is asleep when the next one comes.
    for _ in 0..100 {
        dispatcher.submit(|| ()).wait().expect("it runs");
        dispatcher.join().expect("this is no worker");
        until("it sleeps", || dispatcher.stats().idle == workers());
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
    assert_eq!((workers(), dispatcher.stats().panicked), (6, 0));
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

/// Whoever can start it is pinned: the one that is warm, and the submitter.
#[test]
fn a_cold_thread_is_not_pinned_by_who_starts_it() {
    let pin_the_warm_one = |worker| _ = worker == 0 && pin_to_one_of_several_cores();
    let builder = Dispatcher::builder().threads(2).cpu_limit(2).preheat(1).name("free").on_start(pin_the_warm_one);
    let dispatcher = builder.placement(Placement::Floating).build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let meeting = Arc::new(Barrier::new(2));
    let ask = |_| {
        let meeting = Arc::clone(&meeting);
        dispatcher.submit(move || {
            meeting.wait();
            (thread::current().name().map(str::to_owned), allowed_cores())
        })
    };
    if let Some(places) = on_pinned_thread(|| [(); 2].map(ask).map(|place| place.wait().expect("no panic"))) {
        assert!(places.contains(&(Some("free-1".to_owned()), allowed_cores())), "{places:?}");
    }
    end(dispatcher);
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
    until("one runs", || one.status().running == 1 && one.status().queued == 9);
    assert!(one.stats().workers <= 2, "{:?}", one.stats());
    gate.open();
    end(dispatcher);
}

/// The system has no room for another stack, and later it has: no seat is lost.
#[test]
fn a_refused_thread_comes_later() {
    if !cfg!(target_os = "linux") {
        return; // there the address space is not limited
    }
    const STACK: usize = 256 << 20;
    Child::default().address_space(4 << 30).run(|| {
        log_book::open();
        let builder = Dispatcher::builder().threads(3).cpu_limit(3).preheat(1).name("few").stack_size(STACK);
        let dispatcher = builder.build().expect("there is room for one");
        let mut ballast = Vec::<Vec<u8>>::new();
        let mut addresses = Vec::new();
        while addresses.try_reserve_exact(STACK / 2).is_ok() {
            ballast.push(mem::take(&mut addresses));
        }
        let (gate, begun) = (Gate::default(), Arc::new(AtomicUsize::new(0)));
        let give = || {
            let (gate, begun) = (gate.clone(), Arc::clone(&begun));
            dispatcher.execute(move || {
                begun.fetch_add(1, SeqCst);
                gate.pass();
            });
        };
        give();
        until("the first has begun", || begun.load(SeqCst) == 1);
        (0..5).for_each(|_| give());
        let refusals = || log_book::of_all_threads("few goes on without worker 1").len();
        assert_eq!((refusals(), dispatcher.stats().workers), (3, 1), "after each, more needs are passed over");
        drop(ballast);
        until("two more have come", || {
            give();
            begun.load(SeqCst) == 3
        });
        assert_eq!((refusals(), dispatcher.stats().workers), (3, 3));
        gate.open();
        end(dispatcher);
    });
}
