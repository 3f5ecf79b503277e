//! Random programs on random pools, for a configurable time.
//!
//! A program is a tree of jobs that use every operation of their pool's interface, together with threads that do the
//! same from outside, and a shutdown of some kind that may come at any time. Each job carries a [`Ticket`]; when the
//! program is over, every ticket must be accounted for: used by a run, or dropped where a caller was told so.
//!
//! - `EXECUTORS_STRESS_SECONDS`: how long to go on (default 5).
//! - `EXECUTORS_STRESS_SPIN`: for how many microseconds all workers spin before they sleep; 0 for not at all. If it is
//!   not set, this is chosen at random, and in some pools workers never sleep.
//! - `EXECUTORS_STRESS_SEED`: the seed of the first program. A failure names the program that failed; the scheduling of
//!   its threads is not controlled, so reproducing the failure may take several attempts.
#![cfg(feature = "_futures")]

#[cfg(feature = "dispatcher-exec")]
#[path = "stress/subpools.rs"]
mod subpools;
mod support;

#[cfg(feature = "workstealing-exec")]
use executors::crossbeam_workstealing_pool::ThreadPool;
use executors::{
    Executor, FuturesExecutor, JoinHandle, Pool, TaskError, TaskHandle, WaitError, run_now::RunNowExecutor,
    try_execute_locally,
};
use futures::{channel::oneshot, executor::block_on};
use std::{
    fmt::Debug,
    hint,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{
            AtomicBool, AtomicI64, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
        mpsc,
    },
    task::{Context, Poll},
    thread,
    time::Duration,
};
#[cfg(feature = "workstealing-exec")]
use support::naive_parker::NaiveParker;
use support::{
    programs::{Programs, SEED, number_from_environment},
    random::Random,
    suspend::yield_once,
    watchdog::{PATIENCE, Watchdog, until},
};

#[test]
fn random_programs() {
    let programs = Programs::for_seconds(5);
    thread::scope(|scope| {
        // Two at a time, so that the programs disturb each other.
        for _ in 0..2 {
            scope.spawn(|| programs.run(run_program));
        }
    });
}

/// Builds a random pool, and another of the same kind, and runs a program on them.
fn run_program(seed: u64) {
    let random = &mut Random::new(seed);
    let threads = match random.below(16) {
        0 => 30 + random.below(70),
        _ => 1 + random.below(6),
    } as usize;
    match random.below(14) {
        #[cfg(feature = "cb-channel-exec")]
        0 | 1 => program(seed, random, threads, |random| {
            build(executors::crossbeam_channel_pool::ThreadPool::builder(), threads, random)
        }),
        // A program's jobs block on each other, so idle workers have to steal.
        #[cfg(feature = "burst-exec")]
        10 | 11 => program(seed, random, threads, |random| {
            build(executors::burst_pool::ThreadPool::builder(), threads, random)
        }),
        #[cfg(feature = "dispatcher-exec")]
        12 | 13 => {
            // A program's jobs block on each other, so the program has to know how many run at a time.
            let main = ["cpu", "limited", "serial", "bound"][random.below(4) as usize];
            let width = if matches!(main, "serial" | "bound") { 1 } else { threads };
            program(seed, random, width, |random| dispatcher(main, threads, random));
        }
        #[cfg(feature = "elastic-exec")]
        8 | 9 => program(seed, random, threads, |random| {
            use executors::elastic_pool::{Growth, ThreadPool};

            let builder = ThreadPool::builder().core(random.below(threads as u64 + 1) as usize);
            let keep_alive =
                [Duration::from_nanos(1), Duration::from_micros(50), Duration::MAX][random.below(3) as usize];
            // A program's jobs block on each other without telling the pool.
            build(builder.keep_alive(keep_alive).growth(Growth::WhenBusy), threads, random)
        }),
        #[cfg(feature = "threadpool-exec")]
        2 => program(seed, random, threads, |_| executors::threadpool_executor::ThreadPoolExecutor::new(threads)),
        #[cfg(feature = "workstealing-exec")]
        3 => program(seed, random, threads, |random| {
            build(ThreadPool::builder().parker(NaiveParker::default()), threads, random)
        }),
        #[cfg(feature = "workstealing-exec")]
        4 => program(seed, random, threads, |random| {
            build(ThreadPool::builder().parker(executors::parker::dynamic()), threads, random)
        }),
        #[cfg(feature = "workstealing-exec")]
        _ => program(seed, random, threads, |random| build(ThreadPool::builder(), threads, random)),
        #[cfg(not(feature = "workstealing-exec"))]
        _ => {} // this number stands for a pool that is not compiled in
    }
}

