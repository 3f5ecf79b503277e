//! Work spreads: what a worker cannot get to, an idle sibling runs, and jobs stay on their pool.

use super::{
    subject::{Crew, RunNow, Subject, with_pool},
    tools::{Counter, one_after_the_other, threads_of},
};
use crate::support::{
    gate::Gate,
    watchdog::{PATIENCE, until, within},
};
use executors::{Executor, Pool, ShutdownError, WaitError, try_execute_locally};
use std::{
    sync::{Arc, Barrier, mpsc},
    thread,
    time::Duration,
};

/// As many jobs as there are threads run at the same time.
pub(crate) fn all_threads_work_at_the_same_time(subject: &impl Crew) {
    for &threads in subject.sizes() {
        with_pool(subject, threads, |pool| {
            let mut threads_seen = threads_of(pool, threads);
            threads_seen.sort_by_key(|id| format!("{id:?}"));
            threads_seen.dedup();
            assert_eq!(threads_seen.len(), threads);
        });
    }
}

/// The first jobs come while some workers are at work, some search for the first time and some are not there yet.
pub(crate) fn a_starting_pool_spreads_its_work(subject: &impl Crew) {
    for round in 0..60 {
        let threads = subject.at_most(2 + round % 4);
        with_pool(subject, threads, |pool| assert_eq!(threads_of(pool, threads).len(), threads));
    }
}

/// Round after round in which all threads are needed at the same time. In each, some workers have just finished the
/// last, some search and some sleep; a worker that takes more than one job has to make sure that the others come.
pub(crate) fn all_threads_are_called_again_and_again(subject: &impl Crew) {
    for threads in [2, subject.at_most(5)] {
        with_pool(subject, threads, |pool| {
            for _ in 0..200 {
                let meeting = Arc::new(Barrier::new(threads + 1));
                for _ in 0..threads {
                    let meeting = Arc::clone(&meeting);
                    pool.execute(move || {
                        meeting.wait();
                    });
                }
                meeting.wait();
            }
        });
    }
}

/// A worker spawns a job and then blocks on it, again and again: an idle sibling has to notice each of them.
pub(crate) fn a_sibling_runs_the_job_of_a_blocked_worker(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        for round in 0..300 {
            let (local, (tell, told)) = (pool.clone(), mpsc::channel());
            let parent = pool.submit(move || {
                let child = move || tell.send(round).expect("the parent listens");
                match round % 4 {
                    0 => local.execute(child),
                    1 => assert_eq!(local.execute_batch([child]), 1),
                    2 => local.submit(child).detach(),
                    _ => assert!(try_execute_locally(child).is_ok(), "this is a job"),
                }
                told.recv().expect("the child runs although its parent blocks")
            });
            assert_eq!(parent.wait().expect("no panic"), round);
        }
    });
}

/// The same for a batch whose iterator blocks on the jobs that it has already yielded.
pub(crate) fn a_sibling_runs_the_batch_of_a_blocked_worker(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        let local = pool.clone();
        let parent = pool.submit(move || local.execute_batch(one_after_the_other(20)));
        assert_eq!(parent.wait().expect("no panic"), 20);
    });
}

/// The same while the sibling is not idle when the job is spawned, but becomes so.
pub(crate) fn a_sibling_that_becomes_idle_runs_the_job(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        for round in 0..200 {
            let (local, (tell, told), meeting) = (pool.clone(), mpsc::channel(), Arc::new(Barrier::new(2)));
            let busy = Arc::clone(&meeting);
            let parent = pool.submit(move || {
                meeting.wait();
                local.execute(move || tell.send(round).expect("the parent listens"));
                told.recv().expect("the child runs although its parent blocks")
            });
            let sibling = pool.submit(move || {
                busy.wait();
                for _ in 0..round {
                    std::hint::spin_loop();
                }
            });
            assert_eq!(parent.wait().expect("no panic"), round);
            sibling.wait().expect("no panic");
        }
    });
}

