//! Futures that are submitted like closures.

use super::{
    subject::{Subject, with, with_pool},
    tools::{Bomb, Counter, Witness, occupy, panic_quietly},
};
use crate::support::{suspend::yield_once, watchdog::PATIENCE};
use ::futures::{FutureExt, TryFutureExt, channel::oneshot, executor::block_on, future::join_all};
use executors::{Executor, Failure, FuturesExecutor, Pool, TaskError, TaskHandle, group::Group};
use std::{
    future::poll_fn,
    sync::{Arc, Mutex, mpsc},
    task::{Context, Poll, Wake, Waker},
    thread,
};

/// A value, an error, a panic: each arrives as what it is.
pub(crate) fn each_outcome_of_a_future_has_its_type(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 2, |pool| {
        let submit = |number: u8| {
            Failure::flatten(
                pool.submit_future(async move {
                    yield_once().await;
                    match number {
                        0 => panic_quietly("thrown"),
                        1 => Err("returned"),
                        _ => Ok(number),
                    }
                })
                .wait(),
            )
        };
        assert_eq!(submit(2).expect("no failure"), 2);
        assert!(matches!(submit(1), Err(Failure::Returned("returned"))));
        match submit(0) {
            Err(Failure::Lost(TaskError::Panicked(panic))) => assert_eq!(panic.message(), "thrown"),
            other => panic!("the future panicked, but: {other:?}"),
        }
        pool.join().expect("this is no worker");
        assert_eq!(pool.stats().panicked, 1);
    });
}

/// Many futures wait, and the only worker runs what they wait for.
pub(crate) fn a_waiting_future_holds_no_thread(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 1, |pool| {
        let (tell, told): (Vec<_>, Vec<_>) = (0..100).map(|_| oneshot::channel::<u32>()).unzip();
        let group: Group<_> = told
            .into_iter()
            .map(|told| pool.submit_future(async { told.await.expect("a number comes") + 1 }))
            .collect();
        pool.execute(move || {
            for (number, tell) in (0..).zip(tell) {
                tell.send(number).expect("a future waits");
            }
        });
        let numbers: Result<Vec<_>, _> = group.wait().into_iter().collect();
        assert_eq!(numbers.expect("no failure"), Vec::from_iter(1..=100));
    });
}

/// The combinators of the crate `futures` link the handles of closures and of futures.
pub(crate) fn jobs_can_be_chained(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 2, |pool| {
        let other = pool.clone();
        let chain = pool
            .submit(|| "6".parse::<u32>())
            .map(Failure::flatten)
            .map_ok(|number| number * 7)
            .and_then(move |number| other.submit(move || Ok(number)).map(Failure::flatten))
            .or_else(|failure| async move { Err(failure.to_string()) });
        assert_eq!(pool.submit_future(chain).wait().expect("no panic").expect("a number"), 42);
        let sum = join_all((0..10).map(|number| pool.submit_future(async move { number })))
            .map(|numbers| numbers.into_iter().sum::<Result<u32, _>>());
        assert_eq!(block_on(sum).expect("no panic"), 45);
    });
}

pub(crate) fn a_queued_future_can_be_cancelled(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 2, |pool| {
        let gate = occupy(pool, 2);
        let (ran, dropped) = (Counter::default(), Counter::default());
        let handle = pool.submit_future({
            let (ran, witness) = (ran.clone(), Witness(dropped.clone()));
            async move {
                let _captured = witness;
                ran.add();
            }
        });
        assert!(handle.cancel());
        assert_eq!(dropped.get(), 1);
        assert!(!handle.cancel());
        assert!(matches!(handle.wait(), Err(TaskError::Cancelled)));
        gate.open();
        pool.join().expect("this is no worker");
        assert_eq!((ran.get(), dropped.get()), (0, 1));
    });
}

/// Once begun, a future goes on, also if it is suspended and its handle is gone.
pub(crate) fn a_suspended_future_cannot_be_cancelled(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 2, |pool| {
        let (begun, has_begun) = mpsc::channel();
        let (tell, told) = oneshot::channel::<u32>();
        let (reply, replied) = mpsc::channel();
        let handle = pool.submit_future(async move {
            begun.send(()).expect("the test waits");
            reply.send(told.await.expect("a number comes")).expect("the test waits");
        });
        has_begun.recv().expect("the future begins");
        assert!(!handle.cancel());
        assert!(!handle.is_finished());
        handle.detach();
        tell.send(7).expect("the future waits");
        assert_eq!(replied.recv_timeout(PATIENCE), Ok(7));
    });
}

