//! What does it cost a submitter that a thread is started for its job?
//!
//! A hundred jobs, each of which blocks until the last has been submitted, so that each starts a thread; what counts is
//! how long each call takes. The pools have no threads to begin with, and a core of none or of a hundred. They take
//! turns with threads that are started without a pool.
//!
//! `cargo run --release -p executor-performance --features peers --example growing -- [SECONDS]`
//!
//! With 0 seconds it runs a single round.

use executor_performance::clock::cpu_time;
use executors::{Executor, elastic_pool};
use std::{
    cell::RefCell,
    env,
    error::Error,
    sync::{Arc, RwLock},
    thread,
    time::{Duration, Instant},
};

const JOBS: usize = 100;
/// The pause after each turn, in which its threads end, and before the next.
const PAUSE: Duration = Duration::from_millis(10);
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// Submits the jobs, and returns how long each call took.
type Subject = fn() -> Vec<Duration>;

const SUBJECTS: [(&str, Subject); 5] = [
    ("elastic, core 0", || elastic(0)),
    ("rusty_pool, core 0", || rusty(0)),
    ("elastic, core 100", || elastic(JOBS)),
    ("rusty_pool, core 100", || rusty(JOBS)),
    ("`std::thread::Builder::spawn`", threads),
];

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = env::args().nth(1).map_or(Ok(10), |text| text.parse())?;
    let mut turns: [Vec<Turn>; SUBJECTS.len()] = Default::default();
    let begin = Instant::now();
    loop {
        // Each subject begins a round as often as any other.
        let first = turns[0].len();
        for turn in 0..SUBJECTS.len() {
            let subject = (first + turn) % SUBJECTS.len();
            turns[subject].push(Turn::take(SUBJECTS[subject].1));
        }
        if begin.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
    }
    println!("{} rounds: us for each job, medians (quartiles)\n", turns[0].len());
    println!("| | median of a round | mean of a round | CPU, with that of the threads |\n|---|---:|---:|---:|");
    for ((name, _), turns) in SUBJECTS.iter().zip(&turns) {
        let column = |figure: fn(&Turn) -> Duration| quartiles(turns.iter().map(figure).collect());
        println!(
            "| {name} | {} | {} | {} |",
            column(|turn| turn.median),
            column(|turn| turn.mean),
            column(|turn| turn.cpu)
        );
    }
    Ok(())
}

/// The times for each job.
struct Turn {
    median: Duration,
    mean: Duration,
    cpu: Duration,
}

impl Turn {
    fn take(subject: Subject) -> Self {
        let cpu = cpu_time();
        let mut calls = subject();
        thread::sleep(PAUSE);
        let cpu = cpu_time().zip(cpu).map(|(now, then)| now - then).unwrap_or_default();
        calls.sort_unstable();
        let sum: Duration = calls.iter().sum();
        Turn { median: calls[JOBS / 2], mean: sum / JOBS as u32, cpu: cpu / JOBS as u32 }
    }
}

fn quartiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let quartile = |number: usize| times[(times.len() - 1) * number / 4].as_secs_f64() * 1e6;
    format!("{:.1} ({:.1}-{:.1})", quartile(2), quartile(1), quartile(3))
}

fn elastic(core: usize) -> Vec<Duration> {
    let pool = elastic_pool::ThreadPool::new(core, JOBS, KEEP_ALIVE);
    let calls = calls(|guest| pool.execute(move || guest.wait()), || pool.worker_count());
    pool.shutdown().expect("no job blocks any more");
    calls
}

fn rusty(core: usize) -> Vec<Duration> {
    let pool = rusty_pool::ThreadPool::new(core, JOBS, KEEP_ALIVE);
    let calls = calls(|guest| pool.execute(move || guest.wait()), || pool.get_current_worker_count());
    pool.shutdown_join();
    calls
}

fn threads() -> Vec<Duration> {
    let threads = RefCell::new(Vec::new());
    let start = |guest: Guest| {
        let builder = thread::Builder::new().name("bare".to_owned());
        threads.borrow_mut().push(builder.spawn(move || guest.wait()).expect("this many are possible"));
    };
    let calls = calls(start, || threads.borrow().len());
    threads.into_inner().into_iter().for_each(|thread| thread.join().expect("it only waits"));
    calls
}

/// How long each call of `give` takes. Requires that each has started one of the `threads`.
fn calls(mut give: impl FnMut(Guest), threads: impl FnOnce() -> usize) -> Vec<Duration> {
    let door = Arc::new(RwLock::new(()));
    let _closed = door.write().unwrap();
    let call = |_| {
        let guest = Guest(Arc::clone(&door));
        let begin = Instant::now();
        give(guest);
        begin.elapsed()
    };
    let calls = (0..JOBS).map(call).collect();
    assert_eq!(threads(), JOBS, "threads that block");
    calls
}

/// What a job does.
struct Guest(Arc<RwLock<()>>);

impl Guest {
    /// Waits until all jobs have been submitted.
    fn wait(self) {
        drop(self.0.read().unwrap());
    }
}
