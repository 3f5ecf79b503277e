//! The result of a closure.

use super::{
    subject::{Crew, Subject, with_pool},
    tools::{Counter, Witness, occupy, panic_quietly, threads_of},
};
use crate::support::{
    gate::Gate,
    threads::Call,
    watchdog::{PATIENCE, until},
};
use ::futures::executor::block_on;
use executors::{Executor, Pool, TaskError, TaskHandle};
use std::{
    any::Any,
    collections::BTreeSet,
    pin::Pin,
    sync::{Arc, Barrier, mpsc},
    task::{Context, Poll, Wake, Waker},
    thread,
    time::{Duration, Instant},
};

pub(crate) fn the_value_arrives(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let text = String::from("moved in");
        assert_eq!(pool.submit(move || text + " and out").wait().expect("no panic"), "moved in and out");
        let large = pool.submit(|| [7_u64; 500]).wait().expect("no panic");
        assert_eq!(large.iter().sum::<u64>(), 3500);
        let handles: Vec<_> = (0..200_u64).map(|number| pool.submit(move || number * number)).collect();
        for (number, handle) in (0..).zip(handles) {
            assert_eq!(handle.wait().expect("no panic"), number * number);
        }
        pool.submit(|| ()).wait().expect("no panic");
    });
}

/// The payload itself, of any type, and its text where it has one.
pub(crate) fn the_panic_arrives(subject: &impl Subject) {
    fn thrown(pool: &impl Pool, payload: impl Send + 'static) -> (String, Box<dyn Any + Send>) {
        match pool.submit(move || panic_quietly(payload)).wait() {
            Err(TaskError::Panicked(panic)) => (panic.message().to_owned(), panic.into_payload()),
            other => panic!("the job panicked, but: {other:?}"),
        }
    }

    with_pool(subject, 2, |pool| {
        let (message, payload) = thrown(pool, "static text");
        assert_eq!((&*message, payload.downcast_ref::<&str>()), ("static text", Some(&"static text")));
        let (message, payload) = thrown(pool, String::from("owned text"));
        assert_eq!(
            (&*message, payload.downcast_ref::<String>().map(|text| &**text)),
            ("owned text", Some("owned text"))
        );
        let (message, payload) = thrown(pool, 77_u8);
        assert!(!message.is_empty());
        assert_eq!(payload.downcast_ref::<u8>(), Some(&77));
        let error = pool.submit(|| panic_quietly("why")).wait().expect_err("the job panicked");
        assert!(error.to_string().contains("why"), "{error}");
    });
}

/// A handle whose wait times out is given back, and can be waited for again.
pub(crate) fn a_timeout_gives_the_handle_back(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let gate = occupy(pool, 2);
        let handle = pool.submit(|| 5);
        assert!(!handle.is_finished());
        let (start, timeout) = (Instant::now(), Duration::from_millis(20));
        let handle = handle.wait_timeout(timeout).expect_err("the job cannot begin");
        assert!(start.elapsed() >= timeout);
        let handle = handle.wait_timeout(Duration::ZERO).expect_err("the job cannot begin");
        gate.open();
        assert_eq!(handle.wait_timeout(PATIENCE).expect("in time").expect("no panic"), 5);
        let handle = pool.submit(|| 6);
        assert_eq!(handle.wait_timeout(Duration::MAX).expect("in time").expect("no panic"), 6);
    });
}

pub(crate) fn a_finished_job_is_ready(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let (value, panic) = (pool.submit(|| 8), pool.submit(|| panic_quietly("expected")));
        pool.join().expect("this is no worker");
        assert!(value.is_finished() && panic.is_finished());
        assert_eq!(value.wait_timeout(Duration::ZERO).expect("it is there").expect("no panic"), 8);
        let outcome: Result<(), _> = panic.wait();
        assert!(matches!(outcome, Err(TaskError::Panicked(_))));
    });
}

/// A handle is a future: for a foreign executor, and for one that polls it before the job begins and after its end.
pub(crate) fn a_handle_is_a_future(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        assert_eq!(block_on(pool.submit(|| 9)).expect("no panic"), 9);
        let outcome = block_on(pool.submit(|| -> u8 { panic_quietly("expected") }));
        assert!(matches!(outcome, Err(TaskError::Panicked(_))));
        let sum = block_on(async {
            let handles: Vec<_> = (0..50_u32).map(|number| pool.submit(move || number)).collect();
            let mut sum = 0;
            for handle in handles {
                sum += handle.await.expect("no panic");
            }
            sum
        });
        assert_eq!(sum, 1225);
    });
}

