//! One producer that submits a job without work and waits for its result, again and again: what does a round trip take?
//!
//! Elastic pools of several sizes take turns with those of rusty_pool. There is never more than one job, so what counts
//! is who wakes whom, and how long they look around before they sleep.
//!
//! `cargo run --release -p executor-performance --features peers --example round_trips -- [ROUNDS]`
//!
//! With 0 rounds it takes a single one.

use executor_performance::clock::cpu_time;
use executors::{Executor, Pool, elastic_pool};
use std::{
    env,
    error::Error,
    time::{Duration, Instant},
};

/// In each turn.
const TRIPS: u32 = 3000;
/// Core and maximum.
const SIZES: [(usize, usize); 4] = [(1, 1), (1, 10), (2, 10), (10, 10)];
const KEEP_ALIVE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Turns {
    times: Vec<Duration>,
    cpu: Vec<Duration>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let rounds = env::args().nth(1).map_or(Ok(15), |text| text.parse())?.max(1);
    println!("us for each round trip, medians of {rounds} rounds (quartiles)\n");
    println!("| core, maximum | `elastic_pool` | CPU | `rusty_pool` | CPU |\n|---|---:|---:|---:|---:|");
    for (core, max) in SIZES {
        let elastic = elastic_pool::ThreadPool::new(core, max, KEEP_ALIVE);
        let rusty = rusty_pool::ThreadPool::new(core, max, KEEP_ALIVE);
        let (mut ours, mut theirs) = (Turns::default(), Turns::default());
        for _ in 0..rounds {
            ours.take(|trip| elastic.submit(move || trip).wait().expect("it is not cancelled"));
            theirs.take(|trip| rusty.evaluate(move || trip).await_complete());
        }
        let [time, cpu, their_time, their_cpu] = [ours.times, ours.cpu, theirs.times, theirs.cpu].map(quartiles);
        println!("| {core}, {max} | {time} | {cpu} | {their_time} | {their_cpu} |");
        rusty.shutdown_join();
        elastic.shutdown()?;
    }
    Ok(())
}

impl Turns {
    fn take(&mut self, round_trip: impl Fn(u32) -> u32) {
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
