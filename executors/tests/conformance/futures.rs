//! Futures on a pool.

use super::{
    subject::{Crew, Subject, with, with_pool},
    tools::{Bomb, Counter, Life, Tally, Witness, occupy, panic_quietly, threads_of},
};
use crate::support::{
    child::Child,
    gate::Gate,
    suspend::yield_once,
    threads,
    watchdog::{PATIENCE, until, within},
};
use ::futures::executor::block_on;
use executors::{Executor, FuturesExecutor, Pool};
use std::{
    future::{pending, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Mutex, mpsc},
    task::{Poll, Waker},
    thread,
};

/// A flag that a future waits for and any thread may raise, once.
#[derive(Clone, Default)]
pub(crate) struct Signal(Arc<Mutex<(bool, Option<Waker>)>>);

impl Signal {
    pub(crate) fn raise(&self) {
        let waker = {
            let mut state = self.0.lock().expect("no panic under this lock");
            state.0 = true;
            state.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) async fn wait(&self) {
        poll_fn(|context| {
            let mut state = self.0.lock().expect("no panic under this lock");
            if state.0 {
                return Poll::Ready(());
            }
            state.1 = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Waits until a future waits for this signal.
    pub(crate) fn until_awaited(&self) {
        until("a future waits", || self.0.lock().expect("no panic under this lock").1.is_some());
    }
}

pub(crate) fn a_ready_future_gives_its_value(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 2, |pool| {
        assert_eq!(block_on(pool.spawn(async { 6 * 7 })), 42);
        let handles: Vec<_> = (0..100).map(|number| pool.spawn(async move { number })).collect();
        let sum: i32 = handles.into_iter().map(block_on).sum();
        assert_eq!(sum, 4950);
    });
}

/// Many futures that suspend themselves many times, on the workers of the pool.
pub(crate) fn futures_that_yield_are_resumed(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 2, |pool| {
        let ours = threads_of(pool, 2);
        let futures: Vec<_> = (0..50)
            .map(|_| {
                pool.spawn(async {
                    let mut places = vec![thread::current().id()];
                    for _ in 0..20 {
                        yield_once().await;
                        places.push(thread::current().id());
                    }
                    places
                })
            })
            .collect();
        for future in futures {
            let places = block_on(future);
            assert_eq!(places.len(), 21);
            assert!(places.iter().all(|place| ours.contains(place)), "each step runs on the pool");
        }
    });
}

/// A future gives the pool a job that waits for the future's next step, and wakes itself: one worker cannot do both.
pub(crate) fn a_job_may_wait_for_the_next_step_of_its_future(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 2, |pool| {
        for _ in 0..100 {
            let (own, gate) = (pool.clone(), Gate::default());
            block_on(pool.spawn(async move {
                let blocked = gate.clone();
                own.execute(move || blocked.pass());
                yield_once().await;
                gate.open();
            }));
        }
    });
}

/// Woken by a foreign thread or by a job of another pool, the future goes on where it was spawned.
pub(crate) fn a_future_woken_from_elsewhere_stays_on_its_pool(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 2, |pool| {
        with_pool(subject, 1, |other| {
            let ours = threads_of(pool, 2);
            for round in 0..50 {
                let signal = Signal::default();
                let awaited = signal.clone();
                let future = pool.spawn(async move {
                    awaited.wait().await;
                    thread::current().id()
                });
                if round % 2 == 0 {
                    signal.until_awaited();
                }
                if round % 3 == 0 {
                    other.execute(move || signal.raise());
                } else {
                    signal.raise();
                }
                assert!(ours.contains(&block_on(future)));
            }
        });
    });
}

/// Futures that wait for futures and for jobs, all on one worker: no worker blocks.
pub(crate) fn futures_may_wait_for_each_other(subject: &impl Subject<Pool: FuturesExecutor>) {
    fn sum<P: FuturesExecutor + Pool>(pool: P, depth: u32) -> Pin<Box<dyn Future<Output = u32> + Send>> {
        Box::pin(async move {
            if depth == 0 {
                return pool.submit(|| 1).await.expect("no panic");
            }
            let halves = [(); 2].map(|()| pool.spawn(sum(pool.clone(), depth - 1)));
            let mut total = 0;
            for half in halves {
                total += half.await;
            }
            total
        })
    }

    for threads in [1, 2] {
        with_pool(subject, threads, |pool| assert_eq!(block_on(pool.spawn(sum(pool.clone(), 6))), 64));
    }
}