/// A job of a burst blocks, with others behind it at its worker; the sibling always has a job of its own to go on with.
pub(crate) fn no_job_is_stranded_by_a_blocked_one(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        let enough = Counter::default();
        go_on_until(pool, enough.clone());
        for _ in 0..2 {
            let (gate, ran) = (Gate::default(), Counter::default());
            let closed = gate.clone();
            pool.execute(move || closed.pass());
            for _ in 0..40 {
                let ran = ran.clone();
                pool.execute(move || ran.add());
            }
            until("the others run", || ran.get() == 40);
            gate.open();
        }
        enough.add();
    });
}

/// A chain: each of its jobs submits the next.
fn go_on_until<P: Pool + 'static>(pool: &P, enough: Counter) {
    if enough.get() == 0 {
        let next = pool.clone();
        pool.execute(move || go_on_until(&next, enough));
    }
}

/// A tower of blocked workers, each waiting for the next: the pool's last thread releases them all.
pub(crate) fn all_but_one_worker_may_block(subject: &impl Crew) {
    fn stack<P: Pool + 'static>(pool: &P, levels: usize) -> usize {
        if levels == 0 {
            return 0;
        }
        let (local, (tell, told)) = (pool.clone(), mpsc::channel());
        pool.execute(move || tell.send(stack(&local, levels - 1)).expect("the parent listens"));
        1 + told.recv().expect("the child runs")
    }

    for &threads in subject.sizes() {
        with_pool(subject, threads, |pool| {
            for _ in 0..5 {
                let local = pool.clone();
                let top = pool.submit(move || stack(&local, threads - 1));
                assert_eq!(top.wait().expect("no panic"), threads - 1);
            }
        });
    }
}

/// A burst of jobs that need each other: every one of them must be started before any can end.
pub(crate) fn a_batch_reaches_all_threads(subject: &impl Crew) {
    let threads = subject.at_most(8);
    with_pool(subject, threads, |pool| {
        for from_inside in [false, true] {
            for _ in 0..20 {
                let (meeting, met) = (Arc::new(Barrier::new(threads)), Counter::default());
                let count = met.clone();
                let job = move |_| {
                    let (meeting, met) = (Arc::clone(&meeting), count.clone());
                    move || {
                        meeting.wait();
                        met.add();
                    }
                };
                let accepted = if from_inside {
                    let (local, job) = (pool.clone(), job.clone());
                    pool.submit(move || local.execute_batch((0..threads).map(job))).wait().expect("no panic")
                } else {
                    pool.execute_batch((0..threads).map(job))
                };
                pool.join().expect("this is no worker");
                assert_eq!((accepted, met.get()), (threads, threads));
            }
        }
    });
}

/// A worker that always has jobs of its own runs those from outside, too.
pub(crate) fn jobs_from_outside_are_not_starved(subject: &impl Crew) {
    with_pool(subject, 1, |pool| {
        let enough = Counter::default();
        go_on_until(pool, enough.clone());
        for number in 0..20 {
            assert_eq!(pool.submit(move || number).wait().expect("no panic"), number);
        }
        enough.add();
    });
}

/// Whichever thread submits it: one that belongs to no pool, a worker of the same pool or one of another.
pub(crate) fn a_job_runs_on_the_pool_it_was_given_to(subject: &impl Crew) {
    with_pool(subject, 2, |first| {
        with_pool(subject, 2, |second| {
            let (of_first, of_second) = (threads_of(first, 2), threads_of(second, 2));
            assert!(of_first.iter().all(|thread| !of_second.contains(thread)));
            for _ in 0..20 {
                let (there, back) = (second.clone(), first.clone());
                let (tell, told) = mpsc::channel();
                first.execute(move || {
                    there.execute(move || {
                        let reply = tell.clone();
                        back.execute(move || reply.send(("first", thread::current().id())).expect("the test listens"));
                        let local = tell.clone();
                        let given = try_execute_locally(move || {
                            local.send(("second", thread::current().id())).expect("the test listens");
                        });
                        assert!(given.is_ok(), "this is a job");
                        tell.send(("second", thread::current().id())).expect("the test listens");
                    });
                });
                let places: Vec<_> = told.iter().collect();
                assert_eq!(places.len(), 3);
                for (pool, thread) in places {
                    let expected = if pool == "first" { &of_first } else { &of_second };
                    assert!(expected.contains(&thread), "a job for the {pool} pool ran elsewhere");
                }
            }
        });
    });
}

