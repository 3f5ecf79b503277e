//! Pools that are shut down: what was accepted runs, what was not is given back, and no thread hangs.

use super::{
    subject::{Crew, Subject, with_pool},
    tools::{Bomb, Counter, Tally, Witness, names_of, occupy, until_closed},
};
use crate::support::{
    gate::Gate,
    log_book,
    on_drop::OnDrop,
    threads::Call,
    watchdog::{PATIENCE, until},
};
use executors::{CanExecute, Executor, Pool, Rejected, ShutdownError, WaitError, try_execute_locally};
use std::{
    cell::Cell,
    sync::{Arc, Barrier, Mutex, mpsc},
    thread,
    time::Duration,
};

/// A backlog behind blocked workers runs although the pool is closed before it begins.
pub(crate) fn shutdown_runs_the_backlog(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        let tally = Tally::new(200);
        let gate = occupy(pool, 2);
        for job in 0..200 {
            let tally = tally.clone();
            pool.execute(move || tally.add(job));
        }
        thread::scope(|scope| {
            scope.spawn(|| {
                until_closed(pool);
                gate.open();
            });
            assert_eq!(pool.clone().shutdown(), Ok(()));
        });
        tally.assert_once_each();
    });
}

pub(crate) fn shutdown_runs_the_backlog_with_any_number_of_threads(subject: &impl Crew) {
    for &threads in subject.sizes() {
        with_pool(subject, threads, |pool| {
            let tally = Tally::new(3 * threads);
            for job in 0..3 * threads {
                let tally = tally.clone();
                pool.execute(move || tally.add(job));
            }
            let report = pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
            tally.assert_once_each();
            assert_eq!((report.finished, report.discarded), (3 * threads as u64, 0));
        });
    }
}

/// A chain of jobs, each spawned by the one before, that begins when the pool is closed already.
pub(crate) fn draining_jobs_may_spawn(subject: &impl Crew) {
    fn link<P: Pool + 'static>(pool: P, tally: Tally, job: usize) {
        tally.add(job);
        let next = job + 2;
        if next < 200 {
            let again = pool.clone();
            let job = move || link(again, tally, next);
            match next % 3 {
                0 => pool.execute(job),
                1 => assert!(pool.try_execute(job).is_ok(), "a draining pool takes the jobs of its own jobs"),
                _ => assert!(try_execute_locally(job).is_ok(), "this is a job"),
            }
        }
    }

    with_pool(subject, 2, |pool| {
        let tally = Tally::new(200);
        let gate = occupy(pool, 2);
        for first in [0, 1] {
            let (local, tally) = (pool.clone(), tally.clone());
            pool.execute(move || link(local, tally, first));
        }
        thread::scope(|scope| {
            scope.spawn(|| {
                until_closed(pool);
                gate.open();
            });
            pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
        });
        tally.assert_once_each();
    });
}

/// A job that is still running when everything else is done may still spawn, by `submit` and in batches, too.
pub(crate) fn the_last_running_job_may_spawn(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        let (tally, gate, local) = (Tally::new(11), Gate::default(), pool.clone());
        let (inner, closed, (tell, told)) = (tally.clone(), gate.clone(), mpsc::channel());
        pool.execute(move || {
            closed.pass();
            let job = |number| {
                let tally = inner.clone();
                move || tally.add(number)
            };
            assert_eq!(local.execute_batch((0..10).map(job)), 10);
            let answer = local.submit(job(10)).wait();
            tell.send(answer.is_ok()).expect("the test listens");
        });
        pool.shutdown_async();
        gate.open();
        assert_eq!(told.recv(), Ok(true));
        pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
        tally.assert_once_each();
    });
}

/// Idle workers of a closed pool stay while a job runs: it may spawn another and block on it.
pub(crate) fn a_draining_job_may_block_on_its_child(subject: &impl Crew) {
    for _ in 0..20 {
        with_pool(subject, 2, |pool| {
            let (gate, local) = (Gate::default(), pool.clone());
            let closed = gate.clone();
            let parent = pool.submit(move || {
                closed.pass();
                let (tell, told) = mpsc::channel();
                local.execute(move || tell.send(5).expect("the parent listens"));
                told.recv()
            });
            pool.shutdown_async();
            gate.open();
            assert_eq!(parent.wait().expect("no panic"), Ok(5));
        });
    }
}

