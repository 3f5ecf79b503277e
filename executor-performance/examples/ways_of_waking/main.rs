//! How soon do sleeping threads begin if all are woken at once, and what does that take? In each of the ways in which a
//! system can wake them, without a pool.
//!
//! A producer waits for as many milliseconds as the experiment `wake` does, reads the clock, says that it is time, and
//! wakes all threads. Each thread reads the clock when it has woken, and goes back to sleep. The ways take turns.
//!
//! `cargo run --release -p executor-performance --example ways_of_waking -- [SECONDS]`
//!
//! With 0 seconds it runs a single round of each number of threads.

#[cfg(target_os = "linux")]
mod linux;
mod portable;

#[cfg(target_os = "linux")]
use self::linux::ways as ways_of_this_system;
use executor_performance::{clock::cpu_time, stats::Distribution};
use std::{
    env,
    error::Error,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, Thread},
    time::{Duration, Instant},
};

const SIZES: [usize; 3] = [2, 4, 10];
/// The pause after each turn, in which its threads fall asleep, and before the next.
const PAUSE: Duration = Duration::from_millis(5);

/// How threads sleep and are woken.
trait Way: Send + Sync {
    /// Sleeps, as thread `number`, until `is_time`. To be called once for each call of `wake`.
    fn sleep(&self, number: usize, is_time: &dyn Fn() -> bool);

    /// Wakes all `threads`, now that it is time.
    fn wake(&self, threads: &[Thread]);

    /// What thread `number` does for the others before it begins.
    fn pass_on(&self, _number: usize, _threads: &[Thread]) {}
}

fn main() -> Result<(), Box<dyn Error>> {
    let seconds: u32 = env::args().nth(1).map_or(Ok(30), |text| text.parse())?;
    for size in SIZES {
        measure(size, Duration::from_secs(seconds.into()) / SIZES.len() as u32);
    }
    Ok(())
}

fn measure(size: usize, budget: Duration) {
    let mut subjects: Vec<(&str, Subject)> = ways(size).map(|(name, way)| (name, Subject::start(size, way))).collect();
    thread::sleep(PAUSE);
    let begin = Instant::now();
    let mut rounds = 0;
    loop {
        // Each way begins a round as often as any other.
        subjects.rotate_left(1);
        subjects.iter_mut().for_each(|(_, subject)| subject.take_turn());
        rounds += 1;
        if begin.elapsed() >= budget {
            break;
        }
    }
    // Restores the order of the ways.
    let count = subjects.len();
    subjects.rotate_right(rounds % count);
    println!("**{size} threads**, {rounds} rounds:\n");
    println!("| way | mean us | p20 | p40 | p60 | p80 | p99 | CPU us |\n|---|---:|---:|---:|---:|---:|---:|---:|");
    for (name, subject) in subjects {
        let delays = Distribution::of(subject.delays).expect("there was a round");
        print!("| {name} | {:.1} |", delays.mean_us());
        for part in [0.2, 0.4, 0.6, 0.8, 0.99] {
            print!(" {:.1} |", delays.quantile_us(part));
        }
        println!(" {:.0} |", subject.cpu.as_secs_f64() * 1e6 / rounds as f64);
    }
    println!();
}

fn ways(size: usize) -> impl Iterator<Item = (&'static str, Box<dyn Way>)> {
    portable::ways(size).into_iter().chain(ways_of_this_system(size))
}

#[cfg(not(target_os = "linux"))]
fn ways_of_this_system(_size: usize) -> Vec<(&'static str, Box<dyn Way>)> {
    Vec::new()
}

/// Some threads that are woken in one way.
struct Subject {
    crew: Arc<Crew>,
    /// From the beginning of each turn to the arrival of each thread.
    delays: Vec<Duration>,
    /// The CPU time of all turns, including that of falling asleep again.
    cpu: Duration,
}

impl Subject {
    fn start(size: usize, way: Box<dyn Way>) -> Self {
        let crew = Arc::new(Crew {
            way,
            turns: AtomicUsize::new(0),
            absent: AtomicUsize::new(0),
            arrivals: Mutex::new(Vec::new()),
            producer: thread::current(),
            threads: OnceLock::new(),
        });
        let start = |number| {
            let crew = Arc::clone(&crew);
            thread::spawn(move || crew.sleep_until_each_turn(number)).thread().clone()
        };
        let threads = (0..size).map(start).collect();
        crew.threads.set(threads).expect("this is the first time");
        Subject { crew, delays: Vec::new(), cpu: Duration::ZERO }
    }

    fn take_turn(&mut self) {
        let cpu = cpu_time();
        let begin = Instant::now();
        self.crew.take_turn();
        thread::sleep(PAUSE);
        self.cpu += cpu_time().zip(cpu).map(|(now, then)| now - then).unwrap_or_default();
        let arrivals = std::mem::take(&mut *self.crew.arrivals.lock().unwrap());
        self.delays.extend(arrivals.into_iter().map(|arrival| arrival - begin));
    }
}

struct Crew {
    way: Box<dyn Way>,
    /// How many turns have begun.
    turns: AtomicUsize,
    /// How many threads have not arrived yet.
    absent: AtomicUsize,
    arrivals: Mutex<Vec<Instant>>,
    producer: Thread,
    threads: OnceLock<Vec<Thread>>,
}

impl Crew {
    fn threads(&self) -> &[Thread] {
        self.threads.get().expect("set before the first turn")
    }

    fn take_turn(&self) {
        self.absent.store(self.threads().len(), SeqCst);
        self.turns.fetch_add(1, SeqCst);
        self.way.wake(self.threads());
        while self.absent.load(SeqCst) > 0 {
            thread::park();
        }
    }

    /// What thread `number` does until the program ends.
    fn sleep_until_each_turn(&self, number: usize) {
        for turn in 1.. {
            self.way.sleep(number, &|| self.turns.load(SeqCst) >= turn);
            self.way.pass_on(number, self.threads());
            let arrival = Instant::now();
            self.arrivals.lock().unwrap().push(arrival);
            if self.absent.fetch_sub(1, SeqCst) == 1 {
                self.producer.unpark();
            }
        }
    }
}
