//! How soon can 1000 sleeps of 1 ms on 128 threads be over, without a pool?
//!
//! Threads that exist already, and wait, are released; or new ones are started. Each sleeps its share, or as often as a
//! common counter says, and says that it is done. There is no queue, and nothing to decide: what that takes is the
//! floor for the experiment `blocking`. Pools take turns with it here, with the same sleeps as jobs, so that what they
//! take beyond it can be seen: pools whose threads exist already, and new ones, whose threads start as the jobs come.
//! The end of new threads is not counted in the time, but in the CPU time.
//!
//! `cargo run --release -p executor-performance --features peers --example sleepers -- [SECONDS]`
//!
//! With 0 seconds it runs a single round.

use executor_performance::clock::cpu_time;
use executors::{Executor, elastic_pool};
use std::{
    env,
    error::Error,
    ops::Range,
    sync::{
        Arc, Condvar, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, JoinHandle, Thread},
    time::{Duration, Instant},
};

const THREADS: usize = 128;
const JOBS: usize = 1000;
const SLEEP: Duration = Duration::from_millis(1);
/// The pause before each turn, so that all threads sleep.
const PAUSE: Duration = Duration::from_millis(5);

const KEEP_ALIVE: Duration = Duration::from_secs(60);

const ONE_SLEEP: &str = "1 sleep of one thread";

/// Something that sleeps, and then returns what has to be done before the next turn.
type Subject = Box<dyn Fn() -> Rest>;
type Rest = Box<dyn FnOnce()>;

#[derive(Default)]
struct Turns {
    times: Vec<Duration>,
    cpu: Vec<Duration>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = env::args().nth(1).map_or(Ok(10), |text| text.parse())?;
    let subjects = subjects();
    let mut turns: Vec<Turns> = subjects.iter().map(|_| Turns::default()).collect();
    let begin = Instant::now();
    loop {
        // Each subject begins a round as often as any other.
        let first = turns[0].times.len();
        for turn in 0..subjects.len() {
            let subject = (first + turn) % subjects.len();
            turns[subject].take(&subjects[subject].1);
        }
        if begin.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
    }
    println!("{} rounds: ms, medians (quartiles)\n", turns[0].times.len());
    println!("| who sleeps | all have slept | CPU |\n|---|---:|---:|");
    for ((name, _), turns) in subjects.iter().zip(turns) {
        // No subject can sleep for less, so one that took less has not done all.
        let sleeps = if *name == ONE_SLEEP { 1 } else { share(0) };
        let shortest = turns.times.iter().min().expect("there was a round");
        assert!(*shortest >= SLEEP * u32::try_from(sleeps)?, "{name} took {shortest:?} only");
        println!("| {name} | {} | {} |", quartiles(turns.times), quartiles(turns.cpu));
    }
    Ok(())
}

impl Turns {
    fn take(&mut self, subject: &Subject) {
        thread::sleep(PAUSE);
        let (begin, cpu) = (Instant::now(), cpu_time());
        let rest = subject();
        self.times.push(begin.elapsed());
        rest();
        self.cpu.push(cpu_time().zip(cpu).map(|(now, then)| now - then).unwrap_or_default());
    }
}

fn quartiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let quartile = |number: usize| times[(times.len() - 1) * number / 4].as_secs_f64() * 1e3;
    format!("{:.2} ({:.2}-{:.2})", quartile(2), quartile(1), quartile(3))
}

