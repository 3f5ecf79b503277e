//! Jobs that are awaited, or cancelled, as a whole.

use super::{
    actions::pause,
    handles::{submit, submit_any},
    jobs::{job, leaf},
    program::Program,
};
use crate::support::random::Random;
use executors::{FuturesExecutor, Pool, TaskError, TaskHandle, group::Group, sequence};
use futures::executor::block_on;
use std::{sync::Arc, time::Duration};

/// Clusters of jobs, or jobs submitted in this way.
fn group<P: Pool + FuturesExecutor>(
    program: &Arc<Program<P>>,
    random: &mut Random,
    submit: fn(&Arc<Program<P>>, &mut Random) -> TaskHandle<()>,
) -> Group<()> {
    let len = random.below(8);
    if random.one_in(3) {
        let jobs: Vec<_> = (0..len).map(|_| job(program, random)).collect();
        let size = 1 + random.below(3) as usize;
        sequence::clusters(&program.pool, jobs, size, |job| job()).expect("not of nothing")
    } else {
        (0..len).map(|_| submit(program, random)).collect()
    }
}

/// Waits for a group in one of several ways. Not to be called by a job.
pub(crate) fn wait_outside<P: Pool + FuturesExecutor>(program: &Arc<Program<P>>, random: &mut Random) {
    let ledger = &program.ledger;
    let group = group(program, random, submit_any);
    let len = group.len();
    let cancelled = if random.one_in(3) { group.cancel() } else { 0 };
    let results = match random.below(3) {
        0 => group.wait(),
        1 => block_on(group),
        _ => match group.wait_timeout(Duration::from_micros(random.below(200))) {
            Ok(results) => results,
            Err(group) => return ledger.unread().groups.push(group),
        },
    };
    let cancellations = results.iter().filter(|result| matches!(result, Err(TaskError::Cancelled))).count();
    assert_eq!((results.len(), cancellations), (len, cancelled), "{results:?}");
    results.into_iter().for_each(|result| ledger.learn(result));
}

/// Waits in a job, which may block, but runs what has not begun.
pub(crate) fn wait_inside<P: Pool + FuturesExecutor>(program: &Arc<Program<P>>, random: &mut Random) {
    group(program, random, submit).wait().into_iter().for_each(|result| program.ledger.learn(result));
}

/// Waits in a job, which must not block: leaves wait for nothing.
pub(crate) fn wait_for_leaves<P: Pool + FuturesExecutor>(program: &Arc<Program<P>>, random: &mut Random) {
    let leaves = (0..random.below(8)).map(|_| leaf(program));
    let group = sequence::each(&program.pool, leaves, |leaf| leaf());
    group.wait().into_iter().for_each(|result| program.ledger.learn(result));
}

/// Leaves a group to the end of the program, and maybe cancels it before.
pub(crate) fn leave<P: Pool + FuturesExecutor>(program: &Arc<Program<P>>, random: &mut Random) {
    let group = group(program, random, submit_any);
    if random.one_in(2) {
        pause(random, 200);
        group.cancel();
    }
    program.ledger.unread().groups.push(group);
}
