//! The end of a pool whose last handle is dropped: quietly, with nothing lost and nothing left.

use super::{
    subject::{Crew, Subject, with_pool},
    tools::{Counter, Life, Tally, Witness, names_of, occupy, panic_quietly, until_closed},
};
use crate::support::{
    child::Child,
    gate::Gate,
    on_drop::OnDrop,
    threads,
    watchdog::{until, within},
};
use executors::{Executor, Pool, try_execute_locally};
use std::{cell::Cell, sync::mpsc};

/// A pool whose end can be observed although no handle is left then: its hooks own the mark.
fn mortal_pool<S: Crew>(subject: &S, threads: usize) -> (S::Pool, Life) {
    let life = Life::new();
    let mark = life.mark();
    // The panic handler is a hook that every pool honours.
    let builder = subject.builder().threads(threads).panic_handler(move |_| drop(mark.clone()));
    (builder.build().expect("this many threads are possible"), life)
}

pub(crate) fn the_backlog_runs(subject: &impl Crew) {
    within(|| {
        let (pool, life) = mortal_pool(subject, 2);
        let tally = Tally::new(100);
        let gate = occupy(&pool, 2);
        for job in 0..100 {
            let tally = tally.clone();
            pool.execute(move || tally.add(job));
        }
        drop(pool);
        gate.open();
        life.until_over();
        tally.assert_once_each();
    });
}

pub(crate) fn idle_pools_of_any_size_end(subject: &impl Crew) {
    for &threads in subject.sizes() {
        within(|| {
            let (pool, life) = mortal_pool(subject, threads);
            assert_eq!(names_of(&pool, threads).len(), threads);
            drop(pool);
            life.until_over();
        });
    }
}

/// Only the last handle counts.
pub(crate) fn a_remaining_handle_keeps_the_pool_open(subject: &impl Crew) {
    within(|| {
        let (pool, life) = mortal_pool(subject, 2);
        let other = pool.clone();
        drop(pool);
        assert_eq!(other.submit(|| 3).wait().expect("the pool is open"), 3);
        drop(other);
        life.until_over();
    });
}

/// A handle to a job does not keep its pool open either.
pub(crate) fn a_handle_to_a_job_does_not_keep_its_pool_open(subject: &impl Crew) {
    within(|| {
        let (pool, life) = mortal_pool(subject, 1);
        let (gate, handle) = (occupy(&pool, 1), pool.submit(|| 7));
        drop(pool);
        gate.open();
        life.until_over();
        assert_eq!(handle.wait().expect("the backlog has run"), 7);
    });
}

/// A job that owns a handle can go on submitting; when it ends, the pool does.
pub(crate) fn a_job_that_owns_a_handle_keeps_the_pool_open(subject: &impl Crew) {
    within(|| {
        let (pool, life) = mortal_pool(subject, 2);
        let (gate, (tell, told), local) = (Gate::default(), mpsc::channel(), pool.clone());
        let dropped = gate.clone();
        pool.execute(move || {
            dropped.pass();
            let answer = local.submit(|| 4).wait().expect("the pool is open");
            let accepted = local.try_execute(|| ()).is_ok();
            tell.send((answer, accepted)).expect("the test listens");
        });
        drop(pool);
        gate.open();
        assert_eq!(told.recv(), Ok((4, true)));
        life.until_over();
    });
}

/// No handle is left, but the jobs go on spawning by way of their thread; each link begins after the one before has
/// ended.
pub(crate) fn a_chain_of_local_jobs_outlives_the_last_handle(subject: &impl Crew) {
    fn link(tell: mpsc::Sender<()>, left: usize) {
        match left.checked_sub(1) {
            Some(left) => assert!(try_execute_locally(move || link(tell, left)).is_ok(), "this is a job"),
            None => tell.send(()).expect("the test listens"),
        }
    }

    // Links that ran within each other would need more stack than there is, and take the other tests with them.
    Child::default().run(|| {
        let (pool, life) = mortal_pool(subject, 1);
        let (gate, (tell, told)) = (occupy(&pool, 1), mpsc::channel());
        pool.execute(move || link(tell, 20_000));
        drop(pool);
        gate.open();
        assert_eq!(told.recv(), Ok(()));
        life.until_over();
    });
}

/// The same with a parent that blocks: the other workers stay for as long as a job runs.
pub(crate) fn a_job_may_block_on_its_child_after_the_last_handle(subject: &impl Crew) {
    for _ in 0..20 {
        within(|| {
            let (pool, life) = mortal_pool(subject, 2);
            let (gate, dropped, went_on) = (Gate::default(), Gate::default(), Counter::default());
            let (closed, open, count) = (dropped.clone(), gate.clone(), went_on.clone());
            pool.execute(move || {
                closed.pass();
                let child = move || open.open();
                assert!(try_execute_locally(child).is_ok(), "this is a job");
                gate.pass();
                count.add();
            });
            drop(pool);
            dropped.open();
            life.until_over();
            assert_eq!(went_on.get(), 1, "the child was taken, and has run");
        });
    }
}

/// A handle that is owned by a job that has not begun counts, too.
pub(crate) fn a_queued_job_that_owns_a_handle_runs(subject: &impl Crew) {
    within(|| {
        let (pool, life) = mortal_pool(subject, 1);
        let (gate, (tell, told), local) = (occupy(&pool, 1), mpsc::channel(), pool.clone());
        pool.execute(move || {
            let child = tell.clone();
            local.execute(move || child.send("child").expect("the test listens"));
            drop(local);
            tell.send("parent").expect("the test listens");
        });
        drop(pool);
        gate.open();
        let mut answers: Vec<_> = told.iter().collect();
        answers.sort_unstable();
        assert_eq!(answers, ["child", "parent"]);
        life.until_over();
    });
}