fn subjects() -> Vec<(&'static str, Subject)> {
    let elastic = elastic_pool::ThreadPool::new(THREADS, THREADS, KEEP_ALIVE);
    elastic.start_core_threads();
    let rusty = rusty_pool::ThreadPool::new(THREADS, THREADS, KEEP_ALIVE);
    rusty.start_core_threads();
    vec![
        (ONE_SLEEP, alone(1)),
        ("8 sleeps of one thread", alone(share(0))),
        ("bare threads: shares, one call for all", bare(Release::Together, Split::Shares)),
        ("bare threads: shares, called one by one", bare(Release::OneByOne, Split::Shares)),
        ("bare threads: shares, each calls two more", bare(Release::AsTree, Split::Shares)),
        ("bare threads: a counter, called one by one", bare(Release::OneByOne, Split::Counter)),
        ("bare threads: a counter, each calls two more", bare(Release::AsTree, Split::Counter)),
        ("`elastic_pool`, started", warm(move |job| elastic.execute(job))),
        ("`rusty_pool`, started", warm(move |job| rusty.execute(job))),
        ("new `elastic_pool`, core 128", new_elastic(THREADS)),
        ("new `elastic_pool`, core 0", new_elastic(0)),
        ("new `rusty_pool`, core 128", new_rusty(THREADS)),
        ("new bare threads: shares, started one by one", new_bare(Start::OneByOne, Split::Shares)),
        ("new bare threads: shares, half of them started by a helper", new_bare(Start::ByTwo, Split::Shares)),
        ("new bare threads: shares, each starts two more", new_bare(Start::AsTree, Split::Shares)),
        ("new bare threads: a counter, started one by one", new_bare(Start::OneByOne, Split::Counter)),
        ("new bare threads: a counter, half of them started by a helper", new_bare(Start::ByTwo, Split::Counter)),
        ("new bare threads: a counter, each starts two more", new_bare(Start::AsTree, Split::Counter)),
    ]
}

fn alone(sleeps: usize) -> Subject {
    Box::new(move || {
        (0..sleeps).for_each(|_| thread::sleep(SLEEP));
        nothing()
    })
}

fn nothing() -> Rest {
    Box::new(|| ())
}

/// How many of the jobs a thread gets if they are divided evenly.
fn share(thread: usize) -> usize {
    JOBS / THREADS + usize::from(thread < JOBS % THREADS)
}

type Job = Box<dyn FnOnce() + Send>;

/// A pool whose threads exist already; `execute` gives it a job.
fn warm(execute: impl Fn(Job) + 'static) -> Subject {
    Box::new(move || {
        run_all(&execute);
        nothing()
    })
}

fn new_elastic(core: usize) -> Subject {
    Box::new(move || {
        let pool = elastic_pool::ThreadPool::new(core, THREADS, KEEP_ALIVE);
        run_all(&|job| pool.execute(job));
        Box::new(move || pool.shutdown().expect("all have slept"))
    })
}

fn new_rusty(core: usize) -> Subject {
    Box::new(move || {
        let pool = rusty_pool::ThreadPool::new(core, THREADS, KEEP_ALIVE);
        run_all(&|job| pool.execute(job));
        Box::new(|| pool.shutdown_join())
    })
}

/// Gives all jobs to `execute`, and waits until they have run.
fn run_all(execute: &dyn Fn(Job)) {
    let countdown = Arc::new(Countdown::of(JOBS));
    for _ in 0..JOBS {
        let countdown = Arc::clone(&countdown);
        execute(Box::new(move || {
            thread::sleep(SLEEP);
            countdown.count();
        }));
    }
    countdown.wait();
}

/// How the sleeps are divided.
#[derive(Clone, Copy)]
enum Split {
    /// Each thread sleeps its share, however late it comes.
    Shares,
    /// Each thread sleeps as long as there are sleeps left.
    Counter,
}

/// All sleeps of one turn, for threads without a pool.
struct Sleeps {
    split: Split,
    /// Those that no thread has begun.
    left: AtomicUsize,
    threads: Countdown,
}

impl Sleeps {
    fn new(split: Split) -> Arc<Self> {
        Arc::new(Sleeps { split, left: AtomicUsize::new(JOBS), threads: Countdown::of(THREADS) })
    }

    /// What thread `number` does.
    fn do_part(&self, number: usize) {
        match self.split {
            Split::Shares => (0..share(number)).for_each(|_| thread::sleep(SLEEP)),
            Split::Counter => {
                while self.begins_another() {
                    thread::sleep(SLEEP);
                }
            }
        }
        self.threads.count();
    }

    fn begins_another(&self) -> bool {
        self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
    }
}

/// How new threads are started.
#[derive(Clone, Copy)]
enum Start {
    OneByOne,
    /// Half of them by one more thread.
    ByTwo,
    /// Each starts two more, and then sleeps.
    AsTree,
}

