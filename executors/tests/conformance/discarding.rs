//! The end of a pool that drops what has not begun.

use super::{
    subject::{Crew, Subject, with_pool},
    tools::{Counter, Witness, occupy},
};
use crate::support::{child::Child, gate::Gate, log_book, on_drop::OnDrop, watchdog::PATIENCE};
use executors::{Executor, Pool, TaskError, TaskHandle, try_execute_locally};
use std::{
    cell::Cell,
    future::Future,
    pin::Pin,
    sync::{Arc, Barrier, Mutex, mpsc},
    task::{Context, Wake, Waker},
    thread,
};

/// The backlog is dropped and running jobs run to their end; then the numbers are right and the handles report the
/// drop.
pub(crate) fn shutdown_now_discards_the_backlog(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        let backlog = Backlog::new(pool);
        pool.shutdown_now();
        backlog.gate.open();
        assert!(matches!(backlog.handle.wait(), Err(TaskError::Dropped)));
        let report = pool.shutdown_timeout(PATIENCE).expect("nothing blocks any more");
        assert_eq!((report.finished, report.discarded), (3, 21));
        assert_eq!((backlog.ran.get(), backlog.dropped.get()), (0, 21));
        assert_eq!(pool.stats().discarded, 21);
    });
}

/// They were cancelled, or run by the job that waits for them, and `shutdown_now` comes before their turn.
pub(crate) fn jobs_that_leave_only_their_place_count_as_discarded(subject: &impl Crew) {
    with_pool(subject, 1, |pool| {
        let gate = occupy(pool, 1);
        let cancelled: Vec<_> = (0..3).map(|_| pool.submit(|| ())).collect();
        assert!(cancelled[1..].iter().all(TaskHandle::cancel));
        pool.shutdown_now();
        gate.open();
        let report = pool.shutdown_timeout(PATIENCE).expect("nothing blocks any more");
        assert_eq!((report.finished, report.discarded, pool.stats().discarded), (1, 3, 3));
    });
    with_pool(subject, 1, |pool| {
        let local = pool.clone();
        let parent = pool.submit(move || {
            let child = local.submit(|| 7).wait();
            local.shutdown_now();
            child
        });
        assert_eq!(parent.wait().expect("no panic").expect("it has run"), 7);
        let report = pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
        assert_eq!((report.finished, report.discarded, pool.stats().discarded), (1, 1, 1));
    });
}

/// All of that has happened when `shutdown_now` returns, although every worker is busy.
pub(crate) fn shutdown_now_discards_at_once(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        let backlog = Backlog::new(pool);
        let report = pool.shutdown_now();
        assert_eq!((report.finished, report.running, report.queued, report.discarded), (1, 2, 0, 21));
        assert_eq!(backlog.dropped.get(), 21, "the captures of the jobs are gone when the call returns");
        assert!(matches!(backlog.handle.wait(), Err(TaskError::Dropped)));
        backlog.gate.open();
    });
}

/// Also if the worker has taken some of the jobs meanwhile, and a destructor keeps it.
pub(crate) fn no_job_begins_after_shutdown_now_has_returned(subject: &impl Crew) {
    with_pool(subject, 1, |pool| {
        let (gate, begun) = (occupy(pool, 1), Counter::default());
        // Destructors of two jobs, the first of which is dropped by `shutdown_now`.
        let stations = [(); 2].map(|()| (Gate::default(), Gate::default()));
        for job in 0..20 {
            let (count, station) = (begun.clone(), if job % 2 == 0 { stations.get(job / 2).cloned() } else { None });
            let owned = OnDrop::new(move || {
                if let Some((reached, left)) = station {
                    reached.open();
                    left.pass();
                }
            });
            pool.execute(move || {
                count.add();
                drop(owned);
            });
        }
        let [(first_reached, first_left), (second_reached, second_left)] = &stations;
        thread::scope(|scope| {
            let sweeper = scope.spawn(|| {
                let _ = pool.shutdown_now();
                begun.get()
            });
            first_reached.pass();
            gate.open();
            second_reached.pass();
            first_left.open();
            let in_time = sweeper.join().expect("no panic");
            second_left.open();
            let _ = pool.shutdown_timeout(PATIENCE).expect("nothing blocks any more");
            assert_eq!(begun.get(), in_time);
        });
    });
}