/// Cancelled or run, but never both and never neither.
pub(crate) fn cancelling_races_with_the_first_step(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 2, |pool| {
        let runs = Counter::default();
        let mut cancelled = 0;
        for round in 0..500 {
            let count = runs.clone();
            let handle = pool.submit_future(async move { count.add() });
            // In some rounds, the step has begun by then.
            (0..round % 50 * 20).for_each(|_| std::hint::spin_loop());
            let has_cancelled = handle.cancel();
            match handle.wait() {
                Ok(()) => assert!(!has_cancelled),
                Err(TaskError::Cancelled) => assert!(has_cancelled),
                other => panic!("round {round}: {other:?}"),
            }
            cancelled += usize::from(has_cancelled);
        }
        pool.join().expect("this is no worker");
        assert_eq!(runs.get() + cancelled, 500);
    });
}

/// A worker that waits for a future that has not begun runs it, however often it is suspended.
pub(crate) fn a_waiting_worker_runs_the_future(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 1, |pool| {
        let inner = pool.clone();
        let outer = pool.submit(move || {
            let here = thread::current().id();
            let handle = inner.submit_future(async move {
                yield_once().await;
                (thread::current().id(), yield_once().await)
            });
            handle.wait().is_ok_and(|(there, ())| here == there)
        });
        assert!(outer.wait().expect("no panic"));
    });
}

/// Like huge closures: no worker has it on its stack.
pub(crate) fn huge_futures_run(subject: &impl Subject<Pool: FuturesExecutor>) {
    const SUBMITTER_STACK: usize = 64 << 20;

    fn give(pool: &(impl Pool + FuturesExecutor)) {
        let load = [7_u8; 1 << 20];
        let sum = pool.submit_future(async move {
            yield_once().await;
            load.iter().map(|byte| usize::from(*byte)).sum::<usize>()
        });
        assert_eq!(sum.wait().expect("no panic"), 7 * load.len());
    }

    with_pool(subject, 1, |pool| {
        thread::scope(|scope| {
            let submitter = thread::Builder::new().stack_size(SUBMITTER_STACK);
            submitter.spawn_scoped(scope, || give(pool)).expect("there is room for a thread");
        });
    });
}

/// As when the pool polls it: a panic while the future is dropped does not affect its result, whichever that is.
pub(crate) fn a_waiting_worker_survives_a_future_that_panics_when_dropped(
    subject: &impl Subject<Pool: FuturesExecutor>,
) {
    with_pool(subject, 1, |pool| {
        let inner = pool.clone();
        let outer = pool.submit(move || {
            let submit = |result: Option<u8>| {
                let bomb = Bomb;
                inner.submit_future(poll_fn(move |_| {
                    let _captured = &bomb;
                    Poll::Ready(result.unwrap_or_else(|| panic_quietly("thrown")))
                }))
            };
            (submit(Some(5)).wait(), submit(None).wait())
        });
        let (value, thrown) = outer.wait().expect("the waiter does not panic");
        assert_eq!(value.expect("it was there before the drop"), 5);
        assert!(matches!(thrown, Err(TaskError::Panicked(panic)) if panic.message() == "thrown"));
        pool.join().expect("this is no worker");
        assert_eq!(pool.stats().panicked, 1);
    });
}

/// In its first step, when it has begun: it gets an error instead of waiting for ever.
pub(crate) fn a_future_cannot_wait_for_itself(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 1, |pool| {
        let (give, given) = mpsc::channel::<TaskHandle<()>>();
        let (tell, told) = mpsc::channel();
        let handle = pool.submit_future(async move {
            let own = given.recv().expect("the test sends it");
            tell.send(own.wait()).expect("the test listens");
        });
        give.send(handle).expect("the future waits for it");
        let outcome = told.recv().expect("the future is told");
        assert!(matches!(outcome, Err(TaskError::WouldDeadlock)), "{outcome:?}");
    });
}

