//! Waiting until a pool is idle.

use super::{
    subject::{Crew, Subject, with_pool},
    tools::{Counter, Tally, occupy},
};
use crate::support::{
    gate::Gate,
    on_drop::OnDrop,
    watchdog::{PATIENCE, until_waiting},
};
use executors::{Executor, Pool, WaitError};
use std::{
    hint,
    sync::{Barrier, mpsc},
    thread,
    time::{Duration, Instant},
};

/// Again and again, so that the waiter comes before, while and after the last job ends.
pub(crate) fn a_join_waits_for_all_jobs_before_it(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        for jobs in (0..300).map(|round| round % 7) {
            let tally = Tally::new(jobs);
            for job in 0..jobs {
                let tally = tally.clone();
                pool.execute(move || tally.add(job));
            }
            pool.join().expect("this is no worker");
            tally.assert_once_each();
        }
    });
}

/// Jobs that jobs spawn are waited for, too, however long the chain.
pub(crate) fn a_join_waits_for_the_jobs_of_jobs(subject: &impl Subject) {
    fn link<P: Pool + 'static>(pool: P, count: Counter, left: usize) {
        count.add();
        if left > 1 {
            let local = pool.clone();
            pool.execute(move || link(local, count, left - 1));
        }
    }

    with_pool(subject, 2, |pool| {
        for length in [1, 2, 3, 10, 100] {
            let (count, local) = (Counter::default(), pool.clone());
            let inner = count.clone();
            pool.execute(move || link(local, inner, length));
            pool.join().expect("this is no worker");
            assert_eq!(count.get(), length);
        }
    });
}

/// A long chain has moments in which nothing is queued and moments in which nothing runs, but none in which the pool is
/// idle. A thread that asks all the time must never be told that it is.
pub(crate) fn a_chain_of_jobs_is_never_idle(subject: &impl Crew) {
    fn link<P: Pool + 'static>(pool: P, done: Counter, left: usize) {
        if left == 0 {
            return done.add();
        }
        let local = pool.clone();
        pool.execute(move || link(local, done, left - 1));
    }

    with_pool(subject, 2, |pool| {
        let (done, local) = (Counter::default(), pool.clone());
        let (inner, mut asked) = (done.clone(), 0);
        pool.execute(move || link(local, inner, 20_000));
        while pool.join_timeout(Duration::ZERO).is_err() {
            asked += 1;
        }
        assert_eq!(
            done.get(),
            1,
            "the chain is not over, but the pool was called idle when asked for the {asked}th time"
        );
    });
}

pub(crate) fn an_idle_pool_does_not_block(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        assert_eq!(pool.join(), Ok(()));
        assert_eq!(pool.join_timeout(PATIENCE), Ok(()));
        assert_eq!(pool.join_timeout(Duration::MAX), Ok(()));
        pool.execute(|| ());
        assert_eq!(pool.join(), Ok(()));
        assert_eq!(pool.join_timeout(Duration::from_secs(1)), Ok(()));
    });
}

/// Any number of waiters, and all of them are released, in several generations.
pub(crate) fn many_waiters_are_released(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        for _ in 0..10 {
            let (gate, arrived) = (occupy(pool, 2), Barrier::new(17));
            thread::scope(|scope| {
                for waiter in 0..16 {
                    let (arrived, pool) = (&arrived, pool);
                    scope.spawn(move || {
                        arrived.wait();
                        if waiter % 2 == 0 {
                            assert_eq!(pool.join(), Ok(()));
                        } else {
                            assert_eq!(pool.join_timeout(PATIENCE), Ok(()));
                        }
                    });
                }
                arrived.wait();
                gate.open();
            });
        }
    });
}

/// A thread that waits when the pool becomes idle is released, even if it gets to look only when there is a new job.
pub(crate) fn a_waiter_is_released_though_a_new_job_comes(subject: &impl Crew) {
    const WAITERS: usize = 6;
    with_pool(subject, 1, |pool| {
        for _ in 0..10 {
            let first = occupy(pool, 1);
            thread::scope(|scope| {
                let wait = |waiter| match waiter % 2 {
                    0 => pool.join(),
                    _ => pool.join_timeout(PATIENCE),
                };
                let waiters: Vec<_> = (0..WAITERS).map(|waiter| scope.spawn(move || wait(waiter))).collect();
                until_waiting(pool, WAITERS);
                first.open();
                // Without a pause: the job has to come before the waiters look.
                while pool.stats().busy > 0 {
                    hint::spin_loop();
                }
                let second = occupy(pool, 1);
                waiters.into_iter().for_each(|waiter| assert_eq!(waiter.join().unwrap(), Ok(())));
                second.open();
            });
            pool.join().expect("this is no worker");
        }
    });
}

