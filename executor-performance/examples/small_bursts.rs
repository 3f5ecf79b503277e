//! A few jobs after an idle period: when does the first begin, when the last, and which thread waits for which?
//!
//! Unlike in the experiment `wake`, all pools live as long as the program, and take turns in it; and the calls that
//! submit the jobs are timed, too, because one that wakes a worker may last until that worker has run.
//!
//! `cargo run --release -p executor-performance --example small_bursts -- [SECONDS] [WORKERS] [JOBS] [busy]`
//!
//! With 0 seconds it runs a single round. There are as many jobs as workers unless JOBS says otherwise. When it has
//! submitted the jobs, the submitter sleeps until they have begun, or, if it is `busy`, keeps its core meanwhile.

use executor_performance::{clock::cpu_time, workload::assemble};
use executors::{
    Build, BuildError, Builder, Executor, burst_pool, crossbeam_channel_pool, crossbeam_workstealing_pool,
};
use std::{
    collections::VecDeque,
    env,
    error::Error,
    hint,
    sync::{
        Arc, Condvar, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

/// The pause before each burst, so that all workers sleep.
const QUIET: Duration = Duration::from_millis(5);
/// How long a worker may take to start.
const PATIENCE: Duration = Duration::from_secs(10);
/// The pause after each burst, so that its CPU time includes the workers' falling asleep.
const AFTERMATH: Duration = Duration::from_micros(300);

type Job = Box<dyn FnOnce() + Send>;
type Pool = Box<dyn Fn(Job)>;

fn main() -> Result<(), Box<dyn Error>> {
    let argument = |number| env::args().nth(number).map(|text| text.parse()).transpose();
    let seconds: u64 = argument(1)?.unwrap_or(10);
    let workers = argument(2)?.map_or(2, |workers| workers.max(1) as usize);
    let jobs = argument(3)?.map_or(workers, |jobs| jobs.max(1) as usize);
    let busy = match env::args().nth(4).as_deref() {
        None => false,
        Some("busy") => true,
        Some(other) => return Err(format!("`{other}` in place of `busy`").into()),
    };
    let pools = pools(workers)?;
    // So that all workers exist, whatever starts them.
    for (_, pool) in &pools {
        assemble(workers, PATIENCE, pool)?;
    }
    let mut bursts: Vec<Vec<Burst>> = pools.iter().map(|_| Vec::new()).collect();
    let begin = Instant::now();
    loop {
        // Each pool begins a round as often as any other, and follows either of its neighbours as often: a pool of the
        // same kind leaves warm code behind.
        let round = bursts[0].len();
        for turn in 0..pools.len() {
            let place = (round / 2 + turn) % pools.len();
            let pool = if round.is_multiple_of(2) { place } else { pools.len() - 1 - place };
            thread::sleep(QUIET);
            bursts[pool].push(Burst::of(jobs, &pools[pool].1, busy));
        }
        if begin.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
    }
    println!("{workers} workers, {jobs} jobs, {} bursts: us, medians and a percentile\n", bursts[0].len());
    println!("| pool | first call | all given | first job | last job | mean | CPU | mean, p99 |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for ((name, _), bursts) in pools.iter().zip(&bursts) {
        print!("| {name} |");
        let columns: [(Figure, usize); 7] = [
            (|burst| burst.first_call, 50),
            (|burst| burst.given, 50),
            (|burst| burst.jobs[0], 50),
            (|burst| burst.jobs[burst.jobs.len() - 1], 50),
            (Burst::mean, 50),
            (|burst| burst.cpu, 50),
            (Burst::mean, 99),
        ];
        for (column, percentile) in columns {
            let mut figures: Vec<Duration> = bursts.iter().map(column).collect();
            figures.sort_unstable();
            print!(" {:.1} |", figures[figures.len() * percentile / 100].as_secs_f64() * 1e6);
        }
        println!();
    }
    Ok(())
}

fn pools(workers: usize) -> Result<Vec<(&'static str, Pool)>, BuildError> {
    /// The system's usual slices: with this, no pool asks for others.
    const USUAL: Duration = Duration::MAX;
    /// A little less than the 1.4 ms that are usual with two cores; without effect where the usual ones are shorter.
    const SHORT: Duration = Duration::from_micros(1300);
    const SHORTEST: Duration = Duration::from_micros(100);
    let stealing = |slice| pool_of(crossbeam_workstealing_pool::ThreadPool::builder().time_slice(slice), workers);
    let channel = |slice| pool_of(crossbeam_channel_pool::ThreadPool::builder().time_slice(slice), workers);
    let burst = |slice| pool_of(burst_pool::ThreadPool::builder().time_slice(slice), workers);
    Ok(vec![
        ("work-stealing", stealing(USUAL)?),
        ("work-stealing, short time slices", stealing(SHORT)?),
        ("channel", channel(USUAL)?),
        ("channel, short time slices", channel(SHORT)?),
        ("`burst_pool`, usual time slices", burst(USUAL)?),
        ("`burst_pool`", pool_of(burst_pool::ThreadPool::builder(), workers)?),
        ("`burst_pool`, time slices of 100 us", burst(SHORTEST)?),
        ("a mutex and a condition variable", bare(workers)),
    ])
}

fn pool_of<P>(builder: Builder<P>, workers: usize) -> Result<Pool, BuildError>
where
    P: Build + Executor + 'static,
{
    let pool = builder.threads(workers).build()?;
    Ok(Box::new(move |job| pool.execute(job)))
}

/// As simple as a pool can be.
fn bare(workers: usize) -> Pool {
    let shared = Arc::new((Mutex::new(VecDeque::<Job>::new()), Condvar::new()));
    for _ in 0..workers {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            let (queue, there_are_jobs) = &*shared;
            loop {
                let mut queue = there_are_jobs.wait_while(queue.lock().unwrap(), |queue| queue.is_empty()).unwrap();
                let job = queue.pop_front().expect("it was not empty");
                drop(queue);
                job();
            }
        });
    }
    Box::new(move |job| {
        shared.0.lock().unwrap().push_back(job);
        shared.1.notify_one();
    })
}