/// Nor a job that came in at the same time: one whose submitter was told too late that there are to be no more.
pub(crate) fn no_late_job_begins_after_shutdown_now_has_returned(subject: &impl Crew) {
    for round in 0..30 {
        with_pool(subject, 1, |pool| {
            let late = LateJobs::default();
            let (local, jobs) = (pool.clone(), late.clone());
            pool.execute(move || jobs.submit_all(&local));
            late.end_meanwhile(pool, round);
            late.assert_none(pool);
        });
        with_pool(subject, 1, |pool| {
            let (gate, late) = (occupy(pool, 1), LateJobs::default());
            thread::scope(|scope| {
                scope.spawn(|| late.submit_all(pool));
                late.end_meanwhile(pool, round);
            });
            gate.open();
            late.assert_none(pool);
        });
    }
}

/// A submitter that comes late may hold a lock that the destructors of other jobs take.
pub(crate) fn a_late_submitter_drops_no_job(subject: &impl Crew) {
    thread_local! {
        static SUBMITS: Cell<bool> = const { Cell::new(false) };
    }

    struct Owned(Counter);

    impl Drop for Owned {
        fn drop(&mut self) {
            if SUBMITS.get() {
                self.0.add();
            }
        }
    }

    for round in 0..30 {
        with_pool(subject, 1, |pool| {
            let (gate, submitted, dropped_here) = (occupy(pool, 1), Counter::default(), Counter::default());
            thread::scope(|scope| {
                scope.spawn(|| {
                    loop {
                        let owned = Owned(dropped_here.clone());
                        SUBMITS.set(true);
                        let result = pool.try_execute(move || drop(owned));
                        SUBMITS.set(false);
                        if result.is_err() || submitted.get() == MOST {
                            break;
                        }
                        submitted.add();
                    }
                });
                while submitted.get() < round {
                    thread::yield_now();
                }
                let _ = pool.shutdown_now();
            });
            gate.open();
            let _ = pool.shutdown_timeout(PATIENCE).expect("nothing blocks any more");
            assert_eq!(dropped_here.get(), 0);
        });
    }
}

/// For the memory of a machine on which the thread that ends a pool is late.
const MOST: usize = 100_000;

/// Jobs that are submitted until one is refused, some of them while the pool is ended.
#[derive(Clone, Default)]
struct LateJobs {
    submitted: Counter,
    ends: Counter,
    begun_after_the_end: Counter,
}

impl LateJobs {
    fn submit_all(&self, pool: &impl Pool) {
        let submit = || {
            let late = self.clone();
            pool.try_execute(move || {
                if late.ends.get() > 0 {
                    late.begun_after_the_end.add();
                }
            })
        };
        while self.submitted.get() < MOST && submit().is_ok() {
            self.submitted.add();
        }
    }

    /// Ends the pool as soon as so many are in.
    fn end_meanwhile(&self, pool: &impl Pool, jobs: usize) {
        while self.submitted.get() < jobs {
            thread::yield_now();
        }
        let _ = pool.shutdown_now();
        self.ends.add();
    }

    fn assert_none(&self, pool: &impl Pool) {
        let _ = pool.shutdown_timeout(PATIENCE).expect("nothing blocks any more");
        assert_eq!(self.begun_after_the_end.get(), 0);
    }
}

/// A pool of two threads that has done one job, is blocked by two, and has 21 more.
struct Backlog {
    gate: Gate,
    ran: Counter,
    dropped: Counter,
    handle: TaskHandle<()>,
}

