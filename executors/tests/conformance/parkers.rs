//! Parkers of users: one that panics, which costs the pool the worker that called it and nothing else, or that owns its
//! pool; and one that wraps a parker of the crate.

use super::tools::{Bomb, Counter, Life, Witness, panic_quietly};
use crate::support::{
    child::Child,
    gate::{Gate, occupy},
    log_book,
    naive_parker::NaiveParker,
    watchdog::{PATIENCE, until, within},
};
use executors::{
    Executor, FuturesExecutor, Idle, Pool, ShutdownError, TaskError, WaitError,
    crossbeam_workstealing_pool::ThreadPool,
    parker::{self, DynParker, Origin, ParkResult, Parker},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread::{self, ThreadId},
    time::Duration,
};

/// What workers tell their parker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    StartLooking,
    StopLooking,
    Prepare,
    Park,
    /// The second worker asks whether any worker sleeps.
    SecondAsks,
    UnparkAll,
}

/// What happens at the next event of a kind.
#[derive(Debug)]
struct Fuse {
    event: Event,
    /// What is dropped in place of a panic.
    kept: Option<ThreadPool<Brittle>>,
}

/// Panics once, at the next event of the kind that was chosen; or drops a handle to its pool.
#[derive(Clone, Debug, Default)]
pub(crate) struct Brittle {
    parker: NaiveParker,
    fuse: Arc<Mutex<Option<Fuse>>>,
    parked: Arc<AtomicUsize>,
    /// How many workers have left.
    gone: Arc<AtomicUsize>,
}

impl Brittle {
    fn light(&self, event: Event) {
        *self.fuse.lock().expect("no panic under this lock") = Some(Fuse { event, kept: None });
    }

    fn keep_until(&self, event: Event, pool: ThreadPool<Brittle>) {
        *self.fuse.lock().expect("no panic under this lock") = Some(Fuse { event, kept: Some(pool) });
    }

    fn happens(&self, event: Event) {
        let fuse = self.fuse.lock().expect("no panic under this lock").take_if(|fuse| fuse.event == event);
        match fuse {
            Some(Fuse { kept: None, .. }) => panic_quietly("a parker"),
            // Not under the lock: dropping the pool closes it.
            kept => drop(kept),
        }
    }

    fn is_lit(&self) -> bool {
        self.fuse.lock().expect("no panic under this lock").is_some()
    }
}

impl Parker for Brittle {
    fn max_threads(&self) -> Option<usize> {
        self.parker.max_threads()
    }

    fn init(&self, thread_id: usize) {
        self.parker.init(thread_id);
    }

    fn leave(&self, thread_id: usize) {
        self.parker.leave(thread_id);
        self.gone.fetch_add(1, SeqCst);
    }

    fn prepare_park(&self, thread_id: usize) {
        self.parker.prepare_park(thread_id);
        self.happens(Event::Prepare);
    }

    fn abort_park(&self, thread_id: usize) {
        self.parker.abort_park(thread_id);
    }

    fn park(&self, thread_id: usize) -> ParkResult {
        self.happens(Event::Park);
        self.parked.fetch_add(1, SeqCst);
        let result = self.parker.park(thread_id);
        self.parked.fetch_sub(1, SeqCst);
        result
    }

    fn unpark_one(&self) {
        self.parker.unpark_one();
    }

    fn unpark_all(&self) {
        self.happens(Event::UnparkAll);
        self.parker.unpark_all();
    }

    fn start_looking(&self, thread_id: usize) -> bool {
        self.happens(Event::StartLooking);
        self.parker.start_looking(thread_id)
    }

    fn stop_looking(&self, thread_id: usize) -> bool {
        self.happens(Event::StopLooking);
        self.parker.stop_looking(thread_id)
    }

    fn is_anybody_asleep(&self) -> bool {
        if thread::current().name() == Some("cb-ws-pool-worker-1") {
            self.happens(Event::SecondAsks);
        }
        self.parker.is_anybody_asleep()
    }
}

/// A pool of two workers, and how many of them have stopped.
fn pool_with(parker: &Brittle) -> (ThreadPool<Brittle>, Counter) {
    let stopped = Counter::default();
    let count = stopped.clone();
    let builder = ThreadPool::builder()
        .threads(2)
        .preheat(2)
        .idle(Idle::PARK)
        .parker(parker.clone())
        .on_stop(move |_| count.add());
    (builder.build().expect("two threads"), stopped)
}

