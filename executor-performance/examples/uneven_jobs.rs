//! Do jobs wait behind a busy worker while another is idle?
//!
//! Bursts of short jobs with some long ones among them, fewer than there are workers. So one worker is free of long
//! jobs at any time, and a job that has not begun when half of a long one is over was *stranded*. Every twelfth job is
//! long: a pool that deals round robin to four workers deals all long jobs to one.
//!
//! Executors are those of the command-line tool, by name, and take turns.
//!
//! `cargo run --release -p executor-performance --features peers --example uneven_jobs -- [SECONDS [EXECUTOR...]]`
//!
//! With 0 seconds it runs a single round.

use executor_performance::{
    experiment::{JobTurn, Sample, Turn},
    failure::Failure,
    registry::Entry,
    stats::Distribution,
    subject::{BuildPlan, Roster},
};
use executors::Executor;
use serde::{Deserialize, Serialize};
use std::{
    env,
    error::Error,
    sync::mpsc::channel,
    thread,
    time::{Duration, Instant},
};

const THREADS: usize = 4;
const JOBS: usize = 32;
const LONG_EVERY: usize = 12;
const LONG: Duration = Duration::from_millis(10);
/// Bursts of one executor before it is the turn of the next.
const BURSTS: usize = 5;
/// The pause before each burst, so that all workers sleep.
const PAUSE: Duration = Duration::from_millis(5);
/// The executors that are measured if none is named, as far as they are in this build.
const USUAL: [&str; 8] =
    ["burst", "burst-typed", "burst-dealt", "channel", "workstealing", "elastic", "threadpool-crate", "rusty_pool"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let seconds = words.next().map_or(Ok(10), |text| text.parse())?;
    let named: Vec<String> = words.collect();
    let entry = |name: &String| Entry::named(name).ok_or_else(|| format!("there is no executor {name}"));
    let entries: Vec<&Entry> = if named.is_empty() {
        USUAL.into_iter().filter_map(Entry::named).collect()
    } else {
        named.iter().map(entry).collect::<Result<_, _>>()?
    };

    let subjects = Roster::of_executors().enlist(&entries, THREADS);
    let mut bursts: Vec<Vec<Burst>> = subjects.iter().map(|_| Vec::new()).collect();
    let begin = Instant::now();
    loop {
        // Each executor begins a round as often as any other.
        let first = bursts[0].len() / BURSTS;
        for turn in 0..subjects.len() {
            let subject = (first + turn) % subjects.len();
            bursts[subject].extend(subjects[subject].take(&UnevenJobs)?.0);
        }
        if begin.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
    }

    println!("{} bursts: when jobs begin, ms\n", bursts[0].len());
    println!("| executor | mean | p50 | p90 | the last of a burst, mean | stranded |\n|---|---:|---:|---:|---:|---:|");
    for (subject, bursts) in subjects.iter().zip(&bursts) {
        let delays = || bursts.iter().flatten().copied();
        let all = Distribution::of(delays()).ok_or("no burst")?;
        let last = Distribution::of(bursts.iter().filter_map(|burst| burst.iter().max()).copied()).ok_or("no job")?;
        let stranded = delays().filter(|delay| *delay > LONG / 2).count() as f64 / all.count() as f64;
        println!(
            "| `{}` | {:.2} | {:.3} | {:.2} | {:.2} | {:.1} % |",
            subject.name(),
            all.mean_us() / 1e3,
            all.quantile_us(0.5) / 1e3,
            all.quantile_us(0.9) / 1e3,
            last.mean_us() / 1e3,
            stranded * 100.0
        );
    }
    Ok(())
}

/// How long each job took to begin.
type Burst = Vec<Duration>;

/// Some bursts on a new executor.
#[derive(Serialize, Deserialize)]
struct UnevenJobs;

#[derive(Serialize, Deserialize)]
struct Bursts(Vec<Burst>);

impl Sample for Bursts {
    /// The mean delay, in nanoseconds.
    fn cost(&self) -> f64 {
        let sum: Duration = self.0.iter().flatten().sum();
        sum.as_nanos() as f64 / (JOBS * self.0.len()) as f64
    }
}

impl Turn for UnevenJobs {
    type Sample = Bursts;
}

impl JobTurn for UnevenJobs {
    fn run_on<E: Executor + Sync + 'static>(&self, plan: &BuildPlan<E>) -> Result<Bursts, Failure> {
        let executor = plan.build()?;
        let (tell, told) = channel();
        let burst = |_| {
            thread::sleep(PAUSE);
            let begin = Instant::now();
            for job in 0..JOBS {
                let tell = tell.clone();
                executor.execute(move || {
                    let delay = begin.elapsed();
                    if job % LONG_EVERY == 0 {
                        thread::sleep(LONG);
                    }
                    tell.send(delay).expect("the burst waits for it");
                });
            }
            told.iter().take(JOBS).collect()
        };
        let bursts = (0..BURSTS).map(burst).collect();
        executor.shutdown().map_err(Failure::Shutdown)?;
        Ok(Bursts(bursts))
    }
}