/// Threads that submit until they are refused: what was accepted has run, what was refused has not.
pub(crate) fn submitters_race_with_close(subject: &impl Crew) {
    for round in 0..20 {
        with_pool(subject, 2, |pool| {
            let start = Arc::new(Barrier::new(4));
            let accepted = thread::scope(|scope| {
                let submit = || {
                    let (ran, returned) = (Counter::default(), Counter::default());
                    start.wait();
                    for count in 0.. {
                        let (run, witness) = (ran.clone(), Witness(returned.clone()));
                        let job = move || {
                            std::mem::forget(witness);
                            run.add();
                        };
                        if let Err(rejected) = pool.try_execute(job) {
                            assert_eq!(returned.get(), 0, "no job is lost, the rejected one is still whole");
                            drop(rejected.into_job());
                            return (ran, returned, count);
                        }
                    }
                    unreachable!("the pool is closed in the end");
                };
                let submitters: Vec<_> = (0..3).map(|_| scope.spawn(submit)).collect();
                start.wait();
                for _ in 0..round * 50 {
                    std::hint::spin_loop();
                }
                pool.shutdown_async();
                submitters
                    .into_iter()
                    .map(|submitter| submitter.join().expect("submitters do not panic"))
                    .collect::<Vec<_>>()
            });
            let report = pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
            let total: usize = accepted.iter().map(|(_, _, count)| count).sum();
            for (ran, returned, count) in accepted {
                assert_eq!((ran.get(), returned.get()), (count, 1));
            }
            assert_eq!((report.finished, report.discarded), (total as u64, 0));
        });
    }
}

/// The same where each job submits another to its own executor: what a late job submits runs, too.
pub(crate) fn parents_race_with_close(subject: &impl Crew) {
    for round in 0..20 {
        with_pool(subject, 2, |pool| {
            let (ran, start) = (Counter::default(), Barrier::new(3));
            let accepted: usize = thread::scope(|scope| {
                let submit = || {
                    start.wait();
                    let accepts = |_: &usize| {
                        let ran = ran.clone();
                        let parent = move || {
                            let child = ran.clone();
                            assert!(try_execute_locally(move || child.add()).is_ok(), "it is a job of the pool");
                            ran.add();
                        };
                        pool.try_execute(parent).is_ok()
                    };
                    (0..).take_while(accepts).count()
                };
                let submitters: Vec<_> = (0..2).map(|_| scope.spawn(submit)).collect();
                start.wait();
                for _ in 0..round * 50 {
                    std::hint::spin_loop();
                }
                pool.shutdown_async();
                submitters.into_iter().map(|submitter| submitter.join().expect("submitters do not panic")).sum()
            });
            let report = pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
            assert_eq!((ran.get(), report.finished, report.discarded), (2 * accepted, 2 * accepted as u64, 0));
        });
    }
}

/// The same with `execute`, which does not report refusals: each job is run or dropped, never both, never neither.
pub(crate) fn silent_submitters_race_with_close(subject: &impl Crew) {
    for round in 0..20 {
        with_pool(subject, 2, |pool| {
            const JOBS: usize = 300;
            let (ran, dropped, start) = (Counter::default(), Counter::default(), Barrier::new(3));
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        start.wait();
                        for _ in 0..JOBS {
                            let (run, witness) = (ran.clone(), Witness(dropped.clone()));
                            pool.execute(move || {
                                std::mem::forget(witness);
                                run.add();
                            });
                        }
                    });
                }
                start.wait();
                for _ in 0..round * 50 {
                    std::hint::spin_loop();
                }
                pool.shutdown_async();
            });
            let report = pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
            assert_eq!(ran.get() + dropped.get(), 2 * JOBS);
            assert_eq!(report.finished, ran.get() as u64);
        });
    }
}

pub(crate) fn a_rejected_job_comes_back(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        pool.shutdown_async();
        let ran = Counter::default();
        let count = ran.clone();
        let rejected = pool.try_execute(move || count.add()).expect_err("the pool is closed");
        assert!(matches!(rejected, Rejected::Closed(_)), "{rejected}");
        assert_eq!(rejected.to_string(), "the pool is closed and takes no more jobs");
        pool.shutdown_timeout(PATIENCE).expect("nothing runs");
        assert_eq!(ran.get(), 0);
        (rejected.into_job())();
        assert_eq!(ran.get(), 1, "the caller can run it");
    });
}

