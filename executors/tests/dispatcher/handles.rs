//! Handles and names.

use super::tools::{Order, end, here, watched};
use crate::support::watchdog::within;
use executors::{
    Executor, Pool,
    dispatcher::{Dispatcher, Priority},
};
use std::{sync::mpsc::channel, thread};

#[test]
fn handles_keep_the_dispatcher_open() {
    within(|| {
        let subpool = Dispatcher::new(1).cpu();
        let other = subpool.with_priority(Priority::LOW);
        drop(subpool);
        let (tell, told) = channel();
        other.execute(move || tell.send(1).expect("the test listens"));
        assert_eq!(told.recv(), Ok(1));
        assert_eq!(format!("{} {:?}", other.name(), other.status().limit > 0), "cpu true");
        other.shutdown().expect("it ends");
    });
}

#[test]
fn names_lead_to_subpools() {
    let dispatcher =
        Dispatcher::builder().threads(2).subpool("disk", 3).bound_subpool("window").build().expect("possible");
    assert_eq!(dispatcher.subpools().collect::<Vec<_>>(), ["cpu", "disk", "window"]);
    let disk = dispatcher.subpool("disk").expect("it was built");
    assert_eq!((disk.name(), disk.status().limit), ("disk", 3));
    let unknown = dispatcher.subpool("dsik").expect_err("there is none");
    assert_eq!(unknown.name(), "dsik");
    let text = unknown.to_string();
    assert!(text.contains("\"dsik\"") && text.contains("\"disk\"") && text.contains("Builder::subpool"), "{text}");
    end(dispatcher);
}

#[test]
fn the_dispatchers_own_jobs_are_those_of_its_main_subpool() {
    let builder = Dispatcher::builder().threads(2).subpool("disk", 1).main_subpool("disk", Priority::LOW);
    let dispatcher = builder.build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let (disk, order) = (dispatcher.subpool("disk").expect("it was built"), Order::default());
    disk.pause();
    disk.with_priority(Priority::LOWEST).execute(order.note(4));
    dispatcher.execute(order.note(2));
    dispatcher.execute(order.note(3));
    disk.execute(order.note(1));
    assert_eq!((disk.status().queued, dispatcher.cpu().status().queued), (4, 0));
    disk.resume();
    dispatcher.join().expect("this is no worker");
    assert_eq!(order.taken(), [1, 2, 3, 4]);
    end(dispatcher);
}

#[test]
fn the_main_subpool_may_be_a_bound_one() {
    let builder = Dispatcher::builder().threads(3).bound_subpool("window").main_subpool("window", Priority::NORMAL);
    let dispatcher = builder.build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let window = here(&dispatcher.subpool("window").expect("it was built"));
    let inside = dispatcher.clone();
    let threads = dispatcher.cpu().submit(move || {
        let one = || inside.submit(|| thread::current().id()).wait().expect("it runs");
        [one(), one()]
    });
    assert_eq!(threads.wait().expect("it runs"), [window; 2]);
    assert_eq!(dispatcher.submit(|| thread::current().id()).wait().expect("it runs"), window);
    end(dispatcher);
}
