//! A job submits several others, which could run at the same time: do they?
//!
//! With few jobs, and short ones, all may be over before the system has noticed that two workers share a core while
//! another one is idle. The pools take turns; each lives as long as the program.
//!
//! `cargo run --release -p executor-performance --features peers --example fan_out -- [ROUNDS] [WORKERS] [JOBS] [US]`
//!
//! With 0 rounds it runs a single one. Each job lasts for US microseconds. These should be few compared with the time
//! for which the system leaves a core to one thread, because a job goes on by the clock while other threads have its
//! core.

use executor_performance::{clock::cpu_time, workload::assemble};
use executors::{Executor, burst_pool, crossbeam_channel_pool, crossbeam_workstealing_pool, dispatcher, elastic_pool};
use std::{
    env,
    error::Error,
    hint,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, Thread},
    time::{Duration, Instant},
};

/// The pause before each turn, so that all workers sleep.
const QUIET: Duration = Duration::from_micros(200);
/// The pause after each fan, so that its CPU time includes the workers' falling asleep.
const AFTERMATH: Duration = Duration::from_micros(300);
/// Fans in each turn: threads mostly stay on their cores from one to the next.
const FANS: usize = 10;
const KEEP_ALIVE: Duration = Duration::from_secs(60);
/// How long a worker may take to start.
const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> Result<(), Box<dyn Error>> {
    let argument = |number, otherwise| env::args().nth(number).map_or(Ok(otherwise), |text| text.parse());
    let (rounds, workers) = (argument(1, 50)?.max(1), argument(2, 2)?.max(1));
    let fan = Fan { jobs: argument(3, 10)?.max(1), length: Duration::from_micros(argument(4, 50)?.try_into()?) };
    let pools = pools(workers)?;
    let mut turns: Vec<Turns> = pools.iter().map(|_| Turns::default()).collect();
    for round in 0..rounds {
        // Each pool begins a round as often as any other, and follows either of its neighbours as often.
        for turn in 0..pools.len() {
            let place = (round / 2 + turn) % pools.len();
            let pool = if round % 2 == 0 { place } else { pools.len() - 1 - place };
            for _ in 0..FANS {
                thread::sleep(QUIET);
                turns[pool].take(|| fan.run(&pools[pool].1));
            }
        }
    }
    let (Fan { jobs, length }, fans) = (fan, rounds * FANS);
    let least = length * jobs.div_ceil(workers) as u32;
    println!(
        "{workers} workers, a job that gives {jobs} of {length:?} each, {fans} times: us (on as many cores {least:?})\n"
    );
    println!("| pool | median | 90 % | 99 % | CPU, mean |\n|---|---:|---:|---:|---:|");
    for ((name, _), turns) in pools.iter().zip(turns) {
        println!("| {name} | {} |", turns.figures());
    }
    Ok(())
}

type Job = Box<dyn FnOnce() + Send>;
/// Submits one job, from wherever the caller is.
type Give = Arc<dyn Fn(Job) + Send + Sync>;

/// Each pool in its own best way of submitting a closure, also from within a job.
fn pools(workers: usize) -> Result<Vec<(&'static str, Give)>, Box<dyn Error>> {
    let rayon = rayon_core::ThreadPoolBuilder::new().num_threads(workers).build()?;
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).build()?;
    let threadpool = threadpool::ThreadPool::new(workers);
    let rusty = rusty_pool::ThreadPool::new(workers, workers, KEEP_ALIVE);
    let elastic = elastic_pool::ThreadPool::new(workers, workers, KEEP_ALIVE);
    let pools: Vec<(&'static str, Give)> = vec![
        ("work-stealing", ours(crossbeam_workstealing_pool::pool_with_auto_parker(workers))),
        ("channel", ours(crossbeam_channel_pool::ThreadPool::new(workers))),
        ("burst", ours(burst_pool::ThreadPool::new(workers))),
        ("dispatcher", ours(dispatcher::Dispatcher::builder().threads(workers).cpu_limit(workers).build()?.cpu())),
        ("elastic", ours(elastic)),
        ("rayon, `spawn`", Arc::new(move |job| rayon.spawn(job))),
        ("tokio, `spawn`", Arc::new(move |job: Job| drop(tokio.spawn(async { job() })))),
        ("threadpool", Arc::new(move |job| threadpool.execute(job))),
        ("rusty_pool", Arc::new(move |job| rusty.execute(job))),
    ];
    for (_, give) in &pools {
        // The threads of some pools start with jobs.
        assemble(workers, PATIENCE, |job| give(job))?;
    }
    Ok(pools)
}

fn ours(pool: impl Executor + Sync + 'static) -> Give {
    Arc::new(move |job| pool.execute(job))
}

#[derive(Clone, Copy)]
struct Fan {
    jobs: usize,
    length: Duration,
}

impl Fan {
    /// Submits a job that submits the others, and waits for these.
    fn run(self, give: &Give) {
        let unfinished = Arc::new(Unfinished { jobs: AtomicUsize::new(self.jobs), waits: thread::current() });
        let (inside, begun) = (Arc::clone(give), Arc::clone(&unfinished));
        give(Box::new(move || {
            for _ in 0..self.jobs {
                let unfinished = Arc::clone(&begun);
                inside(Box::new(move || {
                    let begin = Instant::now();
                    while begin.elapsed() < self.length {
                        hint::spin_loop();
                    }
                    unfinished.ends_one();
                }));
            }
        }));
        while unfinished.jobs.load(SeqCst) > 0 {
            thread::park();
        }
    }
}

struct Unfinished {
    jobs: AtomicUsize,
    waits: Thread,
}

impl Unfinished {
    fn ends_one(&self) {
        if self.jobs.fetch_sub(1, SeqCst) == 1 {
            self.waits.unpark();
        }
    }
}

#[derive(Default)]
struct Turns {
    times: Vec<Duration>,
    cpu: Duration,
}

impl Turns {
    fn take(&mut self, run: impl FnOnce()) {
        let (cpu, begin) = (cpu_time(), Instant::now());
        run();
        self.times.push(begin.elapsed());
        thread::sleep(AFTERMATH);
        self.cpu += cpu_time().zip(cpu).map(|(now, then)| now - then).unwrap_or_default();
    }

    fn figures(mut self) -> String {
        self.times.sort_unstable();
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        let percentile = |number: usize| micros(self.times[(self.times.len() - 1) * number / 100]);
        let cpu = micros(self.cpu) / self.times.len() as f64;
        format!("{:.0} | {:.0} | {:.0} | {cpu:.0}", percentile(50), percentile(90), percentile(99))
    }
}
