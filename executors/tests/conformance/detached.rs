//! Futures that nobody has a handle to, and what becomes of futures that nobody can wake, or only too late.

use super::{
    futures::Signal,
    subject::{Crew, Subject, with, with_pool},
    tools::{Counter, Tally, Witness, occupy, panic_quietly, threads_of},
};
use crate::support::{
    gate::Gate,
    suspend::yield_once,
    watchdog::{PATIENCE, until, within},
};
use executors::{Executor, FuturesExecutor, Pool};
use std::{
    future::{pending, poll_fn},
    sync::{Arc, Mutex, mpsc},
    task::{Poll, Waker},
    thread,
};

/// The ways to run a future of whose end nobody hears.
#[derive(Clone, Copy, Debug)]
enum Way {
    Detached,
    Spawned,
    Submitted,
}

const WAYS: [Way; 3] = [Way::Detached, Way::Spawned, Way::Submitted];

impl Way {
    fn run(self, pool: &impl FuturesExecutor, future: impl Future<Output = ()> + Send + 'static) {
        match self {
            Way::Detached => pool.spawn_detached(future),
            Way::Spawned => pool.spawn(future).detach(),
            Way::Submitted => pool.submit_future(future).detach(),
        }
    }
}

pub(crate) fn detached_futures_run_to_their_end(subject: &impl Subject<Pool: FuturesExecutor>) {
    const FUTURES: usize = 100;
    with_pool(subject, 2, |pool| {
        let (tally, dropped) = (Tally::new(2 * FUTURES), Counter::default());
        let future = |number: usize, from_inside| {
            let (tally, witness) = (tally.clone(), Witness(dropped.clone()));
            async move {
                let _captured = &witness;
                for _ in 0..number % 5 {
                    yield_once().await;
                }
                tally.add(2 * number + usize::from(from_inside));
            }
        };
        for number in 0..FUTURES {
            let (own, inner) = (pool.clone(), future(number, true));
            pool.execute(move || own.spawn_detached(inner));
            pool.spawn_detached(future(number, false));
        }
        pool.join().expect("this is no worker");
        tally.assert_once_each();
        assert_eq!(dropped.get(), 2 * FUTURES);
    });
}

/// Each step runs on the pool, whoever wakes the future: before it sleeps, or when it does.
pub(crate) fn a_detached_future_stays_on_its_pool(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 2, |pool| {
        with_pool(subject, 1, |other| {
            let ours = threads_of(pool, 2);
            for round in 0..50 {
                let (signal, (tell, told)) = (Signal::default(), mpsc::channel());
                let awaited = signal.clone();
                pool.spawn_detached(async move {
                    awaited.wait().await;
                    tell.send(thread::current().id()).expect("the test listens");
                });
                if round % 2 == 0 {
                    signal.until_awaited();
                }
                match round % 3 {
                    0 => other.execute(move || signal.raise()),
                    1 => pool.execute(move || signal.raise()),
                    _ => signal.raise(),
                }
                assert!(ours.contains(&told.recv_timeout(PATIENCE).expect("the future goes on")), "round {round}");
            }
        });
    });
}

/// A future that is woken many times at once, by several threads, sees all that was written before.
pub(crate) fn every_wake_up_of_a_detached_future_is_answered(subject: &impl Subject<Pool: FuturesExecutor>) {
    const WAKERS: usize = 3;
    with_pool(subject, 2, |pool| {
        for round in 0..100 {
            let (signals, (tell, told)) = ([(); WAKERS].map(|()| Signal::default()), mpsc::channel());
            let awaited = signals.clone();
            pool.spawn_detached(async move {
                for signal in &awaited {
                    signal.wait().await;
                }
                tell.send(()).expect("the test listens");
            });
            thread::scope(|scope| signals.iter().for_each(|signal| _ = scope.spawn(|| signal.raise())));
            told.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("round {round}: a wake-up is lost"));
        }
    });
}

/// It leaves no waker, or the last one is dropped later, by a foreign thread or by a job of the pool.
pub(crate) fn a_future_that_nobody_can_wake_is_dropped(subject: &impl Subject<Pool: FuturesExecutor>) {
    for way in WAYS {
        with_pool(subject, 2, |pool| {
            let dropped = Counter::default();
            let witness = || Witness(dropped.clone());
            let (lost, gate) = (witness(), Gate::default());
            let closed = gate.clone();
            way.run(pool, async move {
                let _captured = &lost;
                // The call that has submitted it has returned by then.
                closed.pass();
                pending::<()>().await;
            });
            gate.open();
            until("a future that leaves no waker is dropped", || dropped.get() == 1);

            for by_job in [false, true] {
                let (forgotten, (keep, kept)) = (witness(), mpsc::channel::<Waker>());
                way.run(
                    pool,
                    poll_fn(move |context| {
                        let _captured = &forgotten;
                        keep.send(context.waker().clone()).expect("the test listens");
                        Poll::Pending
                    }),
                );
                let waker = kept.recv_timeout(PATIENCE).expect("it is polled");
                pool.join().expect("this is no worker");
                let before = dropped.get();
                if by_job {
                    pool.execute(move || drop(waker));
                } else {
                    drop(waker);
                }
                until("a future whose last waker is dropped is dropped", || dropped.get() == before + 1);
            }
            pool.join().expect("this is no worker");
            assert_eq!(dropped.get(), 3, "{way:?}");
        });
    }
}

