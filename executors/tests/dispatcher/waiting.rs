//! Jobs that wait for results.

use super::tools::{end, here, watched};
use crate::support::{gate::Gate, threads};
use executors::{Pool, dispatcher::Dispatcher};
use std::thread;

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
fn jobs_run_jobs_they_wait_for_while_their_subpool_is_paused() {
    let builder = Dispatcher::builder().threads(2).subpool("one", 1).bound_subpool("bound");
    let dispatcher = builder.build().expect("possible");
    let _watchdog = watched(&dispatcher);
    for name in ["cpu", "one", "bound"] {
        let subpool = dispatcher.subpool(name).expect("it was built");
        let inner = subpool.clone();
        let waiter = subpool.submit(move || {
            inner.pause();
            let (waited, is_paused) = (inner.submit(|| 1).wait(), inner.is_paused());
            inner.resume();
            (waited.expect("it runs"), is_paused)
        });
        assert_eq!(waiter.wait().expect("it runs"), (1, true), "in {name}");
    }
    end(dispatcher);
}

#[test]
fn jobs_of_other_subpools_run_there_when_they_are_waited_for() {
    let dispatcher = Dispatcher::builder()
        .threads(3)
        .subpool("one", 1)
        .bound_subpool("bound")
        .name("waits")
        .build()
        .expect("possible");
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
    // A job of another subpool waits for a job of a paused one: it must not run that itself.
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
    threads::await_sleep("waits");
    assert_eq!(one.status().queued, 1);
    one.resume();
    let (ran, waited) = waiter.wait().expect("it runs");
    assert_ne!(ran, waited);
    end(dispatcher);
}