/// A closed pool drops jobs at once, with one warning for each call.
pub(crate) fn ignored_jobs_are_dropped_with_a_warning(subject: &impl Subject) {
    log_book::open();
    with_pool(subject, 2, |pool| {
        let dropped = Counter::default();
        let job = || {
            let witness = Witness(dropped.clone());
            move || drop(witness)
        };
        let logged_by = |call: &dyn Fn()| {
            let before = log_book::of_this_thread().len();
            call();
            log_book::of_this_thread().split_off(before)
        };
        assert!(logged_by(&|| pool.execute(job())).is_empty());
        pool.join().expect("this is no worker");
        pool.shutdown_async();
        let calls: [&dyn Fn(); 3] = [&|| pool.execute(job()), &|| pool.execute_job(Box::new(job())), &|| {
            assert_eq!(pool.execute_batch([job(), job()]), 0);
        }];
        for (call, expected) in calls.into_iter().zip([2, 3, 5]) {
            let entries = logged_by(call);
            assert_eq!(dropped.get(), expected, "the job is dropped before the call returns");
            assert_eq!(entries.iter().map(|(level, _)| *level).collect::<Vec<_>>(), [log::Level::Warn], "{entries:?}");
        }
        assert_eq!(pool.stats().finished, 1);
    });
}

/// The caller does not see this panic, just as with a single job that is refused.
pub(crate) fn captures_of_a_refused_batch_may_panic(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        pool.shutdown_async();
        let job = || {
            let bomb = Bomb;
            move || drop(bomb)
        };
        assert_eq!(pool.execute_batch([job(), job()]), 0);
    });
}

/// The messages that programs written for 0.10 know.
pub(crate) fn a_second_shutdown_is_an_error<S: Subject>(subject: &S) {
    with_pool(subject, 2, |pool| {
        assert_eq!(pool.shutdown_borrowed(), Ok(()));
        assert_eq!(pool.shutdown_borrowed(), Err(S::SHUT_DOWN_AGAIN.to_owned()));
        pool.shutdown_timeout(Duration::ZERO).expect("the typed variants may be called again and again");
        pool.shutdown_async();
        let (first, second) = (pool.shutdown_now(), pool.shutdown_now());
        assert_eq!(first, second, "nothing happens any more");
    });
}

/// Waiting for one's own end is refused in each of its forms, but closes the pool all the same.
pub(crate) fn shutdown_from_a_worker_is_refused(subject: &impl Crew) {
    for attempt in 0..3 {
        with_pool(subject, 2, |pool| {
            let (tell, told) = mpsc::channel();
            let tally = Tally::new(20);
            let (local, inner) = (pool.clone(), tally.clone());
            pool.execute(move || {
                for job in 0..20 {
                    let tally = inner.clone();
                    local.execute(move || tally.add(job));
                }
                let refusal = match attempt {
                    0 => local.shutdown_borrowed().expect_err("a worker cannot wait for itself"),
                    1 => local.shutdown().expect_err("a worker cannot wait for itself"),
                    _ => {
                        let error = local.shutdown_timeout(PATIENCE).expect_err("a worker cannot wait for itself");
                        assert_eq!(error, ShutdownError::FromWorker);
                        error.to_string()
                    }
                };
                tell.send(refusal).expect("the test listens");
            });
            let refusal = told.recv().expect("the job says how it went");
            assert!(refusal.contains("worker"), "the reason is told: {refusal}");
            assert!(pool.try_execute(|| ()).is_err(), "the pool is closed");
            pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
            tally.assert_once_each();
        });
    }
}

pub(crate) fn shutdown_async_from_a_worker(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        let tally = Tally::new(50);
        let (gate, local, inner) = (occupy(pool, 1), pool.clone(), tally.clone());
        pool.execute(move || {
            for job in 0..50 {
                let tally = inner.clone();
                local.execute(move || tally.add(job));
            }
            local.shutdown_async();
        });
        until_closed(pool);
        gate.open();
        pool.join().expect("this is no worker");
        tally.assert_once_each();
    });
}

/// When the time is up, the report tells what is left, the pool goes on, and a second call sees the end.
pub(crate) fn shutdown_timeout_reports_unfinished_jobs(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        pool.submit(|| ()).wait().expect("the job runs");
        let gate = occupy(pool, 2);
        (0..7).for_each(|_| pool.execute(|| ()));
        let timeout = Duration::from_millis(20);
        match pool.shutdown_timeout(timeout) {
            Err(ShutdownError::TimedOut { waited, workers, report, .. }) => {
                assert!(waited >= timeout, "{waited:?}");
                assert_eq!(workers, 2);
                assert_eq!((report.finished, report.running, report.queued, report.discarded), (1, 2, 7, 0));
            }
            other => panic!("two jobs are blocked, but: {other:?}"),
        }
        gate.open();
        let report = pool.shutdown_timeout(PATIENCE).expect("nothing blocks any more");
        assert_eq!((report.finished, report.running, report.queued, report.discarded), (10, 0, 0, 0));
    });
}

