//! Threads that are started when they are needed.

use super::tools::{end, watched};
use crate::support::{gate::Gate, watchdog::until};
use executors::{Executor, Pool, dispatcher::Dispatcher, try_execute_locally};
use std::sync::{Arc, Barrier};

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