/// The payload reaches the awaiter, and the pool has counted and reported the panic.
pub(crate) fn a_panic_reaches_the_awaiter(subject: &impl Crew<Pool: FuturesExecutor>) {
    let reports = Counter::default();
    let count = reports.clone();
    let pool = subject.builder().threads(2).panic_handler(move |payload| {
        assert_eq!(payload.downcast_ref::<u8>(), Some(&13));
        count.add();
    });
    with(pool.build().expect("two threads"), |pool| {
        let dropped = Counter::default();
        let witness = Witness(dropped.clone());
        let future = pool.spawn(async move {
            yield_once().await;
            let _captured = &witness;
            panic_quietly(13_u8);
        });
        let thrown = catch_unwind(AssertUnwindSafe(|| block_on(future))).expect_err("it panicked");
        assert_eq!(thrown.downcast_ref::<u8>(), Some(&13));
        assert_eq!(dropped.get(), 1);
        assert_eq!(block_on(pool.spawn(async { 1 })), 1, "the pool works");
        pool.join().expect("this is no worker");
        assert_eq!((reports.get(), pool.stats().panicked), (1, 1));
    });
}

/// Dropping the handle cancels the future; detaching does not.
pub(crate) fn handles_cancel_or_detach(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 2, |pool| {
        let (signal, tally, dropped) = (Signal::default(), Tally::new(2), Counter::default());
        let future = |number| {
            let (signal, tally, witness) = (signal.clone(), tally.clone(), Witness(dropped.clone()));
            async move {
                let _captured = &witness;
                signal.wait().await;
                tally.add(number);
            }
        };
        drop(pool.spawn(future(0)));
        until("the cancelled future is dropped", || dropped.get() == 1);
        pool.spawn(future(1)).detach();
        signal.until_awaited();
        signal.raise();
        pool.join().expect("this is no worker");
        until("the detached future is dropped", || dropped.get() == 2);
        assert_eq!((tally.get(0), tally.get(1)), (0, 1));
    });
}

/// A future that is woken while the pool drains is accepted: its next step is work that the pool has begun.
pub(crate) fn a_future_goes_on_while_the_pool_drains(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 2, |pool| {
        let signal = Signal::default();
        let awaited = signal.clone();
        let future = pool.spawn(async move {
            awaited.wait().await;
            for _ in 0..10 {
                yield_once().await;
            }
            5
        });
        signal.until_awaited();
        let gate = occupy(pool, 1);
        pool.shutdown_async();
        signal.raise();
        let value = block_on(future.fallible());
        gate.open();
        assert_eq!(value, Some(5));
    });
}

/// Woken after the pool's end, or spawned on a closed pool, a future is dropped and its awaiter told.
pub(crate) fn a_future_woken_after_the_end_is_cancelled(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 2, |pool| {
        let (signal, dropped, resumed) = (Signal::default(), Counter::default(), Counter::default());
        let (awaited, witness, count) = (signal.clone(), Witness(dropped.clone()), resumed.clone());
        let future = pool.spawn(async move {
            let _captured = &witness;
            awaited.wait().await;
            count.add();
        });
        signal.until_awaited();
        pool.shutdown_timeout(PATIENCE).expect("a suspended future does not keep the pool");
        assert_eq!(dropped.get(), 0);
        signal.raise();
        assert_eq!(block_on(future.fallible()), None);
        assert_eq!((dropped.get(), resumed.get()), (1, 0));

        let witness = Witness(dropped.clone());
        let late = pool.spawn(async move { drop(witness) });
        assert_eq!(dropped.get(), 2);
        assert_eq!(block_on(late.fallible()), None);
    });
}

/// A discarded step cancels its future.
pub(crate) fn shutdown_now_cancels_futures(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 1, |pool| {
        let (gate, dropped) = (occupy(pool, 1), Counter::default());
        let witness = Witness(dropped.clone());
        let future = pool.spawn(async move { drop(witness) });
        pool.shutdown_now();
        gate.open();
        assert_eq!(block_on(future.fallible()), None);
        assert_eq!(dropped.get(), 1);
    });
}

/// Wakers that race with the pool's end: each future is finished or dropped, and its awaiter is told.
pub(crate) fn wakers_race_with_close(subject: &impl Subject<Pool: FuturesExecutor>) {
    for round in 0..30 {
        with_pool(subject, 2, |pool| {
            let (signals, dropped) = ((0..8).map(|_| Signal::default()).collect::<Vec<_>>(), Counter::default());
            let futures: Vec<_> = signals
                .iter()
                .map(|signal| {
                    let (signal, witness) = (signal.clone(), Witness(dropped.clone()));
                    pool.spawn(async move {
                        let _captured = &witness;
                        signal.wait().await;
                        yield_once().await;
                    })
                })
                .collect();
            signals.iter().for_each(Signal::until_awaited);
            thread::scope(|scope| {
                scope.spawn(|| signals.iter().for_each(Signal::raise));
                for _ in 0..round * 100 {
                    std::hint::spin_loop();
                }
                if round % 3 == 0 {
                    pool.shutdown_now();
                } else {
                    pool.shutdown_async();
                }
            });
            for future in futures {
                let _done_or_cancelled = block_on(future.fallible());
            }
            until("all futures are dropped", || dropped.get() == 8);
        });
    }
}