/// Builds a random dispatcher whose own jobs go to the subpool `main`.
#[cfg(feature = "dispatcher-exec")]
fn dispatcher(main: &str, threads: usize, random: &mut Random) -> executors::dispatcher::Dispatcher {
    use executors::{
        Fairness,
        dispatcher::{Dispatcher, Priority},
    };

    let priority = Priority::ALL[random.below(5) as usize];
    let preheat = random.below(threads as u64 + 1) as usize;
    let builder = Dispatcher::builder().preheat(preheat).strict_order(random.one_in(2)).main_subpool(main, priority);
    let builder = builder.cpu_limit(threads).subpool("limited", 1000).subpool("serial", 1);
    let reserve = random.below(2).min(threads as u64 - 1) as usize;
    let builder = if main == "bound" { builder.bound_subpool("bound").reserve(reserve) } else { builder };
    let age = 1 + random.below(70) as u32;
    build_with(builder, threads, Fairness::Counted(age), random)
}

/// Builds a pool with random policies.
#[cfg(any(
    feature = "cb-channel-exec",
    feature = "workstealing-exec",
    feature = "elastic-exec",
    feature = "burst-exec"
))]
fn build<P: executors::Build>(builder: executors::Builder<P>, threads: usize, random: &mut Random) -> P {
    use executors::Fairness;

    let fairness = match random.below(3) {
        0 => Fairness::TIMED,
        1 => Fairness::Counted(1 + random.below(5) as u32),
        _ => Fairness::COUNTED,
    };
    build_with(builder, threads, fairness, random)
}

/// Builds a pool with the given fairness and otherwise random policies.
#[cfg(feature = "_crew")]
fn build_with<P: executors::Build>(
    builder: executors::Builder<P>,
    threads: usize,
    fairness: executors::Fairness,
    random: &mut Random,
) -> P {
    use executors::{Idle, Placement};

    let by_chance = match random.below(4) {
        0 if threads <= 4 => Idle::Spin,
        1 => Idle::Park { spin: Duration::ZERO },
        2 => Idle::Park { spin: Duration::from_micros(100) },
        _ => Idle::PARK,
    };
    let chosen = number_from_environment("EXECUTORS_STRESS_SPIN").map(Duration::from_micros);
    let idle = chosen.map_or(by_chance, |spin| Idle::Park { spin });
    let placement = if random.one_in(2) { Placement::Auto } else { Placement::Floating };
    let builder = builder.threads(threads).idle(idle).fairness(fairness).placement(placement);
    builder.build().expect("this pool is possible")
}

/// What becomes of the tickets of one program.
#[derive(Debug, Default)]
struct Ledger {
    issued: AtomicUsize,
    used: AtomicUsize,
    returned: AtomicUsize,
    /// Tickets of jobs that a caller was told would not run: the job was refused, cancelled or discarded.
    announced: AtomicUsize,
    /// Actions of jobs that found something wrong, and whose panics the pool has caught.
    failed: AtomicUsize,
    /// Results that could not be waited for at the time, because that might have blocked the last worker.
    unread: Mutex<Unread>,
}

#[derive(Debug, Default)]
struct Unread {
    handles: Vec<TaskHandle<()>>,
    futures: Vec<JoinHandle<()>>,
}

impl Ledger {
    fn issue(self: &Arc<Self>) -> Ticket {
        self.issued.fetch_add(1, SeqCst);
        Ticket { ledger: Arc::clone(self), used: false }
    }

    fn announce(&self, tickets: usize) {
        self.announced.fetch_add(tickets, SeqCst);
    }

    /// Records what a result says about its ticket.
    fn learn(&self, result: Result<(), TaskError>) {
        match result {
            Ok(()) | Err(TaskError::Panicked(_)) => (),
            Err(TaskError::Dropped | TaskError::Cancelled) => self.announce(1),
            Err(error) => panic!("a job cannot end like this: {error}"),
        }
    }

    /// The same for a future, which passes the job's panic on.
    fn learn_from(&self, future: JoinHandle<()>) {
        if let Ok(None) = catch_unwind(AssertUnwindSafe(|| block_on(future.fallible()))) {
            self.announce(1);
        }
    }

    fn unread(&self) -> MutexGuard<'_, Unread> {
        self.unread.lock().expect("no panic under this lock")
    }

    fn is_settled(&self) -> bool {
        // In this order: a ticket that counts as settled was issued before.
        let settled = self.used.load(SeqCst) + self.returned.load(SeqCst);
        settled == self.issued.load(SeqCst)
    }
}