impl Backlog {
    fn new(pool: &impl Pool) -> Self {
        pool.submit(|| ()).wait().expect("the job runs");
        pool.join().expect("this is no worker");
        let gate = occupy(pool, 2);
        let (ran, dropped) = (Counter::default(), Counter::default());
        (0..20).for_each(|_| pool.execute(job_with(&ran, &dropped)));
        let handle = pool.submit(job_with(&ran, &dropped));
        Backlog { gate, ran, dropped, handle }
    }
}

/// A job that counts its run and the destruction of what it has captured.
fn job_with(ran: &Counter, dropped: &Counter) -> impl FnOnce() + Send + use<> {
    let (count, witness) = (ran.clone(), Witness(dropped.clone()));
    move || {
        let _captured = &witness;
        count.add();
    }
}

/// Each job that is dropped discards all the others: these drops must not nest.
pub(crate) fn a_discarded_job_may_discard_others(subject: &impl Crew) {
    const JOBS: usize = 20_000;

    struct Guard<P: Pool>(P);

    impl<P: Pool> Drop for Guard<P> {
        fn drop(&mut self) {
            let _report = self.0.shutdown_now();
        }
    }

    // If they did, the process would run out of stack.
    Child::default().run(|| {
        with_pool(subject, 1, |pool| {
            let (gate, ran) = (occupy(pool, 1), Counter::default());
            for _ in 0..JOBS {
                let (guard, ran) = (Guard(pool.clone()), ran.clone());
                pool.execute(move || {
                    let _captured = &guard;
                    ran.add();
                });
            }
            pool.shutdown_now();
            gate.open();
            let report = pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
            assert_eq!((report.finished, report.discarded, ran.get()), (1, JOBS as u64, 0));
        });
    });
}

/// What a job owns that is dropped waits for the thread that waits for the job.
pub(crate) fn a_destructor_may_wait_for_the_waiter_of_its_job(subject: &impl Subject) {
    with_pool(subject, 1, |pool| {
        let (gate, (tell, told)) = (occupy(pool, 1), mpsc::channel());
        let owned = OnDrop::new(move || told.recv().expect("the waiter goes on"));
        let handle = pool.submit(move || drop(owned));
        let waiter = thread::spawn(move || {
            let outcome = handle.wait();
            tell.send(()).expect("it is waited for");
            outcome
        });
        pool.shutdown_now();
        gate.open();
        assert!(matches!(waiter.join().expect("no panic"), Err(TaskError::Dropped)));
    });
}

/// The waker of a job that is dropped shuts a pool down, as a destructor may that it causes to run, and waits for a
/// thread that waits for a job of that pool.
pub(crate) fn a_job_that_is_dropped_within_a_wake_up_tells_its_waiter(subject: &impl Crew) {
    struct Owner<P> {
        pool: P,
        waiter: Mutex<Option<thread::JoinHandle<()>>>,
    }

    impl<P: Pool> Wake for Owner<P> {
        fn wake(self: Arc<Self>) {
            self.pool.shutdown_now();
            let waiter = self.waiter.lock().expect("no panic under this lock").take();
            waiter.into_iter().for_each(|waiter| waiter.join().expect("no panic"));
        }
    }

    with_pool(subject, 1, |outer| {
        with_pool(subject, 1, |inner| {
            let gates = [occupy(outer, 1), occupy(inner, 1)];
            let (mut queued, (tell, told)) = (inner.submit(|| ()), mpsc::channel());
            let waiter = thread::spawn(move || {
                let waker = Waker::from(Arc::new(Unparker(thread::current())));
                while Pin::new(&mut queued).poll(&mut Context::from_waker(&waker)).is_pending() {
                    tell.send(()).expect("the test waits for the first time only");
                    thread::park();
                }
            });
            told.recv().expect("it waits");
            let owner = Owner { pool: inner.clone(), waiter: Mutex::new(Some(waiter)) };
            let mut dropped = outer.submit(|| ());
            let waker = Waker::from(Arc::new(owner));
            assert!(Pin::new(&mut dropped).poll(&mut Context::from_waker(&waker)).is_pending());
            outer.shutdown_now();
            assert!(matches!(dropped.wait(), Err(TaskError::Dropped)));
            gates.iter().for_each(Gate::open);
        });
    });
}

