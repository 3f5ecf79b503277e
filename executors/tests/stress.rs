//! Random programs on random pools, for a configurable time.
//!
//! A program is a tree of jobs that use every operation of their pool's interface, futures, groups, and a timer,
//! together with threads that do the same from outside, and a shutdown of some kind that may come at any time. Each job
//! carries a [`Ticket`](parts::ledger::Ticket); when the program is over, every ticket must be accounted for: used by a
//! run, or dropped where a caller was told so.
//!
//! - `EXECUTORS_STRESS_SECONDS`: how long to go on (default 5).
//! - `EXECUTORS_STRESS_SPIN`: for how many microseconds all workers spin before they sleep; 0 for not at all. If it is
//!   not set, this is chosen at random, and in some pools workers never sleep.
//! - `EXECUTORS_STRESS_SEED`: the seed of the first program. A failure names the program that failed; the scheduling of
//!   its threads is not controlled, so reproducing the failure may take several attempts.
#![cfg(feature = "_futures")]

mod support;

#[path = "stress"]
mod parts {
    mod actions;
    mod futures;
    mod groups;
    mod handles;
    mod jobs;
    mod ledger;
    pub(crate) mod pools;
    mod program;
    #[cfg(feature = "dispatcher-exec")]
    mod subpools;
    mod timers;
}

use std::thread;
use support::programs::Programs;

#[test]
fn random_programs() {
    let programs = Programs::for_seconds(5);
    thread::scope(|scope| {
        // Two at a time, so that the programs disturb each other.
        for _ in 0..2 {
            scope.spawn(|| programs.run(parts::pools::run_on_random_pools));
        }
    });
}