/// One worker is left, and does what two did before.
fn goes_on_with_one(pool: &ThreadPool<Brittle>, stopped: &Counter) {
    pool.join().expect("this is no worker");
    until("one worker is gone", || pool.stats().workers == 1);
    assert_eq!(stopped.get(), 1, "the hook was called for it");
    for number in 0..10 {
        assert_eq!(pool.submit(move || number).wait().expect("no panic"), number);
    }
    pool.join().expect("this is no worker");
    pool.shutdown_borrowed().expect("nothing blocks");
    assert_eq!(stopped.get(), 2);
}

pub(crate) fn a_lost_worker_is_no_longer_counted(subject: &impl Fn() -> Brittle) {
    for event in [Event::StartLooking, Event::StopLooking, Event::Prepare, Event::Park] {
        within(|| {
            let parker = subject();
            let (pool, stopped) = pool_with(&parker);
            let gone = Arc::clone(&parker.gone);
            pool.execute(move || parker.light(event));
            goes_on_with_one(&pool, &stopped);
            assert_eq!(gone.load(SeqCst), 1, "it was told of the one that is lost, and not of the end");
        });
    }
}

pub(crate) fn a_job_in_the_hand_of_a_lost_worker_is_dropped(subject: &impl Fn() -> Brittle) {
    within(|| {
        let parker = subject();
        let (pool, stopped) = pool_with(&parker);
        until("both workers are asleep", || parker.parked.load(SeqCst) == 2);
        parker.light(Event::StopLooking);
        let bomb = Bomb;
        assert!(matches!(pool.submit(move || drop(bomb)).wait(), Err(TaskError::Dropped)));
        goes_on_with_one(&pool, &stopped);
        assert_eq!((pool.stats().discarded, pool.stats().finished), (1, 10));
    });
}

/// The thread that closes a pool without workers declares its end.
pub(crate) fn a_pool_that_has_lost_all_workers_ends(subject: &impl Fn() -> Brittle) {
    within(|| {
        let parker = subject();
        let (pool, stopped) = pool_with(&parker);
        for left in [1, 0] {
            let parker = parker.clone();
            pool.execute(move || parker.light(Event::StartLooking));
            until("another worker is gone", || pool.stats().workers == left);
        }
        pool.join().expect("this is no worker");
        pool.shutdown_borrowed().expect("no worker is left");
        assert_eq!(stopped.get(), 2);
    });
}

/// Whichever thread declares the end: one that closes the pool, or the worker that runs the last job.
pub(crate) fn a_panic_at_the_end_keeps_no_worker(subject: &impl Fn() -> Brittle) {
    within(|| {
        let parker = subject();
        let (pool, stopped) = pool_with(&parker);
        until("both workers are asleep", || parker.parked.load(SeqCst) == 2);
        parker.light(Event::UnparkAll);
        assert!(catch_unwind(AssertUnwindSafe(|| pool.shutdown_async())).is_err(), "its parker panics");
        let _ = pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
        assert_eq!(stopped.get(), 2);
    });
    within(|| {
        let parker = subject();
        let (pool, stopped) = pool_with(&parker);
        let (gate, brittle) = (Gate::default(), parker.clone());
        let open = gate.clone();
        pool.execute(move || {
            open.pass();
            brittle.light(Event::UnparkAll);
        });
        pool.shutdown_async();
        until("the other worker is asleep", || parker.parked.load(SeqCst) == 1);
        gate.open();
        let _ = pool.shutdown_timeout(PATIENCE).expect("nothing blocks");
        assert!(!parker.is_lit(), "its parker panicked");
        assert_eq!(stopped.get(), 2);
    });
}

/// No worker is left to run the job or the future, and only timeouts and the log say so. They are dropped with the last
/// handle, or by `shutdown_now`.
pub(crate) fn jobs_wait_in_vain_for_lost_workers(subject: &impl Fn() -> Brittle) {
    wait_in_vain(subject(), "lost-then-let-go", drop);
    wait_in_vain(subject(), "lost-then-discarded", |pool| assert_eq!(pool.shutdown_now().discarded, 2));
}