/// Waiters are not released while a job runs, although nothing is queued.
pub(crate) fn a_running_job_is_waited_for(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        let gate = occupy(pool, 1);
        let (start, timeout) = (Instant::now(), Duration::from_millis(20));
        assert_eq!(pool.join_timeout(timeout), Err(WaitError::TimedOut));
        assert!(start.elapsed() >= timeout);
        assert_eq!(pool.join_timeout(Duration::ZERO), Err(WaitError::TimedOut));
        gate.open();
        assert_eq!(pool.join_timeout(PATIENCE), Ok(()));
    });
}

/// Nor while a queued job waits behind blocked workers.
pub(crate) fn a_queued_job_is_waited_for(subject: &impl Crew) {
    with_pool(subject, 1, |pool| {
        let (first, second) = (occupy(pool, 1), Gate::default());
        let closed = second.clone();
        pool.execute(move || closed.pass());
        first.open();
        assert_eq!(pool.join_timeout(Duration::from_millis(20)), Err(WaitError::TimedOut));
        second.open();
        assert_eq!(pool.join(), Ok(()));
    });
}

/// A job that is being dropped has not ended before all that it owns is dropped. A destructor that would wait for its
/// own end is refused.
pub(crate) fn a_job_that_is_being_dropped_is_waited_for(subject: &impl Crew) {
    with_pool(subject, 1, |pool| {
        let (occupied, dropping, dropped) = (occupy(pool, 1), Gate::default(), Counter::default());
        let ((tell, told), local) = (mpsc::channel(), pool.clone());
        let (occupied_too, open, count) = (occupied.clone(), dropping.clone(), dropped.clone());
        let owned = OnDrop::new(move || {
            // Whichever thread drops it: no other thread is at work now.
            occupied_too.open();
            tell.send((local.join(), local.shutdown_timeout(PATIENCE).is_err())).expect("the test listens");
            open.pass();
            count.add();
        });
        pool.execute(move || drop(owned));
        thread::scope(|scope| {
            scope.spawn(|| {
                pool.shutdown_now();
                occupied.open();
            });
            assert_eq!(told.recv(), Ok((Err(WaitError::FromWorker), true)));
            assert_eq!(pool.join_timeout(Duration::from_millis(20)), Err(WaitError::TimedOut));
            assert!(pool.shutdown_timeout(Duration::from_millis(1)).is_err());
            dropping.open();
            assert_eq!(pool.join(), Ok(()));
            assert_eq!((dropped.get(), pool.stats().discarded), (1, 1));
        });
    });
}

/// A worker that waits for its own pool to be idle would wait for itself.
pub(crate) fn waiting_from_a_worker_is_refused(subject: &impl Subject) {
    with_pool(subject, 2, |pool| {
        let (local, (tell, told)) = (pool.clone(), mpsc::channel());
        pool.execute(move || {
            tell.send((local.join(), local.join_timeout(PATIENCE))).expect("the test listens");
        });
        assert_eq!(told.recv(), Ok((Err(WaitError::FromWorker), Err(WaitError::FromWorker))));
    });
}

/// A worker may wait for another pool.
pub(crate) fn a_job_may_wait_for_another_pool(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        with_pool(subject, 2, |other| {
            let tally = Tally::new(50);
            for job in 0..50 {
                let tally = tally.clone();
                other.execute(move || tally.add(job));
            }
            let there = other.clone();
            assert_eq!(pool.submit(move || there.join()).wait().expect("no panic"), Ok(()));
            tally.assert_once_each();
        });
    });
}

/// Waiters and submitters at the same time: a waiter sees at least what its own thread has submitted before.
pub(crate) fn waiters_race_with_submitters(subject: &impl Crew) {
    with_pool(subject, 2, |pool| {
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let tally = Tally::new(4);
                        for job in 0..4 {
                            let tally = tally.clone();
                            pool.execute(move || tally.add(job));
                        }
                        pool.join().expect("this is no worker");
                        tally.assert_once_each();
                    }
                });
            }
        });
    });
}