pub(crate) fn many_threads_may_wait_for_the_end(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        let gate = occupy(pool, 2);
        let waiting = Barrier::new(9);
        thread::scope(|scope| {
            let wait = || {
                waiting.wait();
                pool.shutdown_timeout(PATIENCE)
            };
            let waiters: Vec<_> = (0..8).map(|_| scope.spawn(wait)).collect();
            waiting.wait();
            until_closed(pool);
            gate.open();
            let reports: Vec<_> =
                waiters.into_iter().map(|waiter| waiter.join().expect("waiters do not panic")).collect();
            assert!(reports.iter().all(|report| *report == reports[0] && report.is_ok()), "{reports:?}");
        });
    });
}

/// Waiting until idle works on a closed pool, and after its end.
pub(crate) fn a_closed_pool_can_be_joined(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        let gate = occupy(pool, 2);
        pool.shutdown_async();
        assert_eq!(pool.join_timeout(Duration::from_millis(1)), Err(WaitError::TimedOut));
        gate.open();
        assert_eq!(pool.join(), Ok(()));
        pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
        assert_eq!(pool.join(), Ok(()));
        assert_eq!(pool.join_timeout(Duration::ZERO), Ok(()));
    });
}

/// A pool may be closed before its workers have started.
pub(crate) fn a_pool_may_end_before_its_workers_have_started(subject: &impl Crew) {
    for &threads in subject.sizes() {
        with_pool(subject, threads, |pool| assert_eq!(pool.shutdown_borrowed(), Ok(())));
    }
}

/// Each way to end a pool waits until the workers have left, or makes them leave.
pub(crate) fn workers_leave(subject: &impl Crew) {
    for end in 0..4 {
        with_pool(subject, 2, |pool| {
            assert_eq!(names_of(pool, 2).len(), 2);
            match end {
                0 => assert_eq!(pool.shutdown_borrowed(), Ok(())),
                1 => drop(pool.shutdown_timeout(PATIENCE).expect("nothing blocks")),
                2 => pool.shutdown_async(),
                _ => drop(pool.shutdown_now()),
            }
            if end < 2 {
                assert_eq!(pool.stats().workers, 0, "shutdown has seen them leave");
            } else {
                until("the workers have left", || pool.stats().workers == 0);
            }
        });
    }
}

/// After its last job, a thread runs the destructors of thread-locals that jobs have set: a shutdown waits for these,
/// even if its time is up.
pub(crate) fn shutdown_waits_for_destructors_of_thread_locals(subject: &impl Crew) {
    struct Left(Gate, Counter);

    impl Drop for Left {
        fn drop(&mut self) {
            self.0.pass();
            self.1.add();
        }
    }

    thread_local!(static LEFT: Cell<Option<Left>> = const { Cell::new(None) });

    fn ends<P: Pool>() -> [fn(&P) -> bool; 3] {
        [
            |pool| pool.clone().shutdown().is_ok(),
            |pool| pool.shutdown_borrowed().is_ok(),
            |pool| pool.shutdown_timeout(Duration::ZERO).is_ok(),
        ]
    }

    for (is_open, end) in [true, true, false].into_iter().zip(ends()) {
        with_pool(subject, 2, |pool| {
            let (gate, dropped) = (Gate::default(), Counter::default());
            let left = Left(gate.clone(), dropped.clone());
            pool.execute(move || LEFT.set(Some(left)));
            let until_signed_off = || until("all workers have signed off", || pool.stats().workers == 0);
            if !is_open {
                pool.shutdown_async();
                until_signed_off();
            }
            thread::scope(|scope| {
                let call = Call::begin(scope, || (end(pool), dropped.get()));
                until_signed_off();
                call.await_sleep();
                gate.open();
                assert_eq!(call.join(), (true, 1));
            });
        });
    }
}

