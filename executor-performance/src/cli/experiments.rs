//! Options of single experiments.

use super::{
    point::countable,
    sweep::{Sweep, sweep},
    values::{at_least_one, between, microseconds, milliseconds, more_than_nothing, whole},
};
use crate::{
    experiment::{Errand, Fairness, Play},
    workload::{Fib, Load, Pastime},
};
use clap::Args;
use std::{fmt, time::Duration};

/// What applies to throughput only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Throughput")]
pub struct ThroughputOptions {
    /// Units of work, two clock cycles each, that each job does before passing on
    ///
    /// Example: --pre 10000
    #[arg(long, visible_alias = "pre-work", value_name = "N", allow_negative_numbers = true, default_value_t = 0, value_parser = whole::<u64>)]
    pub pre: u64,

    /// Units of work, two clock cycles each, that each job does after passing on
    ///
    /// Example: --post 10000
    #[arg(long, visible_alias = "post-work", value_name = "N", allow_negative_numbers = true, default_value_t = 0, value_parser = whole::<u64>)]
    pub post: u64,

    /// How large a sample is.
    #[command(flatten)]
    pub size: SizeOptions,
}

/// What applies to avalanche only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Avalanche")]
pub struct AvalancheOptions {
    /// What each job does.
    #[command(flatten)]
    pub work: WorkOptions,

    /// How large a sample is.
    #[command(flatten)]
    pub size: SizeOptions,
}

/// What each job does.
#[derive(Debug, Args)]
pub struct WorkOptions {
    /// Time for which each job is busy, which is subtracted from the measured time; in microseconds, unless it has a
    /// unit
    ///
    /// Subtracted is this time multiplied by the number of jobs per thread, rounded up: all jobs divided by the
    /// threads, or by the chains if these are fewer. Example: --work 100us
    #[arg(long, value_name = "US", allow_negative_numbers = true, default_value = "0", value_parser = microseconds)]
    pub work: u64,
}

impl WorkOptions {
    /// What each job does.
    ///
    /// # Errors
    ///
    /// If it takes as long as `patience`: then every executor would be given up.
    pub fn pastime(&self, patience: Duration) -> Result<Pastime, String> {
        let work = Duration::from_micros(self.work);
        within("--work", format_args!("{} us", self.work), work, patience).map(Pastime::Busy)
    }
}

/// How large a sample is.
#[derive(Debug, Args)]
pub struct SizeOptions {
    /// Run the whole load in every sample, however long that takes
    ///
    /// Example: --full-size --budget 600
    #[arg(long)]
    pub full_size: bool,
}

/// What applies to latency only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Latency")]
pub struct LatencyOptions {
    /// Idle time before each burst
    ///
    /// Example: -s 100ms
    #[arg(
        short,
        long,
        value_name = "MS",
        allow_negative_numbers = true,
        default_value = "50", value_parser = milliseconds,
        conflicts_with = "rate"
    )]
    pub sleep_time: u64,

    /// Open loop: this many single jobs in a second, from all producers together, whether others have ended or not; or
    /// a list
    ///
    /// They come at random times (a Poisson process, with --seed), and the time of each is from when it was scheduled
    /// to its end. The achieved rate is shown as well: an executor may not keep up. Example: --rate 1000,10000,100000
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = |text: &str| sweep(text, at_least_one::<u64>)
    )]
    pub rate: Option<Sweep<u64>>,

    /// For how long jobs come in a sample, at most, with --rate [default: 1000]
    ///
    /// Example: --rate 1000 --run-time 5s
    #[arg(
        long,
        value_name = "MS",
        allow_negative_numbers = true,
        value_parser = more_than_nothing(milliseconds)
    )]
    pub run_time: Option<u64>,
}

impl LatencyOptions {
    /// For how long jobs come in a sample, at most, in milliseconds.
    pub fn run_time(&self) -> u64 {
        const USUAL: u64 = 1000;
        self.run_time.unwrap_or(USUAL)
    }