pub(crate) fn a_future_that_waits_is_woken(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let gate = occupy(pool, 2);
        let handle = pool.submit(|| 10);
        let opener = thread::spawn(move || gate.open());
        assert_eq!(block_on(handle).expect("no panic"), 10);
        opener.join().expect("opening does not panic");
    });
}

/// Cancelled before it begins, a job never runs, and what it owns is gone when `cancel` returns.
pub(crate) fn a_waiting_job_can_be_cancelled(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let gate = occupy(pool, 2);
        let (ran, dropped) = (Counter::default(), Counter::default());
        let handles: Vec<_> = (0..10)
            .map(|_| {
                let (count, witness) = (ran.clone(), Witness(dropped.clone()));
                pool.submit(move || {
                    let _captured = &witness;
                    count.add();
                })
            })
            .collect();
        for (number, handle) in (1..).zip(&handles[..9]) {
            assert!(handle.cancel());
            assert_eq!(dropped.get(), number);
            assert!(handle.is_finished());
        }
        gate.open();
        for (number, handle) in handles.into_iter().enumerate() {
            match handle.wait() {
                Err(TaskError::Cancelled) => assert!(number < 9),
                Ok(()) => assert_eq!(number, 9, "the last one was not cancelled"),
                other => panic!("job {number}: {other:?}"),
            }
        }
        pool.join().expect("this is no worker");
        assert_eq!((ran.get(), dropped.get()), (1, 10));
        let stats = pool.stats();
        // `finished` counts those that were cancelled, too, and the two that occupied the workers.
        assert_eq!((stats.queued, stats.running, stats.finished, stats.discarded), (0, 0, 12, 0), "{stats:?}");
    });
}

/// Waits for a job: polls its handle, and counts how often it is woken.
#[derive(Default)]
struct Waiter(Counter);

impl Wake for Waiter {
    fn wake(self: Arc<Self>) {
        self.0.add();
    }
}

impl Waiter {
    fn poll(self: &Arc<Self>, handle: &mut TaskHandle<()>) -> Poll<Result<(), TaskError>> {
        Pin::new(handle).poll(&mut Context::from_waker(&Waker::from(Arc::clone(self))))
    }
}

/// A job that is cancelled wakes its waiter.
pub(crate) fn cancelling_ends_a_wait(subject: &impl Subject) {
    with_pool(subject, 1, |pool| {
        let (gate, waiter, mut handle) = (occupy(pool, 1), Arc::new(Waiter::default()), pool.submit(|| ()));
        assert!(waiter.poll(&mut handle).is_pending());
        assert!(handle.cancel());
        assert_eq!(waiter.0.get(), 1);
        assert!(matches!(waiter.poll(&mut handle), Poll::Ready(Err(TaskError::Cancelled))));
        gate.open();
    });
}

pub(crate) fn a_running_job_cannot_be_cancelled(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let (gate, begun) = (Gate::default(), Arc::new(Barrier::new(2)));
        let (closed, arrived) = (gate.clone(), Arc::clone(&begun));
        let handle = pool.submit(move || {
            arrived.wait();
            closed.pass();
            11
        });
        begun.wait();
        assert!(!handle.cancel());
        gate.open();
        pool.join().expect("this is no worker");
        assert!(!handle.cancel());
        assert_eq!(handle.wait().expect("no panic"), 11);
    });
}

/// Cancelling while workers take the jobs: each job runs or is cancelled, and the handle says which.
pub(crate) fn cancelling_races_with_running(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        for _ in 0..500 {
            let (ran, dropped) = (Counter::default(), Counter::default());
            let (count, witness) = (ran.clone(), Witness(dropped.clone()));
            let handle = pool.submit(move || {
                let _captured = &witness;
                count.add();
            });
            let cancelled = handle.cancel();
            match handle.wait() {
                Ok(()) => assert_eq!((cancelled, ran.get(), dropped.get()), (false, 1, 1)),
                Err(TaskError::Cancelled) => assert_eq!((cancelled, ran.get(), dropped.get()), (true, 0, 1)),
                other => panic!("{other:?}"),
            }
        }
    });
}

