//! A program, from its start to its end.

use super::{
    actions::{act_outside, pause},
    ledger::Ledger,
};
use crate::support::{
    programs::SEED,
    random::Random,
    watchdog::{PATIENCE, Watchdog, until},
};
use executors::{FuturesExecutor, Pool, timer::Timer};
use std::{
    fmt::Debug,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicUsize},
    },
    thread,
};

/// What all jobs of a program share.
pub(crate) struct Program<P> {
    pub(crate) pool: P,
    /// Another pool of the same kind.
    pub(crate) neighbour: P,
    /// Other programs use it, too.
    pub(crate) timer: Timer,
    pub(crate) ledger: Arc<Ledger>,
    /// How many more actions jobs may perform.
    pub(crate) fuel: AtomicI64,
    /// How many more jobs may block: all but one of those that run at a time, because one worker has to run what the
    /// others wait for.
    pub(crate) may_block: AtomicUsize,
}

/// Runs one program to its end and checks the accounts. The pool runs `width` jobs at a time.
pub(crate) fn run<P>(seed: u64, random: &mut Random, width: usize, build: impl Fn(&mut Random) -> P)
where
    P: Pool + FuturesExecutor + Debug,
{
    let ledger = Arc::new(Ledger::default());
    let (ends_early, discards) = (random.one_in(3), random.one_in(4));
    let shared = Arc::new(Program {
        pool: build(random),
        neighbour: build(random),
        timer: Timer::shared(),
        ledger: Arc::clone(&ledger),
        fuel: AtomicI64::new(random.below(2000) as i64),
        may_block: AtomicUsize::new(width - 1),
    });
    let (suspect, accounts) = (Arc::downgrade(&shared), Arc::clone(&ledger));
    let describe = move || {
        let pool = suspect.upgrade().map(|program| {
            let Program { pool, timer, .. } = &*program;
            format!("{:?}\n{pool:?}\n{timer:?}", pool.stats())
        });
        format!("program {SEED}={seed}\n{accounts:?}\n{}", pool.unwrap_or_else(|| "the pool is gone".to_owned()))
    };
    {
        let _watchdog = Watchdog::new(Box::new(describe));
        thread::scope(|scope| {
            for _ in 0..1 + random.below(3) {
                let (shared, mut random) = (Arc::clone(&shared), random.fork());
                scope.spawn(move || (0..1 + random.below(60)).for_each(|_| act_outside(&shared, &mut random)));
            }
            if ends_early {
                pause(random, 100_000);
                ledger.end();
                end(&shared.pool, random, discards);
            }
        });
        if !ends_early {
            ledger.end();
            end(&shared.pool, random, discards);
        }
        // The last handle except for those that jobs hold.
        drop(shared);
        until("all tickets are settled", || ledger.is_settled());
        ledger.read();
    }
    ledger.check(discards, &format!("program {SEED}={seed}"));
}

/// Ends the pool in one of several ways, the last of which is to do nothing.
fn end<P: Pool + 'static>(pool: &P, random: &mut Random, discards: bool) {
    if discards {
        let (first, second) = (pool.shutdown_now(), pool.shutdown_now());
        assert!(first.finished <= second.finished && first.discarded <= second.discarded, "{first:?} then {second:?}");
    }
    match random.below(5) {
        0 => drop(pool.shutdown_borrowed()),
        1 => {
            pool.shutdown_async();
            pool.join().expect("this is no worker");
        }
        2 => {
            // A submitter (a job of the neighbour) that was admitted just before the close may put its job in after the
            // workers have left; one more thread then runs it.
            until("nothing is left", || {
                let report = pool.shutdown_timeout(PATIENCE).expect("nothing blocks for ever");
                (report.running, report.queued) == (0, 0)
            });
        }
        3 => {
            let local = pool.clone();
            pool.execute(move || local.shutdown_async());
        }
        _ => (),
    }
}