    /// Refuses what has an effect in the open loop only.
    ///
    /// # Errors
    ///
    /// If it was given.
    pub fn closed(&self) -> Result<(), String> {
        match self.run_time {
            Some(time) => {
                Err(format!("--run-time {time} ms has no effect without --rate: give a rate, or leave it out"))
            }
            None => Ok(()),
        }
    }
}

/// What applies to repost only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Repost")]
pub struct RepostOptions {
    /// Chains that run side by side; or a list
    ///
    /// Example: --chains 1,2,4,8,16,32
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value = "1",
        value_parser = |text: &str| sweep(text, at_least_one::<u64>)
    )]
    pub chains: Sweep<u64>,

    /// Jobs that follow the first of each chain
    ///
    /// Example: --hops 100000
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value = "1000000",
        value_parser = at_least_one::<u64>
    )]
    pub hops: u64,

    /// What each job does.
    #[command(flatten)]
    pub work: WorkOptions,

    /// How large a sample is.
    #[command(flatten)]
    pub size: SizeOptions,
}

impl RepostOptions {
    /// A load for each number of chains. Each message is a chain.
    ///
    /// # Errors
    ///
    /// If their jobs cannot be counted.
    pub fn loads(&self) -> Result<Vec<Load>, String> {
        let hops = self.hops;
        let load = |chains: &u64| countable(1, *chains, hops, format_args!("--chains {chains} x (1 + --hops {hops})"));
        self.chains.values().iter().map(load).collect()
    }
}

/// What applies to submit only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Submit")]
pub struct SubmitOptions {
    /// Time for which each job sleeps, but at most until the last one has been submitted; in milliseconds, unless it
    /// has a unit
    ///
    /// Example: --work 1s
    #[arg(long, value_name = "MS", allow_negative_numbers = true, default_value = "0", value_parser = milliseconds)]
    pub work: u64,

    /// How large a sample is.
    #[command(flatten)]
    pub size: SizeOptions,
}

impl SubmitOptions {
    /// For how long each job sleeps.
    ///
    /// # Errors
    ///
    /// If that is as long as `patience`: then pools whose jobs sleep would be given up.
    pub fn sleep(&self, patience: Duration) -> Result<Duration, String> {
        sleep("--work", self.work, patience)
    }
}

/// What `option` says in milliseconds, which must be less than `patience`.
fn sleep(option: &str, millis: u64, patience: Duration) -> Result<Duration, String> {
    within(option, format_args!("{millis} ms"), Duration::from_millis(millis), patience)
}

/// The `time` that `option` gives, which `told` describes, and which must be less than `patience`.
pub(crate) fn within(
    option: &str,
    told: fmt::Arguments<'_>,
    time: Duration,
    patience: Duration,
) -> Result<Duration, String> {
    if time < patience {
        Ok(time)
    } else {
        let patience = patience.as_secs_f64();
        Err(format!("{option} {told} is not less than --patience {patience} s: raise --patience, or lower {option}"))
    }
}

/// What applies to wake only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Wake")]
pub struct WakeOptions {
    /// Idle time before each burst
    ///
    /// Example: -s 100ms
    #[arg(short, long, value_name = "MS", allow_negative_numbers = true, default_value = "5", value_parser = milliseconds)]
    pub sleep_time: u64,
}

/// What applies to blocking only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Blocking")]
pub struct BlockingOptions {
    /// For how long each job sleeps
    ///
    /// Example: -s 10ms
    #[arg(
        short,
        long,
        value_name = "MS",
        allow_negative_numbers = true,
        default_value = "1",
        value_parser = more_than_nothing(milliseconds)
    )]
    pub sleep_time: u64,
}

impl BlockingOptions {
    /// For how long each job sleeps.
    ///
    /// # Errors
    ///
    /// If that is as long as `patience`: then every executor would be given up.
    pub fn sleep(&self, patience: Duration) -> Result<Duration, String> {
        sleep("--sleep-time", self.sleep_time, patience)
    }
}

