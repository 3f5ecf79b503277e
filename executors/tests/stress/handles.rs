//! Jobs with handles.

use super::{
    futures::{after, yielding},
    jobs::job,
    program::Program,
    timers::schedule,
};
use crate::support::random::Random;
use executors::{FuturesExecutor, Pool, TaskHandle};
use std::sync::Arc;

/// A closure, or a future that waits for nothing but its next turn. So a job that waits for it needs no worker as long
/// as it has not begun.
pub(crate) fn submit<P: Pool + FuturesExecutor>(program: &Arc<Program<P>>, random: &mut Random) -> TaskHandle<()> {
    if random.one_in(2) {
        program.pool.submit(job(program, random))
    } else {
        program.pool.submit_future(yielding(random.below(4), job(program, random)))
    }
}

/// The same, or what needs a worker besides the one that waits for it: a future that waits for another job, or a job of
/// a timer.
pub(crate) fn submit_any<P: Pool + FuturesExecutor>(program: &Arc<Program<P>>, random: &mut Random) -> TaskHandle<()> {
    match random.below(5) {
        0 => {
            let before = submit_any(program, random);
            program.pool.submit_future(after(&program.ledger, before, job(program, random)))
        }
        1 => schedule(program, random),
        _ => submit(program, random),
    }
}