struct Unparker(thread::Thread);

impl Wake for Unparker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Jobs that had been spawned by workers are part of the backlog, and what running jobs spawn afterwards is dropped.
pub(crate) fn shutdown_now_from_a_worker(subject: &impl Crew) {
    with_pool(subject, 1, |pool| {
        let (ran, dropped, local) = (Counter::default(), Counter::default(), pool.clone());
        let (count, drops) = (ran.clone(), dropped.clone());
        let handle = pool.submit(move || {
            (0..10).for_each(|_| local.execute(job_with(&count, &drops)));
            local.shutdown_now();
            let before = drops.get();
            for _ in 0..5 {
                assert!(local.try_execute(job_with(&count, &drops)).is_err());
            }
            drops.get() - before
        });
        assert_eq!(handle.wait().expect("the running job is left alone"), 5);
        let report = pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
        assert_eq!((ran.get(), dropped.get()), (0, 15));
        assert_eq!((report.finished, report.discarded), (1, 10));
    });
}

/// Submitters, a drain and a discard at the same time: every job that was accepted has finished or was discarded.
pub(crate) fn reports_add_up_when_discarding_races_with_submitting(subject: &impl Crew) {
    for round in 0..20 {
        with_pool(subject, 2, |pool| {
            let (ran, accepted, start) = (Counter::default(), Counter::default(), Barrier::new(3));
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        start.wait();
                        loop {
                            let (local, count, inner) = (pool.clone(), accepted.clone(), ran.clone());
                            let job = move || {
                                let leaf = inner.clone();
                                inner.add();
                                if local.try_execute(move || leaf.add()).is_ok() {
                                    count.add();
                                }
                            };
                            match pool.try_execute(job) {
                                Ok(()) => accepted.add(),
                                Err(_) => break,
                            }
                        }
                    });
                }
                start.wait();
                for _ in 0..round * 100 {
                    std::hint::spin_loop();
                }
                if round % 2 == 0 {
                    pool.shutdown_async();
                }
                pool.shutdown_now();
            });
            let report = pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
            assert_eq!(report.finished, ran.get() as u64);
            assert_eq!(report.finished + report.discarded, accepted.get() as u64, "{report:?}");
        });
    }
}

/// In a pool that discards, a job that waits for another drops it, because no worker would run it; what a job submits
/// is dropped as well.
pub(crate) fn a_worker_that_waits_after_shutdown_now_drops_the_job(subject: &impl Crew) {
    log_book::open();
    with_pool(subject, 1, |pool| {
        let (ran, dropped, local) = (Counter::default(), Counter::default(), pool.clone());
        let job = {
            let (ran, dropped) = (ran.clone(), dropped.clone());
            move || job_with(&ran, &dropped)
        };
        let (tell, told) = mpsc::channel();
        pool.execute(move || {
            let handle = local.submit(job());
            local.shutdown_now();
            let outcome = handle.wait();
            let before = log_book::of_this_thread().len();
            let given = try_execute_locally(job()).is_ok();
            let said = log_book::of_this_thread().split_off(before);
            tell.send((outcome, given, said)).expect("the test listens");
        });
        let (outcome, given, said) = told.recv().expect("the job does not panic");
        assert!(matches!(outcome, Err(TaskError::Dropped)), "{outcome:?}");
        assert!(given, "only the log says that it is dropped");
        assert!(matches!(&said[..], [(log::Level::Warn, _)]), "{said:?}");
        pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
        assert_eq!((ran.get(), dropped.get()), (0, 2));
    });
}