/// What applies to fairness only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Fairness")]
pub struct FairnessOptions {
    /// Chains that saturate the pool [default: as many as threads]
    ///
    /// Example: --chains 8
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one::<u64>)]
    pub chains: Option<u64>,

    /// For how long the chains run in a sample, at most
    ///
    /// Example: --run-time 1s
    #[arg(
        long,
        value_name = "MS",
        allow_negative_numbers = true,
        default_value = "200",
        value_parser = more_than_nothing(milliseconds)
    )]
    pub run_time: u64,

    /// Pause before the next probe, on average
    ///
    /// The system wakes the thread that gives probes a little later, mostly by 50 to 100 us.
    ///
    /// Example: --probe-interval 500us
    #[arg(
        long,
        value_name = "US",
        allow_negative_numbers = true,
        default_value = "1000",
        value_parser = more_than_nothing(microseconds)
    )]
    pub probe_interval: u64,
}

impl FairnessOptions {
    /// For how long the chains run, and the pause before a probe.
    ///
    /// # Errors
    ///
    /// If there is time for no probe, or for too many.
    pub fn times(&self) -> Result<(Duration, Duration), String> {
        let (time, interval) = (Duration::from_millis(self.run_time), Duration::from_micros(self.probe_interval));
        if time < 2 * interval {
            return Err(format!(
                "--probe-interval {} us leaves no time for a probe in --run-time {} ms: make it half of that or less",
                self.probe_interval, self.run_time
            ));
        }
        const MOST: u128 = Fairness::MOST_INTERVALS;
        let probes = time.as_nanos() / interval.as_nanos();
        if probes > MOST {
            return Err(format!(
                "--probe-interval {} us makes {probes} probes in --run-time {} ms: there is room for {MOST} at most",
                self.probe_interval, self.run_time
            ));
        }
        Ok((time, interval))
    }
}

/// What applies to lifecycle only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Lifecycle")]
pub struct LifecycleOptions {
    /// Give as many jobs as threads instead of one job, each of which waits until all have begun
    ///
    /// So all threads are at work, whenever they start. Submit is then the time of giving all these jobs, the first job
    /// ends when all have begun, and the end of the others is part of the shutdown. Example: -t 16 lifecycle --meeting
    #[arg(long)]
    pub meeting: bool,
}

/// What applies to idle only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Idle")]
pub struct IdleOptions {
    /// Time after the last job for the executor to settle
    ///
    /// Example: --settle 500ms
    #[arg(long, value_name = "MS", allow_negative_numbers = true, default_value = "100", value_parser = milliseconds)]
    pub settle: u64,

    /// For how long the executor is left alone, at most
    ///
    /// Example: --window 5s
    #[arg(
        long,
        value_name = "MS",
        allow_negative_numbers = true,
        default_value = "1000",
        value_parser = more_than_nothing(milliseconds)
    )]
    pub window: u64,
}

/// What applies to futures only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Futures")]
pub struct FuturesOptions {
    /// Workloads to measure: chain, many-inside, many-outside, ping-pong, yield. May be repeated [default: all]
    ///
    /// Example: --workload chain,yield
    #[arg(
        long = "workload",
        value_name = "NAME",
        value_delimiter = ',',
        hide_possible_values = true,
        value_parser = Play::ALL.map(Play::name).to_vec()
    )]
    pub workloads: Vec<String>,

    /// Operations of each workload
    ///
    /// Example: --operations 1000000
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value = "200000",
        value_parser = at_least_one::<u64>
    )]
    pub operations: u64,

    /// How large a sample is.
    #[command(flatten)]
    pub size: SizeOptions,
}

impl FuturesOptions {
    /// The workloads.
    pub fn plays(&self) -> impl Iterator<Item = Play> {
        let asked = |play: &Play| self.workloads.is_empty() || self.workloads.iter().any(|name| name == play.name());
        Play::ALL.into_iter().filter(asked)
    }