fn wait_in_vain(parker: Brittle, name: &str, end: impl FnOnce(ThreadPool<Brittle>)) {
    log_book::open();
    within(|| {
        let builder = ThreadPool::builder().threads(1).idle(Idle::PARK).parker(parker.clone()).name(name);
        let pool = builder.build().expect("one thread");
        pool.execute(move || parker.light(Event::StartLooking));
        until("the worker is gone", || pool.stats().workers == 0);
        let told = log_book::of_all_threads(name);
        assert!(matches!(&told[..], [(log::Level::Error, what)] if what.contains("its parker panicked")), "{told:?}");
        let (ran, dropped) = (Counter::default(), Counter::default());
        let (count, witness) = (ran.clone(), Witness(dropped.clone()));
        pool.execute(move || {
            let _captured = &witness;
            count.add();
        });
        let witness = Witness(dropped.clone());
        pool.spawn(async move { drop(witness) }).detach();
        let time = Duration::from_millis(2);
        assert_eq!(pool.join_timeout(time), Err(WaitError::TimedOut));
        match pool.shutdown_timeout(time) {
            Err(ShutdownError::TimedOut { report, .. }) => assert_eq!((report.queued, report.running), (2, 0)),
            other => panic!("two jobs wait, but: {other:?}"),
        }
        assert_eq!((ran.get(), dropped.get()), (0, 0));
        end(pool);
        assert_eq!((ran.get(), dropped.get()), (0, 2));
    });
}

/// The worker is lost over one job, whose destructor drops the last handle, and another waits.
pub(crate) fn a_future_is_dropped_with_the_last_worker(subject: &impl Fn() -> Brittle) {
    #[expect(dead_code, reason = "its fields are only dropped, one after the other")]
    struct Last(Waits, ThreadPool<Brittle>);
    struct Waits(Gate);
    impl Drop for Waits {
        fn drop(&mut self) {
            self.0.pass();
        }
    }

    within(|| {
        let parker = subject();
        let pool = ThreadPool::builder().threads(1).idle(Idle::PARK).parker(parker.clone()).build();
        let pool = pool.expect("one thread");
        until("the worker is asleep", || parker.parked.load(SeqCst) == 1);
        parker.light(Event::StopLooking);
        let (gate, dropped) = (Gate::default(), Counter::default());
        let last = Last(Waits(gate.clone()), pool.clone());
        pool.execute(move || drop(last));
        let witness = Witness(dropped.clone());
        pool.spawn(async move { drop(witness) }).detach();
        until("the worker is lost", || !parker.is_lit());
        drop(pool);
        gate.open();
        until("the future is dropped", || dropped.get() == 1);
    });
}

/// A worker that begins calls another for the jobs that wait before it calls the hook, which may take long.
pub(crate) fn a_panic_before_the_start_hook_costs_no_worker(subject: &impl Fn() -> Brittle) {
    within(|| {
        let (parker, first, started, stopped) = (subject(), Gate::default(), Counter::default(), Counter::default());
        let (gate, starts, stops) = (first.clone(), started.clone(), stopped.clone());
        let start = move |worker| {
            if worker == 0 {
                gate.pass();
            }
            starts.add();
        };
        parker.light(Event::SecondAsks);
        let builder = ThreadPool::builder().threads(2).idle(Idle::PARK).parker(parker.clone());
        let pool = builder.on_start(start).on_stop(move |_| stops.add()).build().expect("two threads");
        assert_eq!(pool.submit(|| 7).wait().expect("no panic"), 7, "the second worker was started for it");
        assert!(!parker.is_lit(), "its parker panicked");
        assert_eq!((started.get(), pool.stats().workers), (1, 2));
        first.open();
        pool.shutdown().expect("nothing blocks");
        assert_eq!((started.get(), stopped.get()), (2, 2));
    });
}

/// Forwards all to a parker of the crate, and counts the jobs that it is told of.
#[derive(Clone, Debug)]
pub(crate) struct Wrapper {
    parker: DynParker,
    /// Whether it also forwards the questions about sleepers; a parker written before there were these does not.
    answers: bool,
    /// The answer for every job that may need a call, in place of the parker's.
    needs_call: Option<bool>,
    /// Says that a worker is coming, whatever the parker says.
    always_one_coming: bool,
    arrived: Arc<AtomicUsize>,
    /// How many submitters have given way, and have gone on.
    gave_way: Arc<AtomicUsize>,
    went_on: Arc<AtomicUsize>,
    /// Panics whenever this thread tells it of a job. (A worker that told it of one would be lost.)
    panics: Arc<Mutex<Option<ThreadId>>>,
}

impl Wrapper {
    pub(crate) fn answering(answers: bool) -> Self {
        let parker = parker::small().dynamic().expect("it has no clones");
        Wrapper {
            parker,
            answers,
            needs_call: None,
            always_one_coming: false,
            arrived: Arc::default(),
            gave_way: Arc::default(),
            went_on: Arc::default(),
            panics: Arc::default(),
        }
    }

