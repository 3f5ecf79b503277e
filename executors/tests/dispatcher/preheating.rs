//! Threads that are started when they are needed.

use super::tools::{end, watched};
use crate::support::{
    gate::{Gate, occupy},
    threads::{allowed_cores, await_sleep, on_pinned_thread, pin_to_one_of_several_cores},
    watchdog::until,
};
use executors::{Executor, Placement, Pool, dispatcher::Dispatcher, try_execute_locally};
use std::{
    sync::{Arc, Barrier},
    thread,
};

#[test]
fn cold_threads_start_when_no_worker_is_free() {
    let builder = Dispatcher::builder().threads(6).cpu_limit(6).preheat(2).bound_subpool("bound");
    let dispatcher = builder.build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let workers = || dispatcher.stats().workers;
    assert_eq!(workers(), 2);
    // One job at a time, each when the worker of the last one is asleep.
    for _ in 0..100 {
        dispatcher.submit(|| ()).wait().expect("it runs");
        dispatcher.join().expect("this is no worker");
        until("it sleeps", || dispatcher.stats().idle == workers());
    }
    assert!(workers() <= 3, "{} threads for one job at a time", workers());
    // Jobs for all threads that are not reserved, at the same time, from outside and from inside.
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

/// Both threads that can start it are pinned: the worker that is warm, and the submitter.
#[test]
fn a_cold_thread_is_not_pinned_by_its_starter() {
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
fn a_full_subpool_starts_no_threads() {
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

/// The close resumes a paused subpool, which has a job for which no worker is free.
#[test]
fn cold_threads_start_for_jobs_that_the_close_lets_begin() {
    let builder = Dispatcher::builder().threads(2).preheat(1).subpool("one", 1).name("resumed");
    let dispatcher = builder.build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let one = dispatcher.subpool("one").expect("it was built");
    one.pause();
    // Otherwise the first job may bring a thread, too.
    await_sleep("resumed");
    let gate = occupy(&dispatcher, 1);
    one.execute(move || gate.open());
    assert_eq!(dispatcher.stats().workers, 1);
    end(dispatcher);
}