    /// The operations of each.
    ///
    /// # Errors
    ///
    /// If they cannot be counted.
    pub fn load(&self) -> Result<Load, String> {
        Load::new(1, self.operations, 0)
            .ok_or_else(|| format!("--operations {} are more than can be counted: ask for fewer", self.operations))
    }
}

/// What applies to fork-join only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Fork and join")]
pub struct ForkJoinOptions {
    /// Workloads to measure: fib, sort. May be repeated [default: all]
    ///
    /// `fib` is a Fibonacci number, as the sum of the two before it; `sort` is quicksort of random numbers. Example:
    /// --workload fib
    #[arg(
        long = "workload",
        value_name = "NAME",
        value_delimiter = ',',
        hide_possible_values = true,
        value_parser = Errand::NAMES.to_vec()
    )]
    pub workloads: Vec<String>,

    /// The index of the Fibonacci number, up to 93 [default: 25]
    ///
    /// With 25 there are 121392 forks. Example: --fib 30
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = between(0, Fib::LAST)
    )]
    pub fib: Option<u32>,

    /// How many random numbers are sorted [default: 1000000]
    ///
    /// The numbers are derived from --seed. Example: --elements 10000000
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one::<u64>)]
    pub elements: Option<u64>,

    /// Where to stop dividing: fib below this index, sort at up to this many numbers. Two or more [default: fib: 2,
    /// sort: 1000]
    ///
    /// For one workload, which must be named with --workload. Example: --workload fib --cutoff 15
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = between(2, u32::MAX)
    )]
    pub cutoff: Option<u32>,
}

impl ForkJoinOptions {
    /// The workloads. Those that are random are derived from the `seed`.
    ///
    /// # Errors
    ///
    /// If an option is for a workload that is not measured, a cutoff is for two workloads, there are too many elements,
    /// or nothing would be forked.
    pub fn errands(&self, seed: u64) -> Result<Vec<Errand>, String> {
        const MOST: u64 = 1 << 32;
        let asked = self.elements.unwrap_or(1_000_000);
        let elements = usize::try_from(asked).ok().filter(|_| asked <= MOST);
        let elements = elements.ok_or_else(|| format!("--elements {asked} are more than {MOST}: ask for fewer"))?;
        let cutoff = |default| self.cutoff.unwrap_or(default);
        let errands = [
            Errand::Fib { index: self.fib.unwrap_or(25), cutoff: cutoff(2) },
            Errand::Sort { elements, cutoff: cutoff(1000) as usize, seed },
        ];
        let asked = |errand: &Errand| self.workloads.is_empty() || self.workloads.iter().any(|it| it == errand.name());
        let errands: Vec<Errand> = errands.into_iter().filter(asked).collect();
        let measured = |name: &str| errands.iter().any(|errand| errand.name() == name);
        match self {
            ForkJoinOptions { cutoff: Some(cutoff), .. } if errands.len() > 1 => {
                Err(format!("--cutoff {cutoff} means different things for fib and sort: name one --workload"))
            }
            ForkJoinOptions { fib: Some(index), .. } if !measured("fib") => {
                Err(format!("--fib {index} does not apply to --workload sort: leave it out"))
            }
            ForkJoinOptions { elements: Some(elements), .. } if !measured("sort") => {
                Err(format!("--elements {elements} does not apply to --workload fib: leave it out"))
            }
            _ => errands.into_iter().map(forking).collect(),
        }
    }
}

/// The `errand`, unless all of it is below its cutoff: then there would be no fork to measure.
fn forking(errand: Errand) -> Result<Errand, String> {
    match errand {
        _ if errand.forks() => Ok(errand),
        Errand::Fib { index, cutoff } => Err(format!(
            "--cutoff {cutoff} is above --fib {index}, so that nothing is forked: lower --cutoff, or raise --fib"
        )),
        Errand::Sort { elements, cutoff, .. } => Err(format!(
            "--cutoff {cutoff} is not below --elements {elements}, so that nothing is forked: lower --cutoff, or raise \
             --elements"
        )),
    }
}