/// Two such destructors shut their pool down, and then wait for each other.
pub(crate) fn destructors_of_thread_locals_may_shut_down(subject: &impl Crew) {
    type Destructor = OnDrop<Box<dyn FnOnce()>>;

    thread_local!(static LEFT: Cell<Option<Destructor>> = const { Cell::new(None) });

    with_pool(subject, 2, |pool| {
        let (both_run, both_wait) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let (tell, told) = mpsc::channel();
        for _ in 0..2 {
            let (own, both_run, both_wait, tell) =
                (pool.clone(), Arc::clone(&both_run), Arc::clone(&both_wait), tell.clone());
            pool.execute(move || {
                both_run.wait();
                let shut_down = move || {
                    // A panic here would end the process.
                    _ = tell.send(own.shutdown_timeout(PATIENCE).is_ok());
                    both_wait.wait();
                };
                LEFT.set(Some(OnDrop::new(Box::new(shut_down))));
            });
        }
        pool.shutdown_async();
        assert_eq!([told.recv(), told.recv()], [Ok(true); 2]);
    });
}

/// The end of one pool, waited for by a job of another.
pub(crate) fn a_job_may_shut_another_pool_down(subject: &impl Crew) {
    with_pool(subject, 1, |outer| {
        let inner = subject.pool(2);
        let tally = Tally::new(30);
        for job in 0..30 {
            let tally = tally.clone();
            inner.execute(move || tally.add(job));
        }
        assert_eq!(outer.submit(move || inner.shutdown()).wait().expect("the job does not panic"), Ok(()));
        tally.assert_once_each();
    });
}

/// Stop hooks have run, and start hooks before them, when a shutdown returns.
pub(crate) fn hooks_have_run_when_shutdown_returns(subject: &impl Crew) {
    let events = Arc::new(Mutex::new(Vec::new()));
    let note = |what: &'static str| {
        let events = Arc::clone(&events);
        move |worker| events.lock().expect("no panic under this lock").push((worker, what))
    };
    let builder = subject.builder().threads(3).on_start(note("start")).on_stop(note("stop"));
    let pool = builder.build().expect("three threads");
    assert_eq!(names_of(&pool, 3).len(), 3);
    pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
    let mut events = events.lock().expect("no panic under this lock").clone();
    events.sort_by_key(|(worker, _)| *worker);
    let expected: Vec<_> = (0..3).flat_map(|worker| [(worker, "start"), (worker, "stop")]).collect();
    assert_eq!(events, expected, "each worker starts, then stops, once");
}

/// At the end of a pool a stop hook is no job: what it submits is refused, or dropped where it could not be told so.
pub(crate) fn jobs_of_stop_hooks_of_a_closed_pool_do_not_run<S: Crew>(subject: &S) {
    let own = Arc::new(Mutex::new(None::<S::Pool>));
    let [ran, refused, taken, dropped] = [(); 4].map(|()| Counter::default());
    let hook = {
        let (own, ran, dropped) = (Arc::clone(&own), ran.clone(), dropped.clone());
        let (refused, taken) = (refused.clone(), taken.clone());
        move |_worker| {
            let job = || {
                let (ran, witness) = (ran.clone(), Witness(dropped.clone()));
                move || {
                    ran.add();
                    drop(witness);
                }
            };
            let pool = own.lock().expect("no panic under this lock").clone().expect("the test has set it");
            if pool.try_execute(job()).is_err() {
                refused.add();
            }
            if try_execute_locally(job()).is_ok() {
                taken.add();
            }
        }
    };
    let pool = subject.builder().threads(3).on_stop(hook).build().expect("three threads");
    *own.lock().expect("no panic under this lock") = Some(pool.clone());
    assert_eq!(names_of(&pool, 3).len(), 3);
    let report = pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
    *own.lock().expect("no panic under this lock") = None; // the pool owns the hook, which owned the pool
    assert_eq!(report.queued, 0, "{report:?}");
    assert_eq!([ran, refused, taken, dropped].map(|counter| counter.get()), [0, 3, 3, 6]);
}

/// The five seconds of 0.10, and its message.
pub(crate) fn shutdown_gives_up_after_five_seconds(subject: &impl Crew) {
    with_pool(subject, 1, |pool| {
        let gate = occupy(pool, 1);
        let start = std::time::Instant::now();
        let error = pool.shutdown_borrowed().expect_err("a job is blocked");
        assert!(start.elapsed() >= Duration::from_secs(5), "{:?}", start.elapsed());
        assert_eq!(error, "Pool failed to shut down in time. 1 threads remaining.");
        gate.open();
    });
}