/// A worker may be the one that drops the last handle; it cannot wait for itself then.
pub(crate) fn a_worker_may_drop_the_last_handle(subject: &impl Crew) {
    for threads in [1, 2] {
        for panics in [false, true] {
            within(|| {
                let (pool, life) = mortal_pool(subject, threads);
                let (gate, ran, local) = (Gate::default(), Counter::default(), pool.clone());
                let (dropped, count) = (gate.clone(), ran.clone());
                pool.execute(move || {
                    dropped.pass();
                    let inner = count.clone();
                    local.execute(move || inner.add());
                    if panics {
                        panic_quietly("with the last handle in its hands");
                    }
                    drop(local);
                    count.add();
                });
                drop(pool);
                gate.open();
                life.until_over();
                assert_eq!(ran.get(), if panics { 1 } else { 2 });
            });
        }
    }
}

/// A job has dropped handles, and the last one is dropped while it goes on, or when all is quiet.
pub(crate) fn handles_that_a_job_has_dropped_count_no_more(subject: &impl Crew) {
    for goes_on in [true, false] {
        within(|| {
            let (pool, life) = mortal_pool(subject, 2);
            let (gate, (tell, told), own) = (Gate::default(), mpsc::channel(), pool.clone());
            let open = gate.clone();
            pool.execute(move || {
                (0..3).for_each(|_| drop(own.clone()));
                drop(own);
                tell.send(()).expect("the test listens");
                open.pass();
            });
            assert_eq!(told.recv(), Ok(()));
            if !goes_on {
                gate.open();
                pool.join().expect("this is no worker");
            }
            drop(pool);
            gate.open();
            life.until_over();
        });
    }
}

/// The last handle is dropped with the captures of a job that is discarded.
pub(crate) fn a_discarded_job_may_own_a_handle(subject: &impl Crew) {
    within(|| {
        let (pool, life) = mortal_pool(subject, 1);
        let (gate, dropped, local) = (occupy(&pool, 1), Counter::default(), pool.clone());
        let witness = Witness(dropped.clone());
        pool.execute(move || drop((local, witness)));
        pool.shutdown_now();
        drop(pool);
        gate.open();
        life.until_over();
        assert_eq!(dropped.get(), 1);
    });
}

pub(crate) fn a_job_may_drop_another_pool(subject: &impl Crew) {
    with_pool(subject, 1, |outer| {
        let (inner, life) = mortal_pool(subject, 2);
        let tally = Tally::new(30);
        for job in 0..30 {
            let tally = tally.clone();
            inner.execute(move || tally.add(job));
        }
        outer.submit(move || drop(inner)).wait().expect("dropping does not panic");
        life.until_over();
        tally.assert_once_each();
    });
}

/// Dropping a handle to a pool that is closed, or that has been shut down.
pub(crate) fn a_closed_pool_may_be_dropped(subject: &impl Crew) {
    within(|| {
        let (pool, life) = mortal_pool(subject, 2);
        let gate = occupy(&pool, 2);
        pool.shutdown_async();
        until_closed(&pool);
        drop(pool);
        gate.open();
        life.until_over();
        let (pool, life) = mortal_pool(subject, 2);
        assert_eq!(pool.shutdown(), Ok(()));
        life.until_over();
    });
}

/// Two hundred pools, used or not, closed or just dropped: no thread stays, nothing is printed.
pub(crate) fn no_thread_is_left_and_nothing_is_printed(subject: &impl Crew) {
    let noise = Child::default().run(|| {
        let Some(before) = threads::count() else { return };
        for round in 0..200_usize {
            let pool = subject.pool(1 + round % 4);
            if round.is_multiple_of(2) {
                pool.execute(|| ());
            }
            match round % 5 {
                0 => pool.shutdown_async(),
                1 => assert_eq!(pool.shutdown_borrowed(), Ok(())),
                2 => pool.submit(|| ()).wait().expect("the job runs"),
                _ => (),
            }
        }
        until("the threads of all pools are gone", || threads::count() == Some(before));
    });
    assert_eq!(noise, "");
}

/// A program that ends while its pools are at work, idle or being closed says nothing, and ends.
pub(crate) fn the_process_may_end_at_any_time(subject: &impl Crew) {
    let noise = Child::default().run(|| {
        let (idle, closing, busy) = (subject.pool(2), subject.pool(2), subject.pool(2));
        let gates = [occupy(&closing, 2), occupy(&busy, 2)];
        closing.shutdown_async();
        std::mem::forget((idle, busy, gates));
    });
    assert_eq!(noise, "");
}

/// Where threads end only when the last handle is gone, there is no way to the queue any more.
pub(crate) fn what_destructors_of_thread_locals_give_is_dropped(subject: &impl Subject) {
    type Destructor = OnDrop<Box<dyn FnOnce()>>;

    thread_local!(static LEFT: Cell<Option<Destructor>> = const { Cell::new(None) });

    within(|| {
        let (ran, dropped) = (Counter::default(), Counter::default());
        let (tell, told) = mpsc::channel();
        let pool = subject.pool(1);
        pool.execute({
            let (ran, witness) = (ran.clone(), Witness(dropped.clone()));
            move || {
                let give = move || {
                    let given = try_execute_locally(move || {
                        let _witness = witness;
                        ran.add();
                    });
                    tell.send(given.is_ok()).expect("the test listens");
                };
                LEFT.set(Some(OnDrop::new(Box::new(give))));
            }
        });
        drop(pool);
        assert_eq!(told.recv(), Ok(true), "this is a thread of the pool");
        assert_eq!((ran.get(), dropped.get()), (0, 1));
    });
}
