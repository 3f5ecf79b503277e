//! `shutdown_now`, while destructors of what it drops wait for what it has not dropped yet.

use super::tools::{end, watched};
use crate::support::{gate::Gate, on_drop::OnDrop, threads};
use executors::{
    Executor, Pool, TaskError, TaskHandle,
    dispatcher::{Dispatcher, Subpool},
};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
    mpsc::{self, TryRecvError},
};

/// Waits for jobs when it is dropped, and notes how that ended.
struct WaitsOnDrop {
    handles: Vec<TaskHandle<()>>,
    dropped: Arc<Mutex<Vec<bool>>>,
}

impl Drop for WaitsOnDrop {
    fn drop(&mut self) {
        for handle in self.handles.drain(..) {
            let is_dropped = matches!(handle.wait(), Err(TaskError::Dropped));
            self.dropped.lock().expect("no panic under this lock").push(is_dropped);
        }
    }
}

/// Paused subpools of all kinds: in each there is a job whose captures wait for one of each subpool.
struct Backlog {
    dispatcher: Dispatcher,
    ran: Arc<AtomicUsize>,
    dropped: Arc<Mutex<Vec<bool>>>,
}

const NAMES: [&str; 3] = ["cpu", "some", "bound"];

impl Backlog {
    fn new() -> Backlog {
        let builder = Dispatcher::builder().threads(3).subpool("some", 1).bound_subpool("bound");
        let dispatcher = builder.subpool("free", 1).build().expect("possible");
        let backlog = Backlog { dispatcher, ran: Arc::default(), dropped: Arc::default() };
        let subpools = NAMES.map(|name| backlog.subpool(name));
        subpools.iter().for_each(Subpool::pause);
        for first in &subpools {
            // Subpools are swept one by one, so some of these are dropped before this job, and some after it.
            let handles = subpools.iter().rev().map(|subpool| backlog.counting(subpool)).collect();
            let waits = WaitsOnDrop { handles, dropped: Arc::clone(&backlog.dropped) };
            first.execute(move || drop(waits));
        }
        backlog
    }

    fn subpool(&self, name: &str) -> Subpool {
        self.dispatcher.subpool(name).expect("it was built")
    }

    fn counting(&self, subpool: &Subpool) -> TaskHandle<()> {
        let ran = Arc::clone(&self.ran);
        subpool.submit(move || _ = ran.fetch_add(1, SeqCst))
    }

    /// Each job was dropped, and its waiter was told.
    fn end(self) {
        assert_eq!(self.ran.load(SeqCst), 0, "none of these jobs had begun, so all had to be dropped");
        let told = self.dropped.lock().expect("no panic under this lock").clone();
        assert_eq!(told, [true; NAMES.len() * NAMES.len()]);
        assert_eq!(self.dispatcher.stats().discarded, told.len() as u64 + NAMES.len() as u64);
        end(self.dispatcher);
    }
}

#[test]
fn destructors_may_wait_for_jobs_that_are_dropped_after_them() {
    let backlog = Backlog::new();
    let _watchdog = watched(&backlog.dispatcher);
    backlog.dispatcher.shutdown_now();
    backlog.end();
}

/// The same where a worker drops them while it holds the token of another subpool.
#[test]
fn destructors_inside_a_job_may_wait_for_later_drops() {
    let backlog = Backlog::new();
    let _watchdog = watched(&backlog.dispatcher);
    let dispatcher = backlog.dispatcher.clone();
    let report = backlog.subpool("free").submit(move || dispatcher.shutdown_now().discarded);
    assert_eq!(report.wait().expect("it runs"), 12);
    backlog.end();
}

/// While one job is being dropped, another that waits for a job that is still to be dropped must not run that itself.
#[test]
fn jobs_may_wait_for_jobs_that_are_still_to_be_dropped() {
    let dispatcher = Dispatcher::builder().threads(2).subpool("some", 1).build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let (cpu, some) = (dispatcher.cpu(), dispatcher.subpool("some").expect("it was built"));
    let (begins, discards, has_waited) = (Gate::default(), Gate::default(), Gate::default());
    cpu.pause();
    let slow = OnDrop::new({
        let (discards, has_waited) = (discards.clone(), has_waited.clone());
        move || {
            discards.open();
            has_waited.pass();
        }
    });
    // The CPU subpool's jobs are the first to be dropped.
    cpu.execute(move || drop(slow));
    let ran = Arc::new(AtomicUsize::new(0));
    let outcome = some.submit({
        let (some, begins, count) = (some.clone(), begins.clone(), Arc::clone(&ran));
        move || {
            let next = some.submit(move || _ = count.fetch_add(1, SeqCst));
            begins.open();
            discards.pass();
            let outcome = next.wait();
            has_waited.open();
            outcome
        }
    });
    begins.pass();
    dispatcher.shutdown_now();
    assert!(matches!(outcome.wait().expect("it runs"), Err(TaskError::Dropped)));
    assert_eq!(ran.load(SeqCst), 0);
    end(dispatcher);
}

/// A destructor that discards, too, leaves the other jobs to the outer call: none is given out meanwhile.
#[test]
fn a_destructor_that_discards_lets_no_paused_job_run() {
    let dispatcher = Dispatcher::builder().threads(2).name("discarded").build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let (cpu, (tell, told)) = (dispatcher.cpu(), mpsc::channel());
    cpu.pause();
    let (inner, (note, noted)) = (dispatcher.clone(), mpsc::channel());
    let discards = OnDrop::new(move || {
        inner.shutdown_now();
        // If they were given out, one would run before the workers sleep.
        threads::await_sleep("discarded");
        note.send(told.try_recv()).expect("the test listens");
    });
    cpu.execute(move || drop(discards));
    for _ in 0..100 {
        let tell = tell.clone();
        cpu.execute(move || _ = tell.send(()));
    }
    assert_eq!(dispatcher.shutdown_now().discarded, 101);
    assert_eq!(noted.try_recv(), Ok(Err(TryRecvError::Empty)));
    end(dispatcher);
}
