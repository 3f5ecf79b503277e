//! In which order jobs of one priority begin.

use super::tools::{Order, end, watched};
use crate::support::{gate::Gate, watchdog::until};
use executors::{
    Executor, Pool,
    dispatcher::{Dispatcher, Priority},
    try_execute_locally,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

/// From several submitters, each of which numbers its own jobs; at all priorities, each of which has its own order.
#[test]
fn jobs_of_a_submitter_begin_in_order() {
    let builder = Dispatcher::builder().threads(3).strict_order(true).cpu_limit(1).subpool("one", 1);
    let dispatcher = builder.build().expect("possible");
    let _watchdog = watched(&dispatcher);
    for name in ["cpu", "one"] {
        let subpool = dispatcher.subpool(name).expect("it was built");
        for priority in Priority::ALL {
            let subpool = subpool.with_priority(priority);
            let orders = [(); 3].map(|()| Order::default());
            thread::scope(|scope| {
                for order in &orders {
                    let subpool = &subpool;
                    scope.spawn(move || (0..1000).for_each(|job| subpool.execute(order.note(job))));
                }
            });
            dispatcher.join().expect("this is no worker");
            for order in orders {
                assert!(order.taken().into_iter().eq(0..1000), "{name}, {priority:?}");
            }
        }
    }
    end(dispatcher);
}

/// A hook's jobs go to the main subpool: by default the CPU subpool, which has no stream then.
#[test]
fn jobs_of_hooks_run_in_strict_order_too() {
    let ran = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&ran);
    let hook = move |_worker| {
        let count = Arc::clone(&count);
        assert!(try_execute_locally(move || _ = count.fetch_add(1, SeqCst)).is_ok());
    };
    let dispatcher = Dispatcher::builder().threads(2).strict_order(true).on_start(hook).build().expect("possible");
    let _watchdog = watched(&dispatcher);
    until("both jobs have run", || ran.load(SeqCst) == 2);
    end(dispatcher);
}

#[test]
fn jobs_that_jobs_submit_come_after_those_that_wait() {
    let dispatcher = Dispatcher::builder().threads(2).strict_order(true).cpu_limit(1).build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let (order, gate) = (Order::default(), Gate::default());
    let (child, grandchild) = (order.note(100), order.note(101));
    dispatcher.execute({
        let gate = gate.clone();
        move || {
            gate.pass();
            let job = move || {
                child();
                assert!(try_execute_locally(grandchild).is_ok());
            };
            assert!(try_execute_locally(job).is_ok());
        }
    });
    (0..100).for_each(|job| dispatcher.execute(order.note(job)));
    gate.open();
    dispatcher.join().expect("this is no worker");
    assert_eq!((order.taken(), dispatcher.stats().panicked), ((0..=101).collect(), 0));
    end(dispatcher);
}
