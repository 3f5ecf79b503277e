//! Jobs that use a ticket up.

use super::{actions::act_inside, ledger::Ticket, program::Program};
use crate::support::random::Random;
use executors::{FuturesExecutor, Pool};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Arc, atomic::Ordering::Relaxed},
};

/// A job that does nothing but run.
pub(crate) fn leaf<P>(program: &Program<P>) -> impl FnOnce() + Send + use<P> {
    let begin = leaf_until_end(program);
    move || drop(begin())
}

/// Uses a ticket up and keeps it for as long as the job runs.
pub(crate) fn leaf_until_end<P>(program: &Program<P>) -> impl FnOnce() -> Ticket + Send + use<P> {
    let mut ticket = program.ledger.issue();
    move || {
        ticket.use_up();
        ticket
    }
}

/// A job that performs random actions while there is fuel.
pub(crate) fn job<P: Pool + FuturesExecutor>(
    program: &Arc<Program<P>>,
    random: &mut Random,
) -> impl FnOnce() + Send + use<P> {
    let (begin, program, mut random) = (leaf_until_end(program), Arc::clone(program), random.fork());
    move || {
        let _ticket = begin();
        for _ in 0..random.below(4) {
            if program.fuel.fetch_sub(1, Relaxed) > 0 {
                let deed = || act_inside(&program, &mut random);
                if let Err(wrong) = catch_unwind(AssertUnwindSafe(deed)) {
                    program.ledger.fail("an action of a job has panicked");
                    resume_unwind(wrong);
                }
            }
        }
        if random.one_in(10) {
            resume_unwind(Box::new("part of the program"));
        }
    }
}