/// The right to run once. It is settled when it is dropped, so a program is not over while one of its jobs runs.
struct Ticket {
    ledger: Arc<Ledger>,
    used: bool,
}

impl Ticket {
    fn use_up(&mut self) {
        assert!(!self.used, "a job runs once");
        self.used = true;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.used { &self.ledger.used } else { &self.ledger.returned }.fetch_add(1, SeqCst);
    }
}

/// What all jobs of a program share.
struct Program<P> {
    pool: P,
    /// Another pool of the same kind.
    neighbour: P,
    ledger: Arc<Ledger>,
    /// How many more actions jobs may perform.
    fuel: AtomicI64,
    /// How many more jobs may block: all but one of those that run at a time, because one worker has to run what the
    /// others wait for.
    may_block: AtomicUsize,
    /// The pool is closed, or soon will be.
    ends: AtomicBool,
}

/// Runs one program to its end and checks the accounts. The pool runs `width` jobs at a time.
fn program<P>(seed: u64, random: &mut Random, width: usize, build: impl Fn(&mut Random) -> P)
where
    P: Pool + FuturesExecutor + Debug,
{
    let ledger = Arc::new(Ledger::default());
    let (ends_early, discards) = (random.one_in(3), random.one_in(4));
    let shared = Arc::new(Program {
        pool: build(random),
        neighbour: build(random),
        ledger: Arc::clone(&ledger),
        fuel: AtomicI64::new(random.below(2000) as i64),
        may_block: AtomicUsize::new(width - 1),
        ends: AtomicBool::new(false),
    });
    let (suspect, accounts) = (Arc::downgrade(&shared), Arc::clone(&ledger));
    let describe = move || {
        let pool = suspect.upgrade().map(|program| format!("{:?}\n{:?}", program.pool.stats(), program.pool));
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
                shared.ends.store(true, SeqCst);
                end(&shared.pool, random, discards);
            }
        });
        if !ends_early {
            shared.ends.store(true, SeqCst);
            end(&shared.pool, random, discards);
        }
        // The last handle except for those that jobs hold.
        drop(shared);
        until("all tickets are settled", || ledger.is_settled());
        let Unread { handles, futures } = std::mem::take(&mut *ledger.unread());
        handles.into_iter().for_each(|handle| ledger.learn(handle.wait()));
        futures.into_iter().for_each(|future| ledger.learn_from(future));
    }
    let [issued, used, returned, announced] =
        [&ledger.issued, &ledger.used, &ledger.returned, &ledger.announced].map(|count| count.load(SeqCst));
    assert_eq!(used + returned, issued, "program {SEED}={seed}: {ledger:?}");
    if discards {
        // Of jobs without a handle that are discarded, callers learn only the number.
        assert!(announced <= returned, "program {SEED}={seed}: a job ran that was announced as dropped: {ledger:?}");
    } else {
        assert_eq!(returned, announced, "program {SEED}={seed}: a job was dropped silently: {ledger:?}");
    }
    assert_eq!(ledger.failed.load(SeqCst), 0, "program {SEED}={seed}: actions of jobs have panicked");
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

/// One random action of a thread that is not a worker.
fn act_outside<P: Pool + FuturesExecutor>(program: &Arc<Program<P>>, random: &mut Random) {
    let Program { pool, ledger, .. } = &**program;
    match random.below(14) {
        0 => {
            let result = pool.join_timeout(Duration::from_micros(random.below(500)));
            assert_ne!(result, Err(WaitError::FromWorker));
        }
        1 => {
            let stats = pool.stats();
            assert_eq!(stats.idle + stats.busy, stats.workers, "{stats:?}");
        }
        2 => ledger.learn(pool.submit(job(program, random)).wait()),
        3 => match pool.submit(job(program, random)).wait_timeout(Duration::from_micros(random.below(200))) {
            Ok(result) => ledger.learn(result),
            Err(handle) => ledger.unread().handles.push(handle),
        },
        4 => ledger.learn(block_on(pool.submit(job(program, random)))),
        5 => ledger.learn_from(pool.spawn(yielding(random.below(4), job(program, random)))),
        6 => pause(random, 2000),
        _ => act(program, random),
    }
}

