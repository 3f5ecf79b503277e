//! Jobs of several subpools, which are paused and resumed meanwhile, and whose dispatcher is closed at any time.

use crate::support::{
    programs::{Programs, SEED},
    random::Random,
    watchdog::{PATIENCE, Watchdog, until},
};
use executors::{
    Executor, Pool,
    dispatcher::{Dispatcher, Priority, Subpool},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

#[test]
fn every_accepted_job_of_a_subpool_runs() {
    Programs::for_seconds(3).run(run_program);
}

/// The subpools, and what has become of their jobs.
struct Subpools {
    all: Vec<Subpool>,
    made: AtomicUsize,
    accepted: AtomicUsize,
    run: AtomicUsize,
    gone: AtomicUsize,
}

/// A job, until it is dropped.
struct Ticket(Arc<Subpools>);

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.gone.fetch_add(1, SeqCst);
    }
}

fn run_program(seed: u64) {
    let random = &mut Random::new(seed);
    let dispatcher = dispatcher(random);
    let suspect = dispatcher.clone();
    let _watchdog = Watchdog::new(Box::new(move || format!("{SEED}={seed}: {suspect:#?}")));
    let names = ["cpu", "some", "other", "bound"];
    let subpools = Arc::new(Subpools {
        all: names.map(|name| dispatcher.subpool(name).expect("it was built")).into(),
        made: AtomicUsize::new(0),
        accepted: AtomicUsize::new(0),
        run: AtomicUsize::new(0),
        gone: AtomicUsize::new(0),
    });
    let discards = random.one_in(3);
    thread::scope(|scope| {
        for _ in 0..1 + random.below(3) {
            let (subpools, mut random) = (&subpools, random.fork());
            scope.spawn(move || (0..1 + random.below(20)).for_each(|_| submit(subpools, &mut random, 3)));
        }
        let (subpools, mut changes) = (&subpools, random.fork());
        scope.spawn(move || (0..changes.below(20)).for_each(|_| change(subpools, &mut changes)));
        (0..random.below(100)).for_each(|_| thread::yield_now());
        if discards {
            let _ = dispatcher.shutdown_now();
        } else {
            dispatcher.shutdown_async();
        }
    });
    let _ = dispatcher.shutdown_timeout(PATIENCE).expect("nothing blocks");
    let Subpools { made, accepted, run, gone, .. } = &*subpools;
    until("all jobs are gone", || gone.load(SeqCst) == made.load(SeqCst));
    let (accepted, run) = (accepted.load(SeqCst), run.load(SeqCst));
    let is_right = if discards { run <= accepted } else { run == accepted };
    assert!(is_right, "{SEED}={seed}: {run} of {accepted} jobs have run");
}

fn dispatcher(random: &mut Random) -> Dispatcher {
    let threads = 1 + random.below(4) as usize;
    let mut upto = |limit: usize| 1 + random.below(limit as u64) as usize;
    let builder = Dispatcher::builder().threads(threads).cpu_limit(upto(threads)).subpool("some", upto(2));
    let builder = builder.subpool("other", 1).bound_subpool("bound").preheat(upto(threads));
    builder.strict_order(random.one_in(4)).build().expect("possible")
}

/// Submits a job that submits more, to a depth of `depth`.
fn submit(subpools: &Arc<Subpools>, random: &mut Random, depth: usize) {
    let subpool = &subpools.all[random.below(subpools.all.len() as u64) as usize];
    let priority = Priority::ALL[random.below(5) as usize];
    let (ticket, mut random) = (Ticket(Arc::clone(subpools)), random.fork());
    subpools.made.fetch_add(1, SeqCst);
    let job = move || {
        let Ticket(subpools) = &ticket;
        subpools.run.fetch_add(1, SeqCst);
        if depth > 0 {
            (0..random.below(4)).for_each(|_| submit(subpools, &mut random, depth - 1));
        }
    };
    if subpool.with_priority(priority).try_execute(job).is_ok() {
        subpools.accepted.fetch_add(1, SeqCst);
    }
}

fn change(subpools: &Subpools, random: &mut Random) {
    let subpool = &subpools.all[random.below(subpools.all.len() as u64) as usize];
    match random.below(3) {
        0 => subpool.pause(),
        1 => subpool.resume(),
        // Not of one that is bound.
        _ => _ = subpool.set_limit(1 + random.below(2) as usize),
    }
    thread::yield_now();
}