/// Detached or dropped, before the job begins, while it runs or after its end: it runs, and its result is dropped once.
pub(crate) fn unobserved_jobs_run(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let (ran, dropped) = (Counter::default(), Counter::default());
        let submit = || {
            let (count, witness) = (ran.clone(), Witness(dropped.clone()));
            pool.submit(move || {
                count.add();
                witness
            })
        };
        let gate = occupy(pool, 2);
        for _ in 0..10 {
            submit().detach();
            drop(submit());
        }
        gate.open();
        let late = submit();
        pool.join().expect("this is no worker");
        assert_eq!((ran.get(), dropped.get()), (21, 20));
        late.detach();
        assert_eq!(dropped.get(), 21);
    });
}

/// A closed pool's handles are finished from the start.
pub(crate) fn a_closed_pool_drops_the_job(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        pool.shutdown_async();
        let dropped = Counter::default();
        let submit = || {
            let witness = Witness(dropped.clone());
            pool.submit(move || drop(witness))
        };
        let handle = submit();
        assert_eq!(dropped.get(), 1);
        assert!(handle.is_finished());
        assert!(!handle.cancel(), "there is nothing left to cancel");
        assert!(matches!(handle.wait(), Err(TaskError::Dropped)));
        let in_time = submit().wait_timeout(Duration::ZERO).expect("it is finished");
        assert!(matches!(in_time, Err(TaskError::Dropped)));
        assert!(matches!(block_on(submit()), Err(TaskError::Dropped)));
        assert_eq!(dropped.get(), 3);
    });
}

/// A job that the pool discards wakes its waiter, be it a task or a thread.
pub(crate) fn discarding_ends_a_wait(subject: &impl Subject) {
    with_pool(subject, 1, |pool| {
        let (gate, waiter, mut handle) = (occupy(pool, 1), Arc::new(Waiter::default()), pool.submit(|| ()));
        assert!(waiter.poll(&mut handle).is_pending());
        let other = pool.submit(|| ());
        thread::scope(|scope| {
            let blocked = Call::begin(scope, || other.wait());
            blocked.await_sleep();
            pool.shutdown_now();
            assert!(matches!(blocked.join(), Err(TaskError::Dropped)));
        });
        assert_eq!(waiter.0.get(), 1);
        assert!(matches!(waiter.poll(&mut handle), Poll::Ready(Err(TaskError::Dropped))));
        gate.open();
    });
}

/// Its worker still has the result then, because it is waking somebody who waited.
pub(crate) fn detaching_drops_a_result_that_is_there(subject: &impl Crew) {
    struct Busy(Gate);

    impl Wake for Busy {
        fn wake(self: Arc<Self>) {
            self.0.pass();
        }
    }

    with_pool(subject, 1, |pool| {
        let (gate, dropped) = (occupy(pool, 1), Counter::default());
        let witness = Witness(dropped.clone());
        let mut handle = pool.submit(move || witness);
        let busy = Gate::default();
        let waker = Waker::from(Arc::new(Busy(busy.clone())));
        assert!(Pin::new(&mut handle).poll(&mut Context::from_waker(&waker)).is_pending());
        gate.open();
        until("the result is there", || handle.is_finished());
        handle.detach();
        let at_once = dropped.get();
        busy.open();
        pool.join().expect("this is no worker");
        assert_eq!((at_once, dropped.get()), (1, 1));
    });
}

/// Every worker waits for a job that no worker is left to run.
pub(crate) fn every_worker_may_wait(subject: &impl Crew) {
    for threads in [1, 2, subject.at_most(8)] {
        with_pool(subject, threads, |pool| {
            let meeting = Arc::new(Barrier::new(threads));
            let handles: Vec<_> = (0..threads)
                .map(|number| {
                    let (local, meeting) = (pool.clone(), Arc::clone(&meeting));
                    pool.submit(move || {
                        // Without this, a child might fill the pool, and the submitter of the next of these would run
                        // it, and wait here.
                        meeting.wait();
                        let child = local.submit(move || 2 * number);
                        meeting.wait();
                        child.wait().expect("no panic")
                    })
                })
                .collect();
            let doubled: BTreeSet<_> = handles.into_iter().map(|handle| handle.wait().expect("no panic")).collect();
            assert_eq!(doubled, (0..threads).map(|number| 2 * number).collect());
        });
    }
}