/// One random action of a job or of another thread.
fn act<P: Pool + FuturesExecutor>(program: &Arc<Program<P>>, random: &mut Random) {
    let Program { pool, ledger, .. } = &**program;
    match random.below(10) {
        0 => {
            let jobs: Vec<_> = (0..random.below(20)).map(|_| job(program, random)).collect();
            let given = jobs.len();
            ledger.announce(given - pool.execute_batch(jobs));
        }
        1 => {
            let handle = pool.submit(job(program, random));
            pause(random, 200);
            handle.cancel();
            ledger.unread().handles.push(handle);
        }
        2 => ledger.unread().handles.push(pool.submit(job(program, random))),
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
                ledger.announce(1);
            }
        }
        _ => {
            if pool.try_execute(job(program, random)).is_err() {
                ledger.announce(1);
            }
        }
    }
}

/// One random action that only a job can perform.
fn act_inside<P: Pool + FuturesExecutor>(program: &Arc<Program<P>>, random: &mut Random) {
    let Program { pool, neighbour, ledger, .. } = &**program;
    match random.below(14) {
        0 => assert_eq!(pool.join(), Err(WaitError::FromWorker)),
        1 => assert!(try_execute_locally(job(program, random)).is_ok(), "this is a job"),
        // A leaf waits for nothing, so waiting for it needs no permission.
        2 => ledger.learn(pool.submit(leaf(program)).wait()),
        3 => block(program, || ledger.learn(pool.submit(job(program, random)).wait())),
        4 => block(program, || ledger.learn(neighbour.submit(leaf(program)).wait())),
        // A job that raced with the close may run alone on the last thread; no worker would run its child.
        5 if !program.ends.load(SeqCst) => block(program, || {
            let (work, (tell, told)) = (leaf(program), mpsc::channel());
            let child = move || {
                work();
                let _parent = tell.send(()); // the parent always listens
            };
            match pool.try_execute(child) {
                Ok(()) => drop(told.recv()), // an error if the child was discarded
                Err(_) => ledger.announce(1),
            }
        }),
        6 => {
            let (inner, mut deeds) = (Arc::clone(program), random.fork());
            RunNowExecutor::new().execute(move || act(&inner, &mut deeds));
        }
        7 => {
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

fn pause(random: &mut Random, limit: u64) {
    (0..random.below(limit)).for_each(|_| hint::spin_loop());
}

/// A job that does nothing but run.
fn leaf<P>(program: &Program<P>) -> impl FnOnce() + Send + use<P> {
    let begin = leaf_until_end(program);
    move || drop(begin())
}

/// Uses a ticket up and keeps it for as long as the job runs.
fn leaf_until_end<P>(program: &Program<P>) -> impl FnOnce() -> Ticket + Send + use<P> {
    let mut ticket = program.ledger.issue();
    move || {
        ticket.use_up();
        ticket
    }
}

/// A job that performs random actions while there is fuel.
fn job<P: Pool + FuturesExecutor>(program: &Arc<Program<P>>, random: &mut Random) -> impl FnOnce() + Send + use<P> {
    let (begin, program, mut random) = (leaf_until_end(program), Arc::clone(program), random.fork());
    move || {
        let _ticket = begin();
        for _ in 0..random.below(4) {
            if program.fuel.fetch_sub(1, Relaxed) > 0 {
                let deed = || act_inside(&program, &mut random);
                if let Err(wrong) = catch_unwind(AssertUnwindSafe(deed)) {
                    program.ledger.failed.fetch_add(1, SeqCst);
                    resume_unwind(wrong);
                }
            }
        }
        if random.one_in(10) {
            resume_unwind(Box::new("part of the program"));
        }
    }
}

/// A future without a handle: if it is dropped before its job has run, it says so itself.
struct Announcing<F> {
    /// Dropped before the future, and so before the last ticket is settled.
    unless_it_ends: UnlessItEnds,
    future: Pin<Box<F>>,
}

struct UnlessItEnds(Option<Arc<Ledger>>);

impl Drop for UnlessItEnds {
    fn drop(&mut self) {
        if let Some(ledger) = self.0.take() {
            ledger.announce(1);
        }
    }
}

fn announcing<F: Future<Output = ()>>(ledger: &Arc<Ledger>, future: F) -> Announcing<F> {
    Announcing { unless_it_ends: UnlessItEnds(Some(Arc::clone(ledger))), future: Box::pin(future) }
}

impl<F: Future<Output = ()>> Future for Announcing<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.future.as_mut().poll(context)));
        if !matches!(outcome, Ok(Poll::Pending)) {
            // The job's panic ends the future, too.
            self.unless_it_ends.0 = None;
        }
        outcome.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// A future that is suspended `times` times before it runs `job`.
async fn yielding(times: u64, job: impl FnOnce()) {
    for _ in 0..times {
        yield_once().await;
    }
    job();
}