/// Many libraries wake a future under a lock that the future's destructor takes.
pub(crate) fn wakers_may_hold_a_lock_of_the_destructor(subject: &impl Subject<Pool: FuturesExecutor>) {
    type Wakers = Arc<Mutex<Vec<Waker>>>;

    struct Waits(Wakers, Counter);
    impl Drop for Waits {
        fn drop(&mut self) {
            self.0.lock().expect("no panic under this lock").clear();
            self.1.add();
        }
    }

    fn wake_all(wakers: &Wakers) {
        let mut wakers = wakers.lock().expect("no panic under this lock");
        wakers.drain(..).for_each(Waker::wake);
    }

    for way in WAYS {
        for by_job in [false, true] {
            with_pool(subject, 1, |pool| {
                let (wakers, dropped) = (Wakers::default(), Counter::default());
                let waits = Waits(Arc::clone(&wakers), dropped.clone());
                way.run(
                    pool,
                    poll_fn(move |context| {
                        waits.0.lock().expect("no panic under this lock").push(context.waker().clone());
                        Poll::Pending
                    }),
                );
                pool.join().expect("this is no worker");
                if by_job {
                    // A job of a pool that discards, and has workers.
                    let (running, own) = (Gate::default(), Arc::clone(&wakers));
                    let (closed, (tell, told)) = (running.clone(), mpsc::channel());
                    pool.execute(move || {
                        tell.send(()).expect("the test listens");
                        closed.pass();
                        wake_all(&own);
                    });
                    told.recv_timeout(PATIENCE).expect("it runs");
                    pool.shutdown_now();
                    running.open();
                } else {
                    pool.shutdown_timeout(PATIENCE).expect("a suspended future does not keep the pool");
                    within(|| wake_all(&wakers));
                }
                until("the future is dropped", || dropped.get() == 1);
            });
        }
    }
}

/// A panic ends the future, and is counted and reported once.
pub(crate) fn a_panic_of_a_detached_future_is_reported(subject: &impl Crew<Pool: FuturesExecutor>) {
    let reports = Counter::default();
    let count = reports.clone();
    let pool = subject.builder().threads(2).panic_handler(move |payload| {
        assert_eq!(payload.downcast_ref::<u8>(), Some(&13));
        count.add();
    });
    with(pool.build().expect("two threads"), |pool| {
        let (dropped, signal) = (Counter::default(), Signal::default());
        let (witness, awaited) = (Witness(dropped.clone()), signal.clone());
        pool.spawn_detached(async move {
            let _captured = &witness;
            awaited.wait().await;
            panic_quietly(13_u8);
        });
        signal.until_awaited();
        signal.raise();
        until("the future is dropped", || dropped.get() == 1);
        pool.join().expect("this is no worker");
        assert_eq!((reports.get(), pool.stats().panicked), (1, 1));
        // It is over, and another wake-up changes nothing.
        signal.raise();
        assert_eq!(pool.submit(|| 1).wait().expect("the pool works"), 1);
    });
}

/// A future is dropped if its pool is closed when it is spawned, or discards the step that waits.
pub(crate) fn detached_futures_end_with_their_pool(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 1, |pool| {
        let (gate, dropped) = (occupy(pool, 1), Counter::default());
        let future = || {
            let witness = Witness(dropped.clone());
            async move { drop(witness) }
        };
        pool.spawn_detached(future());
        pool.shutdown_now();
        gate.open();
        until("the future is discarded", || dropped.get() == 1);
        pool.spawn_detached(future());
        assert_eq!(dropped.get(), 2);
    });
}

/// One that goes on for ever is dropped by its worker, which the end waits for.
pub(crate) fn a_future_that_yields_does_not_outlive_its_pool(subject: &impl Subject<Pool: FuturesExecutor>) {
    for way in WAYS {
        for _ in 0..10 {
            with_pool(subject, 2, |pool| {
                let ((tell, told), dropped) = (mpsc::channel(), Counter::default());
                let witness = Witness(dropped.clone());
                way.run(pool, async move {
                    let _captured = &witness;
                    tell.send(()).expect("the test listens");
                    loop {
                        yield_once().await;
                    }
                });
                told.recv_timeout(PATIENCE).expect("it is polled");
                pool.shutdown_now();
                pool.shutdown_timeout(PATIENCE).expect("it is discarded");
                assert_eq!(dropped.get(), 1, "{way:?}");
            });
        }
    }
}

/// Wakers that race with the pool's end: each future is finished or dropped, once.
pub(crate) fn wakers_of_detached_futures_race_with_close(subject: &impl Subject<Pool: FuturesExecutor>) {
    for round in 0..30 {
        with_pool(subject, 2, |pool| {
            let (signals, dropped) = ((0..8).map(|_| Signal::default()).collect::<Vec<_>>(), Counter::default());
            for signal in &signals {
                let (signal, witness) = (signal.clone(), Witness(dropped.clone()));
                pool.spawn_detached(async move {
                    let _captured = &witness;
                    signal.wait().await;
                    yield_once().await;
                });
            }
            signals.iter().for_each(Signal::until_awaited);
            thread::scope(|scope| {
                scope.spawn(|| signals.iter().for_each(Signal::raise));
                (0..round * 100).for_each(|_| std::hint::spin_loop());
                if round % 3 == 0 {
                    pool.shutdown_now();
                } else {
                    pool.shutdown_async();
                }
            });
            until("all futures are dropped", || dropped.get() == 8);
        });
    }
}
