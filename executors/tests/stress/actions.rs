//! What threads and jobs do.

use super::{
    futures::{announcing, yielding},
    groups,
    handles::{submit, submit_any},
    jobs::{job, leaf, leaf_until_end},
    program::Program,
    timers,
};
use crate::support::random::Random;
use executors::{Executor, FuturesExecutor, Pool, WaitError, run_now::RunNowExecutor, try_execute_locally};
use futures::{channel::oneshot, executor::block_on};
use std::{
    hint,
    sync::{Arc, atomic::Ordering::SeqCst, mpsc},
    time::Duration,
};

/// One random action of a thread that is not a worker.
pub(crate) fn act_outside<P: Pool + FuturesExecutor>(program: &Arc<Program<P>>, random: &mut Random) {
    let Program { pool, ledger, .. } = &**program;
    match random.below(15) {
        0 => {
            let result = pool.join_timeout(Duration::from_micros(random.below(500)));
            assert_ne!(result, Err(WaitError::FromWorker));
        }
        1 => {
            let stats = pool.stats();
            assert_eq!(stats.idle + stats.busy, stats.workers, "{stats:?}");
        }
        2 => ledger.learn(submit_any(program, random).wait()),
        3 => match submit_any(program, random).wait_timeout(Duration::from_micros(random.below(200))) {
            Ok(result) => ledger.learn(result),
            Err(handle) => ledger.unread().handles.push(handle),
        },
        4 => ledger.learn(block_on(submit_any(program, random))),
        5 => ledger.learn_from(pool.spawn(yielding(random.below(4), job(program, random)))),
        6 => groups::wait_outside(program, random),
        7 => pause(random, 2000),
        _ => act(program, random),
    }
}

/// One random action of a job or of another thread.
fn act<P: Pool + FuturesExecutor>(program: &Arc<Program<P>>, random: &mut Random) {
    let Program { pool, ledger, .. } = &**program;
    match random.below(12) {
        0 => {
            let jobs: Vec<_> = (0..random.below(20)).map(|_| job(program, random)).collect();
            let given = jobs.len();
            ledger.lose(given - pool.execute_batch(jobs));
        }
        1 => {
            let handle = submit_any(program, random);
            pause(random, 200);
            handle.cancel();
            ledger.unread().handles.push(handle);
        }
        2 => {
            let handle = submit_any(program, random);
            ledger.unread().handles.push(handle);
        }
        3 => ledger.unread().futures.push(pool.spawn(yielding(random.below(4), job(program, random)))),
        4 => pool.spawn_detached(announcing(ledger, yielding(random.below(4), job(program, random)))),
        5 => {
            // Another job wakes the future, by its message or by being dropped.
            let (tell, told) = oneshot::channel();
            let (work, last) = (leaf(program), job(program, random));
            pool.spawn_detached(announcing(ledger, async move {
                let _told_or_not = told.await;
                last();
            }));
            let tells = move || {
                work();
                let _ = tell.send(()); // the future may be gone
            };
            if pool.try_execute(tells).is_err() {
                ledger.lose(1);
            }
        }
        6 => groups::leave(program, random),
        7 => timers::repeat(program, random),
        _ => {
            if pool.try_execute(job(program, random)).is_err() {
                ledger.lose(1);
            }
        }
    }
}

/// One random action that only a job can perform.
pub(crate) fn act_inside<P: Pool + FuturesExecutor>(program: &Arc<Program<P>>, random: &mut Random) {
    let Program { pool, neighbour, ledger, .. } = &**program;
    match random.below(18) {
        0 => assert_eq!(pool.join(), Err(WaitError::FromWorker)),
        1 => assert!(try_execute_locally(job(program, random)).is_ok(), "this is a job"),
        // A leaf waits for nothing, so waiting for it needs no permission.
        2 => ledger.learn(pool.submit(leaf(program)).wait()),
        3 => ledger.learn(pool.submit_future(yielding(0, leaf(program))).wait()),
        4 => block(program, || ledger.learn(submit(program, random).wait())),
        5 => block(program, || ledger.learn(neighbour.submit(leaf(program)).wait())),
        6 => groups::wait_for_leaves(program, random),
        7 => block(program, || groups::wait_inside(program, random)),
        // A job that raced with the close may run alone on the last thread; no worker would run what these need.
        8 if !ledger.ends() => block(program, || ledger.learn(submit_any(program, random).wait())),
        9 if !ledger.ends() => block(program, || {
            let (work, (tell, told)) = (leaf(program), mpsc::channel());
            let child = move || {
                work();
                let _parent = tell.send(()); // the parent always listens
            };
            match pool.try_execute(child) {
                Ok(()) => drop(told.recv()), // an error if the child was discarded
                Err(_) => ledger.lose(1),
            }
        }),
        10 => {
            let (inner, mut deeds) = (Arc::clone(program), random.fork());
            RunNowExecutor::new().execute(move || act(&inner, &mut deeds));
        }
        11 => {
            let (inner, mut deeds, begin) = (Arc::clone(program), random.fork(), leaf_until_end(program));
            neighbour.execute(move || {
                let _ticket = begin();
                act(&inner, &mut deeds);
            });
        }
        _ => act(program, random),
    }
}

/// Blocks, if that leaves a worker that does not block.
fn block<P>(program: &Program<P>, wait: impl FnOnce()) {
    let may = program.may_block.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
    if may.is_ok() {
        wait();
        program.may_block.fetch_add(1, SeqCst);
    }
}

pub(crate) fn pause(random: &mut Random, limit: u64) {
    (0..random.below(limit)).for_each(|_| hint::spin_loop());
}