    fn arrived(&self) -> usize {
        self.arrived.load(SeqCst)
    }
}

impl Parker for Wrapper {
    fn max_threads(&self) -> Option<usize> {
        self.parker.max_threads()
    }

    fn init(&self, thread_id: usize) {
        self.parker.init(thread_id);
    }

    fn leave(&self, thread_id: usize) {
        self.parker.leave(thread_id);
    }

    fn prepare_park(&self, thread_id: usize) {
        self.parker.prepare_park(thread_id);
    }

    fn abort_park(&self, thread_id: usize) {
        self.parker.abort_park(thread_id);
    }

    fn park(&self, thread_id: usize) -> ParkResult {
        self.parker.park(thread_id)
    }

    fn unpark_one(&self) {
        self.parker.unpark_one();
    }

    fn unpark(&self, thread_id: usize) {
        self.parker.unpark(thread_id);
    }

    fn unpark_all(&self) {
        self.parker.unpark_all();
    }

    fn prepare_nap(&self, thread_id: usize) -> bool {
        self.parker.prepare_nap(thread_id)
    }

    fn nap(&self, thread_id: usize, duration: Duration) {
        self.parker.nap(thread_id, duration);
    }

    fn is_anybody_free(&self) -> bool {
        self.parker.is_anybody_free()
    }

    fn is_anybody_asleep(&self) -> bool {
        !self.answers || self.parker.is_anybody_asleep()
    }

    fn needs_call(&self, origin: Origin) -> bool {
        self.needs_call.unwrap_or_else(|| !self.answers || self.parker.needs_call(origin))
    }

    fn job_arrived(&self, origin: Origin) {
        self.arrived.fetch_add(1, SeqCst);
        if *self.panics.lock().expect("no panic under this lock") == Some(thread::current().id()) {
            panic_quietly("a parker");
        }
        self.parker.job_arrived(origin);
    }

    fn start_looking(&self, thread_id: usize) -> bool {
        self.parker.start_looking(thread_id)
    }

    fn stop_looking(&self, thread_id: usize) -> bool {
        self.parker.stop_looking(thread_id)
    }

    fn step_aside(&self, thread_id: usize) -> bool {
        self.parker.step_aside(thread_id)
    }

    fn come_back(&self, thread_id: usize) {
        self.parker.come_back(thread_id);
    }

    fn is_one_coming(&self) -> bool {
        self.always_one_coming || self.parker.is_one_coming()
    }

    fn give_way(&self) {
        self.gave_way.fetch_add(1, SeqCst);
        self.parker.give_way();
    }

    fn go_on(&self) -> bool {
        self.went_on.fetch_add(1, SeqCst);
        self.parker.go_on()
    }

    fn wake_ups(&self) -> u64 {
        self.parker.wake_ups()
    }
}

pub(crate) fn a_parker_is_told_of_jobs_unless_no_worker_sleeps(subject: &impl Fn(bool) -> Wrapper) {
    const JOBS: usize = 10;
    for answers in [false, true] {
        within(|| {
            let parker = subject(answers);
            let builder = ThreadPool::builder().threads(1).idle(Idle::PARK).parker(parker.clone());
            let pool = builder.build().expect("one thread");
            let gate = occupy(&pool, 1);
            let before = parker.arrived();
            (0..JOBS).for_each(|_| pool.execute(|| ()));
            assert_eq!(parker.arrived() - before, if answers { 0 } else { JOBS }, "the worker is awake");
            gate.open();
            until("the worker is asleep", || parker.parker.is_anybody_asleep());
            assert_eq!(pool.submit(|| 7).wait().expect("no panic"), 7);
            assert!(parker.arrived() > before, "the worker was asleep");
            pool.shutdown().expect("nothing blocks");
        });
    }
}