/// A figure of a burst.
type Figure = fn(&Burst) -> Duration;

/// What happened when, counted from the first call.
struct Burst {
    first_call: Duration,
    given: Duration,
    /// When each job began, sorted.
    jobs: Vec<Duration>,
    cpu: Duration,
}

impl Burst {
    fn mean(&self) -> Duration {
        self.jobs.iter().sum::<Duration>() / self.jobs.len() as u32
    }

    fn of(jobs: usize, pool: &Pool, busy: bool) -> Self {
        let begun: Arc<[OnceLock<Duration>]> = (0..jobs).map(|_| OnceLock::new()).collect();
        let left = Arc::new(AtomicUsize::new(jobs));
        let (submitter, cpu, begin) = (thread::current(), cpu_time(), Instant::now());
        let mut calls = (0..jobs).map(|job| {
            let (begun, left, submitter) = (Arc::clone(&begun), Arc::clone(&left), submitter.clone());
            pool(Box::new(move || {
                begun[job].set(begin.elapsed()).expect("it runs once");
                if left.fetch_sub(1, SeqCst) == 1 {
                    submitter.unpark();
                }
            }));
            begin.elapsed()
        });
        let first_call = calls.next().expect("there is a job");
        let given = calls.fold(first_call, |_, call| call);
        while left.load(SeqCst) > 0 {
            if busy { hint::spin_loop() } else { thread::park() }
        }
        thread::sleep(AFTERMATH);
        let cpu = cpu_time().zip(cpu).map(|(now, then)| now - then).unwrap_or_default();
        let mut jobs: Vec<_> = begun.iter().map(|begun| *begun.get().expect("all have begun")).collect();
        jobs.sort_unstable();
        Burst { first_call, given, jobs, cpu }
    }
}