/// A waker that panics when it is called, or when it is dropped then, affects neither the future nor the pool.
pub(crate) fn wakers_that_panic_are_survived(subject: &impl Subject<Pool: FuturesExecutor>) {
    struct Panicking {
        woken: Counter,
        when_woken: bool,
        _bomb: Bomb,
    }

    impl Wake for Panicking {
        fn wake(self: Arc<Self>) {
            self.woken.add();
            if self.when_woken {
                panic_quietly("woken");
            }
        }
    }

    with_pool(subject, 1, |pool| {
        for when_woken in [false, true] {
            let (gate, woken) = (occupy(pool, 1), Counter::default());
            let mut handle = pool.submit_future(async { 5 });
            let waker = Waker::from(Arc::new(Panicking { woken: woken.clone(), when_woken, _bomb: Bomb }));
            assert!(handle.poll_unpin(&mut Context::from_waker(&waker)).is_pending());
            drop(waker); // the handle has another
            gate.open();
            pool.join().expect("this is no worker");
            assert_eq!(woken.get(), 1);
            assert_eq!(handle.wait().expect("it has ended before"), 5);
            assert_eq!(pool.stats().panicked, 0, "no job has panicked");
            assert_eq!(pool.submit(|| 6).wait().expect("the pool lives"), 6);
        }
    });
}

/// A future that can no longer be woken is dropped, and so is one whose pool has ended; their handles say so.
pub(crate) fn handles_of_dropped_futures_report_it(subject: &impl Subject<Pool: FuturesExecutor>) {
    let pool = subject.pool(2);
    let remaining = pool.clone();
    with(pool, |pool| {
        let dropped = Counter::default();
        let suspended = |wakers: mpsc::Sender<Waker>| {
            let witness = Witness(dropped.clone());
            pool.submit_future(poll_fn(move |context| {
                let _captured = &witness;
                wakers.send(context.waker().clone()).expect("the test waits");
                Poll::<()>::Pending
            }))
        };
        let (wakers, given) = mpsc::channel();
        let forgotten = suspended(wakers.clone());
        let waker = given.recv().expect("the future begins");
        // While its first step runs, it is not yet forgotten.
        pool.join().expect("this is no worker");
        drop(waker);
        assert!(matches!(forgotten.wait(), Err(TaskError::Dropped)));
        assert_eq!(dropped.get(), 1);

        let late = suspended(wakers);
        let waker = given.recv().expect("the future begins");
        pool.shutdown_timeout(PATIENCE).expect("suspended futures do not delay the end");
        assert!(!late.is_finished());
        waker.wake();
        assert!(matches!(late.wait(), Err(TaskError::Dropped)));
        assert_eq!(dropped.get(), 2);
    });
    assert!(matches!(remaining.submit_future(async { 1 }).wait(), Err(TaskError::Dropped)));
}

/// Neither a future nor a result that panics when it is dropped harms the pool.
pub(crate) fn futures_that_panic_when_dropped_are_survived(subject: &impl Subject<Pool: FuturesExecutor>) {
    with_pool(subject, 2, |pool| {
        let gate = occupy(pool, 2);
        // The result is dropped by the pool because the handle is gone.
        pool.submit_future(async { Bomb }).detach();
        let ready = |result| {
            let bomb = Bomb;
            poll_fn(move |_| {
                let _captured = &bomb;
                result
            })
        };
        let value = pool.submit_future(ready(Poll::Ready(5)));
        let waker = Arc::new(Mutex::new(None));
        let (bomb, keeping) = (Bomb, Arc::clone(&waker));
        let forgotten = pool.submit_future(poll_fn(move |context| {
            let _captured = &bomb;
            *keeping.lock().expect("no panic under this lock") = Some(context.waker().clone());
            Poll::<()>::Pending
        }));
        let cancelled = pool.submit_future(ready(Poll::Pending));
        assert!(cancelled.cancel());
        gate.open();
        assert_eq!(value.wait().expect("it was there before the drop"), 5);
        pool.join().expect("this is no worker");
        assert!(waker.lock().expect("no panic under this lock").take().is_some());
        assert!(matches!(forgotten.wait(), Err(TaskError::Dropped)));
        assert_eq!(pool.submit(|| 6).wait().expect("the pool lives"), 6);
    });
}
