//! How soon can 1000 sleeps of 1 ms on 128 threads be over, without a pool?
//!
//! Threads that are there already, and wait, are released; each sleeps its share, or as often as a common counter
//! says, and says that it is done. There is no queue, and nothing to decide: what that takes is the floor for the
//! experiment `blocking`. Pools take turns with it here, with the same sleeps as jobs, so that what they take beyond
//! it can be seen; those whose threads are there already, and new ones, whose threads start as the jobs come. The end
//! of a new pool is not counted in its time, but in the CPU time.
//!
//! `cargo run --release -p executor-performance --features peers --example sleepers -- [SECONDS]`
//!
//! With 0 seconds it takes a single round.

use executor_performance::clock::cpu_time;
use executors::{Executor, elastic_pool};
use std::{
    env,
    error::Error,
    sync::{
        Arc, Condvar, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, Thread},
    time::{Duration, Instant},
};

const THREADS: usize = 128;
const JOBS: usize = 1000;
const SLEEP: Duration = Duration::from_millis(1);
/// So long before each turn, so that all threads sleep.
const PAUSE: Duration = Duration::from_millis(5);

const KEEP_ALIVE: Duration = Duration::from_secs(60);

const ONE_SLEEP: &str = "1 sleep of one thread";

/// Something that sleeps, and returns when it has, with what has to be done before the next turn.
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
        // Each begins a round as often as any other.
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
        // Nobody can sleep less, so whoever took less has not done all.
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
        ("new bare threads: shares, started one by one", Box::new(new_bare)),
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

/// How many of the jobs are a thread's, if all have as many or one less.
fn share(thread: usize) -> usize {
    JOBS / THREADS + usize::from(thread < JOBS % THREADS)
}

type Job = Box<dyn FnOnce() + Send>;

/// A pool, to which `execute` gives a job.
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

fn new_bare() -> Rest {
    let start = |number| thread::spawn(move || (0..share(number)).for_each(|_| thread::sleep(SLEEP)));
    let threads: Vec<_> = (0..THREADS).map(start).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("it only sleeps"));
    nothing()
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

/// How threads are released.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Release {
    Together,
    OneByOne,
    AsTree,
}

/// Who sleeps how often.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Split {
    /// Each thread its share, however late it comes.
    Shares,
    /// Each as often as there is something left.
    Counter,
}

/// Threads without a pool.
fn bare(release: Release, split: Split) -> Subject {
    let crew = Arc::new(Bare {
        release,
        split,
        left: AtomicUsize::new(0),
        rounds: AtomicUsize::new(0),
        lock: Mutex::new(()),
        begins: Condvar::new(),
        countdown: Mutex::new(Arc::new(Countdown::of(0))),
        threads: OnceLock::new(),
    });
    let start = |number| {
        let crew = Arc::clone(&crew);
        thread::spawn(move || crew.sleep_in_each_round(number)).thread().clone()
    };
    let threads = (0..THREADS).map(start).collect();
    crew.threads.set(threads).expect("this is the first time");
    Box::new(move || {
        crew.take_a_round();
        nothing()
    })
}

struct Bare {
    release: Release,
    split: Split,
    /// Sleeps that nobody has begun.
    left: AtomicUsize,
    /// How many have begun.
    rounds: AtomicUsize,
    lock: Mutex<()>,
    begins: Condvar,
    /// That of the current round.
    countdown: Mutex<Arc<Countdown>>,
    threads: OnceLock<Vec<Thread>>,
}

impl Bare {
    fn take_a_round(&self) {
        let countdown = Arc::new(Countdown::of(THREADS));
        *self.countdown.lock().unwrap() = Arc::clone(&countdown);
        self.left.store(JOBS, SeqCst);
        let threads = self.threads.get().expect("all have been started");
        let guard = self.lock.lock().unwrap();
        self.rounds.fetch_add(1, SeqCst);
        drop(guard);
        match self.release {
            Release::Together => self.begins.notify_all(),
            Release::OneByOne => threads.iter().for_each(Thread::unpark),
            Release::AsTree => threads[0].unpark(),
        }
        countdown.wait();
    }

    /// Thread `number`, until the program ends.
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
            let countdown = Arc::clone(&self.countdown.lock().unwrap());
            match self.split {
                Split::Shares => (0..share(number)).for_each(|_| thread::sleep(SLEEP)),
                Split::Counter => {
                    while self.begins_another() {
                        thread::sleep(SLEEP);
                    }
                }
            }
            countdown.count();
        }
    }

    fn begins_another(&self) -> bool {
        self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
    }
}

/// Wakes its maker when it has come to zero.
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