/// A future that will never be woken does not keep the threads, and may be dropped or woken long after.
pub(crate) fn a_forgotten_future_keeps_no_thread(subject: &impl Subject<Pool: FuturesExecutor>) {
    let noise = Child::default().run(|| {
        let Some(before) = threads::count() else { return };
        let (signal, late) = (Signal::default(), Signal::default());
        let pool = subject.pool(2);
        pool.spawn(pending::<()>()).detach();
        let (awaited, (tell, told)) = (signal.clone(), mpsc::channel());
        pool.spawn(async move {
            awaited.wait().await;
            tell.send(()).expect("the future is not resumed");
        })
        .detach();
        let awaited = late.clone();
        let dropped_late = pool.spawn(async move { awaited.wait().await });
        signal.until_awaited();
        late.until_awaited();
        drop(pool);
        until("the pool's threads are gone", || threads::count() == Some(before));
        signal.raise();
        assert!(told.recv().is_err(), "the future is dropped, not resumed");
        drop(dropped_late);
    });
    assert_eq!(noise, "");
}

/// What a future owns may panic when it is dropped: by the pool, by the end of the pool, or by the thread that cancels
/// or wakes the future.
pub(crate) fn spawned_futures_that_panic_when_dropped_are_survived(subject: &impl Subject<Pool: FuturesExecutor>) {
    // A failure would end the process.
    Child::default().run(|| {
        let pool = subject.pool(2);
        let remaining = pool.clone();
        with(pool, |pool| {
            let ready = || {
                let bomb = Bomb;
                poll_fn(move |_| {
                    let _captured = &bomb;
                    Poll::Ready(5)
                })
            };
            assert_eq!(block_on(pool.spawn(ready())), 5);
            pool.spawn(ready()).detach();
            // Cancelled while it waits for its worker, usually.
            drop(pool.spawn(ready()));

            let bomb = Bomb;
            let thrown = pool.spawn(poll_fn(move |_| -> Poll<()> {
                let _captured = &bomb;
                panic_quietly(13_u8)
            }));
            let thrown = catch_unwind(AssertUnwindSafe(|| block_on(thrown))).expect_err("it panicked");
            assert_eq!(thrown.downcast_ref::<u8>(), Some(&13));

            let suspended = || {
                let (signal, bomb) = (Signal::default(), Bomb);
                let awaited = signal.clone();
                let handle = pool.spawn(async move {
                    let _captured = &bomb;
                    awaited.wait().await;
                });
                signal.until_awaited();
                pool.join().expect("this is no worker");
                (signal, handle)
            };
            let (_signal, cancelled) = suspended();
            drop(cancelled);
            let (signal, forgotten) = suspended();
            forgotten.detach();
            let waker = signal.0.lock().expect("no panic under this lock").1.take();
            drop(waker);
            pool.join().expect("this is no worker");
            let (signal, late) = suspended();
            assert_eq!(block_on(pool.spawn(async { 6 })), 6, "the pool works");
            pool.shutdown_timeout(PATIENCE).expect("suspended futures do not delay the end");
            signal.raise();
            assert_eq!(block_on(late.fallible()), None);
        });
        let bomb = Bomb;
        let refused = remaining.spawn(async move { drop(bomb) });
        assert_eq!(block_on(refused.fallible()), None);
    });
}

/// A future that owns a handle to its own pool, which is dropped with it, by a worker or by the thread that wakes it.
pub(crate) fn a_future_may_own_its_pool(subject: &impl Crew<Pool: FuturesExecutor>) {
    within(|| {
        let life = Life::new();
        let mark = life.mark();
        let pool = subject.builder().threads(2).panic_handler(move |_| drop(mark.clone())).build();
        let pool = pool.expect("two threads");
        let (signal, gate, own) = (Signal::default(), Gate::default(), pool.clone());
        let (awaited, closed) = (signal.clone(), gate.clone());
        pool.spawn(async move {
            awaited.wait().await;
            own.submit(|| ()).await.expect("the pool is open");
            closed.open();
        })
        .detach();
        drop(pool);
        signal.until_awaited();
        signal.raise();
        gate.pass();
        life.until_over();
    });
}
