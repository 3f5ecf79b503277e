//! One producer that submits a job and waits for its result, again and again: what does a round trip take?
//!
//! There is never more than one job, so what counts is which thread wakes which, and how long threads look for jobs
//! before they sleep. The pools take turns.
//!
//! `cargo run --release -p executor-performance --features peers --example round_trips -- [ROUNDS] [MICROSECONDS]`
//!
//! With 0 rounds it runs a single one. The jobs do nothing, or keep their core for MICROSECONDS each; these are part of
//! the trip.

use executor_performance::{clock::cpu_time, workload::assemble};
use executors::{Executor, Pool, crossbeam_channel_pool, crossbeam_workstealing_pool, elastic_pool};
use std::{
    env,
    error::Error,
    hint,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// Round trips in each turn. Few, because the system leaves threads on the cores on which a turn finds them.
const TRIPS: u32 = 200;
/// The pause before each turn, so that threads fall asleep on other cores.
const QUIET: Duration = Duration::from_millis(2);
const WORKERS: [usize; 4] = [1, 2, 4, 10];
const KEEP_ALIVE: Duration = Duration::from_secs(60);
/// How long a worker may take to start.
const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> Result<(), Box<dyn Error>> {
    let argument = |number, otherwise| env::args().nth(number).map_or(Ok(otherwise), |text| text.parse());
    let (rounds, micros) = (argument(1, 100)?.max(1), argument(2, 0)?.try_into()?);
    println!("us for each round trip, with jobs of {micros} us, medians of {rounds} turns of {TRIPS} (quartiles)");
    for workers in WORKERS {
        let pools = pools(workers, Duration::from_micros(micros))?;
        let mut turns: Vec<Turns> = pools.iter().map(|_| Turns::default()).collect();
        for round in 0..rounds {
            // Each pool begins a round as often as any other, and follows either of its neighbours as often.
            for turn in 0..pools.len() {
                let place = (round / 2 + turn) % pools.len();
                let pool = if round % 2 == 0 { place } else { pools.len() - 1 - place };
                turns[pool].take(&pools[pool].1);
            }
        }
        println!("\n{workers} workers:\n\n| pool | round trip | CPU |\n|---|---:|---:|");
        for ((name, _round_trip), turns) in pools.iter().zip(turns) {
            println!("| {name} | {} | {} |", quartiles(turns.times), quartiles(turns.cpu));
        }
    }
    Ok(())
}

type RoundTrip = Box<dyn Fn(u32) -> u32>;

/// What a job does: it keeps its core for `length`.
fn keep_core(length: Duration) {
    if length > Duration::ZERO {
        let begin = Instant::now();
        while begin.elapsed() < length {
            hint::spin_loop();
        }
    }
}

/// Each pool in its own best way of submitting a closure and waiting for its result, or for its end where there is no
/// other.
fn pools(workers: usize, length: Duration) -> Result<Vec<(&'static str, RoundTrip)>, Box<dyn Error>> {
    let elastic = elastic_pool::ThreadPool::new(workers, workers, KEEP_ALIVE);
    let channel = crossbeam_channel_pool::ThreadPool::new(workers);
    let joined = crossbeam_workstealing_pool::pool_with_auto_parker(workers);
    let stealing = joined.clone();
    let rusty = rusty_pool::ThreadPool::new(workers, workers, KEEP_ALIVE);
    let rayon = rayon_core::ThreadPoolBuilder::new().num_threads(workers).build()?;
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).build()?;
    let threadpool = threadpool::ThreadPool::new(workers);
    // The threads of these start with jobs.
    assemble(workers, PATIENCE, |job| elastic.execute(job))?;
    assemble(workers, PATIENCE, |job| channel.execute(job))?;
    assemble(workers, PATIENCE, |job| joined.execute(job))?;
    assemble(workers, PATIENCE, |job| rusty.execute(job))?;
    let messages = threadpool.clone();
    let answer = move |trip: u32| {
        keep_core(length);
        trip
    };
    Ok(vec![
        (
            "work-stealing, `submit`",
            Box::new(move |trip| stealing.submit(move || answer(trip)).wait().expect("it runs")),
        ),
        ("channel, `submit`", Box::new(move |trip| channel.submit(move || answer(trip)).wait().expect("it runs"))),
        ("elastic, `submit`", Box::new(move |trip| elastic.submit(move || answer(trip)).wait().expect("it runs"))),
        ("rusty_pool, `evaluate`", Box::new(move |trip| rusty.evaluate(move || answer(trip)).await_complete())),
        ("rayon, `install`", Box::new(move |trip| rayon.install(move || answer(trip)))),
        (
            "tokio, `spawn` and `block_on`",
            Box::new(move |trip| tokio.block_on(tokio.spawn(async move { answer(trip) })).expect("it runs")),
        ),
        (
            "threadpool, and a channel of the standard library",
            Box::new(move |trip| {
                let (sender, receiver) = mpsc::channel();
                messages.execute(move || sender.send(answer(trip)).expect("the producer waits"));
                receiver.recv().expect("it runs")
            }),
        ),
        (
            "work-stealing, `execute` and `join`",
            Box::new(move |trip| {
                joined.execute(move || keep_core(length));
                joined.join().expect("this is no job");
                trip
            }),
        ),
        (
            "threadpool, `execute` and `join`",
            Box::new(move |trip| {
                threadpool.execute(move || keep_core(length));
                threadpool.join();
                trip
            }),
        ),
    ])
}

#[derive(Default)]
struct Turns {
    times: Vec<Duration>,
    cpu: Vec<Duration>,
}

impl Turns {
    fn take(&mut self, round_trip: impl Fn(u32) -> u32) {
        thread::sleep(QUIET);
        let (begin, cpu) = (Instant::now(), cpu_time());
        for trip in 0..TRIPS {
            assert_eq!(round_trip(trip), trip);
        }
        self.times.push(begin.elapsed() / TRIPS);
        self.cpu.push(cpu_time().zip(cpu).map(|(now, then)| now - then).unwrap_or_default() / TRIPS);
    }
}

fn quartiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let quartile = |number: usize| times[(times.len() - 1) * number / 4].as_secs_f64() * 1e6;
    format!("{:.1} ({:.1}-{:.1})", quartile(2), quartile(1), quartile(3))
}