/// A job builds a pool, uses it and ends it, several levels deep.
pub(crate) fn pools_may_be_nested(subject: &impl Crew) {
    fn nest<S: Crew>(subject: &S, depth: usize) -> usize {
        let pool = subject.pool(2);
        let result = thread::scope(|scope| {
            let deeper = scope.spawn(|| if depth == 0 { 0 } else { nest(subject, depth - 1) });
            let inner = deeper.join().expect("no panic");
            pool.submit(move || inner + 1).wait().expect("no panic")
        });
        pool.shutdown().expect("nothing blocks");
        result
    }

    within(|| assert_eq!(nest(subject, 3), 4));
}

/// A pool that lives within one job of another pool of its kind.
pub(crate) fn a_job_may_own_a_pool(subject: &impl Crew) {
    with_pool(subject, 2, |outer| {
        for _ in 0..10 {
            let (inner, back) = (subject.pool(2), outer.clone());
            let job = outer.submit(move || {
                let own = thread::current().id();
                let place = inner.submit(|| thread::current().id()).wait().expect("no panic");
                assert_ne!(place, own, "the inner pool has threads of its own");
                let roundabout = inner.submit(move || back.submit(|| 1).wait().expect("no panic"));
                assert_eq!(roundabout.wait().expect("no panic"), 1);
                inner.shutdown()
            });
            assert_eq!(job.wait().expect("no panic"), Ok(()));
        }
    });
}

/// Inside a job that runs in place, inside a pool's job, the thread belongs to the inner executor, and afterwards again
/// to the pool.
pub(crate) fn executors_nest_on_one_thread(subject: &impl Crew) {
    with_pool(subject, 1, |pool| {
        let (tell, told) = mpsc::channel();
        pool.execute(move || {
            let here = RunNow.pool(0);
            let (inner, outer) = (tell.clone(), tell.clone());
            here.execute(move || {
                let local = inner.clone();
                assert!(try_execute_locally(move || local.send("in place").expect("the test listens")).is_ok());
            });
            assert!(try_execute_locally(move || outer.send("later").expect("the test listens")).is_ok());
            tell.send("between").expect("the test listens");
        });
        assert_eq!(told.iter().collect::<Vec<_>>(), ["in place", "between", "later"]);
    });
}

/// A job may use an executor that runs in place, as a library would that takes any executor. What it does there, it
/// still does as a worker of its pool: it is refused where it would wait for itself, helps where it waits, and may
/// spawn.
pub(crate) fn other_executors_in_between_change_nothing(subject: &impl Crew) {
    with_pool(subject, 1, |pool| {
        let (tell, told) = mpsc::channel();
        let (local, ran) = (pool.clone(), Counter::default());
        let count = ran.clone();
        pool.execute(move || {
            local.shutdown_async();
            RunNow.pool(0).execute(move || {
                let refused = (local.join_timeout(Duration::ZERO), local.shutdown_timeout(Duration::ZERO));
                let spawned = local.try_execute(move || count.add()).is_ok();
                let helped = local.submit(|| 3).wait_timeout(Duration::ZERO);
                tell.send((refused, spawned, helped.ok().and_then(Result::ok))).expect("the test listens");
            });
        });
        let (refused, spawned, helped) = told.recv().expect("the job tells");
        assert_eq!(refused, (Err(WaitError::FromWorker), Err(ShutdownError::FromWorker)));
        assert!(spawned, "a draining pool takes the jobs of its own jobs");
        assert_eq!(helped, Some(3), "a waiting worker runs the job itself");
        pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
        assert_eq!(ran.get(), 1);
    });
}