/// Recursion: jobs that wait for jobs that wait.
pub(crate) fn jobs_may_wait_recursively(subject: &impl Subject) {
    fn fibonacci<P: Pool + 'static>(pool: &P, n: u64) -> u64 {
        if n < 2 {
            return n;
        }
        let local = pool.clone();
        let left = pool.submit(move || fibonacci(&local, n - 1));
        let right = fibonacci(pool, n - 2);
        left.wait().expect("no panic") + right
    }

    for threads in [1, 2] {
        with_pool(subject, threads, |pool| {
            let local = pool.clone();
            assert_eq!(pool.submit(move || fibonacci(&local, 11)).wait().expect("no panic"), 89);
        });
    }
}

/// A job that waits for its own handle gets an error instead of waiting for ever.
pub(crate) fn a_job_cannot_wait_for_itself(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let (give, given) = mpsc::channel::<TaskHandle<()>>();
        let (tell, told) = mpsc::channel();
        let handle = pool.submit(move || {
            let own = given.recv().expect("the test sends it");
            tell.send(own.wait()).expect("the test listens");
        });
        give.send(handle).expect("the job waits for it");
        let outcome = told.recv().expect("the job is told");
        assert!(matches!(outcome, Err(TaskError::WouldDeadlock)), "{outcome:?}");
    });
}

/// The same further down on one stack: the job waits for a child, runs it itself, and the child waits for the job.
pub(crate) fn a_child_cannot_wait_for_the_job_that_runs_it(subject: &impl Subject) {
    with_pool(subject, 1, |pool| {
        let (give, given) = mpsc::channel::<TaskHandle<()>>();
        let (tell, told) = mpsc::channel();
        let local = pool.clone();
        let handle = pool.submit(move || {
            let own = given.recv().expect("the test sends it");
            let child = local.submit(move || tell.send(own.wait()).expect("the test listens"));
            child.wait().expect("no panic");
        });
        give.send(handle).expect("the job waits for it");
        let outcome = told.recv().expect("the child is told");
        assert!(matches!(outcome, Err(TaskError::WouldDeadlock)), "{outcome:?}");
    });
}

/// Whoever waits, a job runs on the pool to which it was submitted.
pub(crate) fn waiting_does_not_move_a_job_to_another_pool(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let ours = threads_of(pool, 2);
        let handle = pool.submit(|| thread::current().id());
        assert!(ours.contains(&handle.wait().expect("no panic")), "waited for by the test's own thread");
        with_pool(subject, 1, |other| {
            for _ in 0..20 {
                let handle = pool.submit(|| thread::current().id());
                let place = other.submit(move || handle.wait().expect("no panic")).wait().expect("no panic");
                assert!(ours.contains(&place), "waited for by a job of another pool");
            }
        });
    });
}

/// A job that is run by its waiter and panics: the waiter gets the panic as an error, not as a panic.
pub(crate) fn a_panic_does_not_pass_through_a_helping_waiter(subject: &impl Subject) {
    with_pool(subject, 1, |pool| {
        let local = pool.clone();
        let outer = pool.submit(move || {
            let child = local.submit(|| panic_quietly("the child's")).wait();
            matches!(child, Err(TaskError::Panicked(panic)) if panic.message() == "the child's")
        });
        assert!(outer.wait().expect("the waiter does not panic"));
        pool.join().expect("this is no worker");
        assert_eq!((pool.stats().panicked, pool.stats().finished), (1, 2));
    });
}

/// A handle that a worker waits for with a timeout.
pub(crate) fn a_worker_may_wait_with_a_timeout(subject: &impl Subject) {
    with_pool(subject, 1, |pool| {
        let local = pool.clone();
        let outer = pool.submit(move || {
            let child = local.submit(|| 12);
            child.wait_timeout(PATIENCE).expect("in time").expect("no panic")
        });
        assert_eq!(outer.wait().expect("no panic"), 12);
    });
}