/// The thread that submits jobs gets the panic, however often the parker panics; and the jobs that are in run.
pub(crate) fn a_parker_that_keeps_panicking_does_not_end_the_process(subject: &impl Fn(bool) -> Wrapper) {
    Child::default().run(|| {
        let parker = subject(false);
        let builder = ThreadPool::builder().threads(1).idle(Idle::PARK).parker(parker.clone());
        let (pool, ran) = (builder.build().expect("one thread"), Counter::default());
        let job = |_| {
            let ran = ran.clone();
            move || ran.add()
        };
        let panics = |panics: bool| {
            *parker.panics.lock().expect("no panic under this lock") = panics.then(|| thread::current().id());
        };
        panics(true);
        for jobs in [1, 10] {
            let batch = || pool.execute_batch((0..jobs).map(job));
            assert!(catch_unwind(AssertUnwindSafe(batch)).is_err(), "the submitter gets the panic");
        }
        // Also while a panic of the iterator is being propagated.
        panics(false);
        let jobs = (0..10).map(|number| {
            if number == 2 {
                panics(true);
                panic_quietly("the iterator");
            }
            job(number)
        });
        let thrown = catch_unwind(AssertUnwindSafe(|| pool.execute_batch(jobs))).expect_err("the iterator panics");
        assert_eq!(thrown.downcast_ref(), Some(&"the iterator"));
        panics(false);
        pool.execute(|| ());
        pool.join().expect("this is no worker");
        assert_eq!(ran.get(), 4, "of each batch those before the panic are in");
        pool.shutdown().expect("nothing blocks");
    });
}

pub(crate) fn a_parker_is_told_of_jobs_from_inside_that_need_a_call(subject: &impl Fn(bool) -> Wrapper) {
    const JOBS: usize = 10;
    for needs_call in [false, true] {
        within(|| {
            let parker = Wrapper { needs_call: Some(needs_call), ..subject(false) };
            let builder = ThreadPool::builder().threads(1).idle(Idle::PARK).parker(parker.clone());
            let pool = builder.build().expect("one thread");
            let giver = pool.clone();
            let told = pool.submit(move || {
                let before = parker.arrived();
                (0..JOBS).for_each(|_| giver.execute(|| ()));
                parker.arrived() - before
            });
            assert_eq!(told.wait().expect("no panic"), if needs_call { JOBS } else { 0 });
            pool.shutdown().expect("nothing blocks");
        });
    }
}

/// A submitter that gives few jobs now and then gives way, if a worker is coming, and goes on; and its jobs run.
pub(crate) fn a_parker_is_told_that_a_submitter_gives_way_and_goes_on(subject: &impl Fn(bool) -> Wrapper) {
    within(|| {
        let parker = Wrapper { always_one_coming: true, ..subject(true) };
        let builder = ThreadPool::builder().threads(2).preheat(2).idle(Idle::PARK).parker(parker.clone());
        let (pool, ran) = (builder.build().expect("two threads"), Counter::default());
        let mut given = 0;
        let gives_way = || {
            given += 2;
            let give = || {
                let ran = ran.clone();
                pool.execute(move || ran.add());
            };
            // From a thread that has never come back late from a yield.
            thread::scope(|scope| _ = scope.spawn(|| (0..2).for_each(|_| give())));
            parker.gave_way.load(SeqCst) > 0
        };
        until("a submitter has given way", gives_way);
        pool.join().expect("this is no worker");
        assert_eq!(ran.get(), given);
        assert_eq!(parker.gave_way.load(SeqCst), parker.went_on.load(SeqCst));
        pool.shutdown().expect("nothing blocks");
    });
}

/// The last handle is dropped by a worker that is in no job: that looks for one, for ever, or is about to sleep.
pub(crate) fn a_parker_may_drop_the_last_handle(subject: &impl Fn() -> Brittle) {
    for (until, spin) in [(Event::StartLooking, Duration::MAX), (Event::Prepare, Duration::ZERO)] {
        within(|| {
            let (parker, life) = (subject(), Life::new());
            let mark = life.mark();
            let builder = ThreadPool::builder().threads(2).idle(Idle::Park { spin }).parker(parker.clone());
            let pool = builder.panic_handler(move |_| drop(mark.clone())).build().expect("two threads");
            let gate = occupy(&pool, 1);
            parker.keep_until(until, pool);
            gate.open();
            life.until_over();
            assert!(!parker.is_lit());
        });
    }
}

/// No job gets the panic, and no worker is lost.
pub(crate) fn a_panic_while_a_worker_closes_the_pool_is_contained(subject: &impl Fn() -> Brittle) {
    within(|| {
        let parker = subject();
        let (pool, stopped) = pool_with(&parker);
        let (gate, (tell, told)) = (occupy(&pool, 1), mpsc::channel());
        let last = pool.clone();
        pool.execute(move || {
            drop(last);
            told.recv().expect("the test tells");
        });
        parker.light(Event::UnparkAll);
        drop(pool);
        tell.send(()).expect("the job listens");
        gate.open();
        until("both workers have stopped", || stopped.get() == 2);
        assert!(!parker.is_lit(), "its parker panicked");
        assert_eq!(parker.gone.load(SeqCst), 0, "no worker was lost");
    });
}