/// New threads in each turn, without a pool.
fn new_bare(start: Start, split: Split) -> Subject {
    Box::new(move || {
        let sleeps = Sleeps::new(split);
        let threads = match start {
            Start::OneByOne => start_each(0..THREADS, &sleeps),
            Start::ByTwo => {
                let others = Arc::clone(&sleeps);
                let helper = thread::spawn(move || join(start_each(THREADS / 2..THREADS, &others)));
                let mut threads = start_each(0..THREADS / 2, &sleeps);
                threads.push(helper);
                threads
            }
            Start::AsTree => vec![start_branch(0, Arc::clone(&sleeps))],
        };
        sleeps.threads.wait();
        Box::new(|| join(threads))
    })
}

fn start_each(numbers: Range<usize>, sleeps: &Arc<Sleeps>) -> Vec<JoinHandle<()>> {
    let start = |number| {
        let sleeps = Arc::clone(sleeps);
        thread::spawn(move || sleeps.do_part(number))
    };
    numbers.map(start).collect()
}

/// Thread `number`, and those that it starts.
fn start_branch(number: usize, sleeps: Arc<Sleeps>) -> JoinHandle<()> {
    thread::spawn(move || {
        let children = (2 * number + 1..THREADS).take(2);
        let children = children.map(|child| start_branch(child, Arc::clone(&sleeps))).collect();
        sleeps.do_part(number);
        join(children);
    })
}

fn join(threads: Vec<JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().expect("it only sleeps"));
}

/// How threads that wait are released.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Release {
    Together,
    OneByOne,
    AsTree,
}

/// Threads that are there in each turn, without a pool.
fn bare(release: Release, split: Split) -> Subject {
    let crew = Arc::new(Bare {
        release,
        rounds: AtomicUsize::new(0),
        lock: Mutex::new(()),
        begins: Condvar::new(),
        sleeps: Mutex::new(Sleeps::new(split)),
        threads: OnceLock::new(),
    });
    let start = |number| {
        let crew = Arc::clone(&crew);
        thread::spawn(move || crew.sleep_in_each_round(number)).thread().clone()
    };
    let threads = (0..THREADS).map(start).collect();
    crew.threads.set(threads).expect("this is the first time");
    Box::new(move || {
        crew.take_a_round(Sleeps::new(split));
        nothing()
    })
}

struct Bare {
    release: Release,
    /// How many rounds have begun.
    rounds: AtomicUsize,
    lock: Mutex<()>,
    begins: Condvar,
    /// The sleeps of the current round.
    sleeps: Mutex<Arc<Sleeps>>,
    threads: OnceLock<Vec<Thread>>,
}

impl Bare {
    fn take_a_round(&self, sleeps: Arc<Sleeps>) {
        *self.sleeps.lock().unwrap() = Arc::clone(&sleeps);
        let threads = self.threads.get().expect("all have been started");
        let guard = self.lock.lock().unwrap();
        self.rounds.fetch_add(1, SeqCst);
        drop(guard);
        match self.release {
            Release::Together => self.begins.notify_all(),
            Release::OneByOne => threads.iter().for_each(Thread::unpark),
            Release::AsTree => threads[0].unpark(),
        }
        sleeps.threads.wait();
    }

    /// What thread `number` does until the program ends.
    fn sleep_in_each_round(&self, number: usize) {
        for round in 1.. {
            let has_begun = || self.rounds.load(SeqCst) >= round;
            if self.release == Release::Together {
                let guard = self.lock.lock().unwrap();
                drop(self.begins.wait_while(guard, |()| !has_begun()).unwrap());
            } else {
                while !has_begun() {
                    thread::park();
                }
            }
            if self.release == Release::AsTree {
                let threads = self.threads.get().expect("all have been started");
                threads.iter().skip(2 * number + 1).take(2).for_each(Thread::unpark);
            }
            let sleeps = Arc::clone(&self.sleeps.lock().unwrap());
            sleeps.do_part(number);
        }
    }
}

/// Wakes the thread that made it when it has come to zero.
struct Countdown {
    left: AtomicUsize,
    maker: Thread,
}

impl Countdown {
    fn of(left: usize) -> Self {
        Countdown { left: AtomicUsize::new(left), maker: thread::current() }
    }

    fn count(&self) {
        if self.left.fetch_sub(1, SeqCst) == 1 {
            self.maker.unpark();
        }
    }

    fn wait(&self) {
        while self.left.load(SeqCst) > 0 {
            thread::park();
        }
    }
}
