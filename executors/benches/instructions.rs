//! What a job costs in instructions: a program for `scripts/count-instructions.sh`, which runs it twice for each way of
//! submitting jobs to a pool, under valgrind, and takes the difference, so that everything but the jobs cancels out.
//!
//! The pool has one worker. Jobs from outside are submitted while it is held up, so that every run does the same.

use executors::{
    Executor, FuturesExecutor, Pool,
    crossbeam_workstealing_pool::{ThreadPool, small_pool},
    parker::{SmallThreadData, StaticParker},
};
use std::{
    env,
    future::Future,
    pin::Pin,
    process::ExitCode,
    sync::mpsc,
    task::{Context, Poll},
};

type SmallPool = ThreadPool<StaticParker<SmallThreadData>>;
type OnePool = &'static SmallPool;

/// A way to submit jobs to a pool.
type Way = fn(OnePool, usize);

const WAYS: [(&str, Way); 11] = [
    ("execute-outside", execute_outside),
    ("execute-inside", execute_inside),
    ("clone", execute_by_clones),
    ("submit", submit),
    ("spawn-outside", spawn_outside),
    ("spawn-inside", spawn_inside),
    ("yield", yield_now_and_again),
    ("detached-outside", spawn_detached_outside),
    ("detached-inside", spawn_detached_inside),
    ("detached-yield", yield_detached),
    ("fork", fork),
];

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let (way, jobs) = match &arguments[..] {
        [way, jobs] => (WAYS.iter().find(|(name, _)| name == way), jobs.parse().ok()),
        _ => (None, None),
    };
    let (Some((name, way)), Some(jobs)) = (way, jobs) else {
        eprintln!("usage: instructions WAY JOBS; use scripts/count-instructions.sh. The ways:");
        WAYS.iter().for_each(|(name, _)| eprintln!("  {name}"));
        // `cargo bench` passes no arguments, and has nothing to measure here.
        return if arguments.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    };
    let pool: OnePool = Box::leak(Box::new(small_pool(1)));
    way(pool, jobs);
    let report = pool.shutdown_timeout(std::time::Duration::from_secs(60)).expect("nothing blocks");
    assert!(report.finished >= if *name == "fork" { 1 } else { jobs as u64 }, "all {jobs} jobs have run");
    ExitCode::SUCCESS
}

/// Calls `give` while the worker is held up, and waits until all jobs that it submitted have run.
fn while_held_up<R>(pool: OnePool, give: impl FnOnce() -> R) -> R {
    let (open, gate) = mpsc::channel();
    let (arrive, arrived) = mpsc::channel();
    pool.execute(move || {
        arrive.send(()).expect("the submitter waits");
        gate.recv().expect("the gate is opened");
    });
    arrived.recv().expect("the worker runs");
    let given = give();
    open.send(()).expect("the worker waits");
    pool.join().expect("this is no worker");
    given
}

fn execute_outside(pool: OnePool, jobs: usize) {
    while_held_up(pool, || (0..jobs).for_each(|_| pool.execute(|| ())));
}

fn execute_inside(pool: OnePool, jobs: usize) {
    fn link(pool: OnePool, left: usize) {
        if left > 0 {
            pool.execute(move || link(pool, left - 1));
        }
    }
    link(pool, jobs);
    pool.join().expect("this is no worker");
}

fn execute_by_clones(pool: OnePool, jobs: usize) {
    fn link(pool: SmallPool, left: usize) {
        if left > 0 {
            let next = pool.clone();
            pool.execute(move || link(next, left - 1));
        }
    }
    link(pool.clone(), jobs);
    pool.join().expect("this is no worker");
}

fn submit(pool: OnePool, jobs: usize) {
    let handles: Vec<_> = while_held_up(pool, || (0..jobs).map(|job| pool.submit(move || job)).collect());
    let sum: usize = handles.into_iter().map(|handle| handle.wait().expect("no panic")).sum();
    assert_eq!(sum, jobs * (jobs - 1) / 2);
}

fn spawn_outside(pool: OnePool, jobs: usize) {
    while_held_up(pool, || (0..jobs).for_each(|_| pool.spawn(async {}).detach()));
}

/// A future of a chain, which spawns the next one by `spawn`.
struct Link {
    pool: OnePool,
    left: usize,
    spawn: fn(Link),
}

impl Future for Link {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<()> {
        if self.left > 0 {
            (self.spawn)(Link { left: self.left - 1, ..*self });
        }
        Poll::Ready(())
    }
}

fn spawn_inside(pool: OnePool, jobs: usize) {
    spawn_chain(Link { pool, left: jobs, spawn: |link| link.pool.spawn(link).detach() });
}

fn spawn_detached_outside(pool: OnePool, jobs: usize) {
    while_held_up(pool, || (0..jobs).for_each(|_| pool.spawn_detached(async {})));
}

fn spawn_detached_inside(pool: OnePool, jobs: usize) {
    spawn_chain(Link { pool, left: jobs, spawn: |link| link.pool.spawn_detached(link) });
}

fn spawn_chain(first: Link) {
    let Link { pool, spawn, .. } = first;
    spawn(first);
    pool.join().expect("this is no worker");
}

/// A future that wakes itself again and again.
struct Yields {
    left: usize,
}

impl Future for Yields {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.left == 0 {
            return Poll::Ready(());
        }
        self.left -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

fn yield_now_and_again(pool: OnePool, jobs: usize) {
    pool.spawn(Yields { left: jobs }).detach();
    pool.join().expect("this is no worker");
}

fn yield_detached(pool: OnePool, jobs: usize) {
    pool.spawn_detached(Yields { left: jobs });
    pool.join().expect("this is no worker");
}

/// One job that forks again and again.
fn fork(pool: OnePool, jobs: usize) {
    let forks = pool.submit(move || (0..jobs).map(|job| pool.fork_join(|| (), || job).1).sum::<usize>());
    assert_eq!(forks.wait().expect("no panic"), jobs * (jobs - 1) / 2);
}
