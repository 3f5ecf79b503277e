//! The command line.

use crate::{
    experiment::{Contest, Fairness, Futures, Play},
    registry::{Ability, ENTRIES, Entry},
    sampler::Pace,
    workload::Load,
};
use clap::{Args, CommandFactory, Parser, Subcommand, builder::PossibleValuesParser, error::ErrorKind};
use std::{ffi::OsString, fmt::Display, path::PathBuf, str::FromStr, time::Duration};

const ABOUT: &str = "Measures task executors on this machine, so that you can choose one and believe the numbers";

const LONG_ABOUT: &str = "\
Measures task executors on this machine, so that you can choose one and believe the numbers.

For throughput and latency, producers, threads that are not part of the executor, give it jobs from outside. Each of these jobs starts a chain: the \
executor's own threads give it the following jobs of the chain, as many as the amplification says. All producers x \
messages x (1 + amplification) jobs are counted, and the clock stops at the end of the last. (Releases before 0.10.1 \
counted producers x messages x amplification, and stopped the clock earlier: their figures cannot be compared.)

The other experiments have loads of their own; their --help describes them.

Executors are sampled in turn, after a warm-up, until the relative standard error (RSE) of each is small or the budget \
is spent.";

const EXAMPLES: &str = "\
Examples:
  Most jobs come from outside, as in a server under load:
    executor-performance -t 4 -p 2 -m 10000000 -a 1 throughput \\
      --pre 10000 --post 10000
  Most jobs come from inside, as with message passing or fork and join:
    executor-performance -t 4 -p 2 -m 1000 -a 50000 throughput \\
      --pre 10000 --post 10000
  Small, medium and large bursts every 100 ms:
    executor-performance -t 6 -p 1 -m 100 -a 1 latency -s 100
    executor-performance -t 6 -p 1 -m 100 -a 100 latency -s 100
    executor-performance -t 6 -p 1 -m 100 -a 10000 latency -s 100
  The three tests of rusty_pool (scale --jobs up to their 10000000):
    executor-performance -t 10 -p 1 --jobs 1000000 submit --work 1000
    executor-performance -t 10 -p 11 --jobs 1000000 submit --work 1000
    executor-performance -t 10 -p 1 --jobs 1000000 submit
  Two executors only, rows appended to a spreadsheet:
    executor-performance -t 4 -e channel,workstealing -o out.csv throughput

Exit codes: 0 all was measured, 1 an executor failed or results could not be
written, 2 wrong usage.";

/// The command line, parsed.
#[derive(Debug, Parser)]
#[command(
    name = "executor-performance",
    version,
    about = ABOUT,
    long_about = LONG_ABOUT,
    after_long_help = EXAMPLES,
    arg_required_else_help = false,
    max_term_width = 80
)]
pub struct CommandLine {
    /// What applies to every experiment.
    #[command(flatten)]
    pub options: Options,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measures how many jobs a loaded executor runs in a second
    ///
    /// A sample is the whole load given at once, from the first submission to the end of the last job. A load that is
    /// too large for the budget is sampled in smaller pieces of the same shape, unless --full-size is given.
    Throughput(ThroughputOptions),
    /// Measures how long an idle executor takes for a burst of jobs
    ///
    /// A burst is the whole load given at once, and its time that from the first submission to the end of the last job.
    /// Each job does 10 units of work before and 10 after passing on. This is a closed loop: bursts never overlap.
    Latency(LatencyOptions),
    /// Measures what it costs a job to give the next one to the executor
    ///
    /// Chains of jobs without work: each job gives its successor to the executor from inside. The time of a hop is that of a
    /// sample by the hops of all its chains.
    Repost(RepostOptions),
    /// Measures what an empty job costs when one thread gives many at once
    ///
    /// From the first submission to the end of the last job. How many: --jobs.
    Avalanche(SizeOptions),
    /// Measures what it costs threads to give jobs to an executor
    ///
    /// Producers give single jobs, as many as --producers and --jobs say. The first time is that of submitting alone: from the
    /// first submission to the return of the last producer. The second goes on until all jobs have ended. A sample keeps all
    /// its jobs in memory if they sleep.
    Submit(SubmitOptions),
    /// Measures how long sleeping workers take to begin a burst of jobs
    ///
    /// One thread gives --jobs jobs at once, by default as many as there are threads. The time is that from just before the
    /// first submission to the beginning of each job, which reads the clock. The executors `reference-unpark` and
    /// `reference-mutex-condvar` show what the bare waking costs.
    Wake(WakeOptions),
    /// Measures how long a job from outside waits while workers are busy
    ///
    /// Chains of empty jobs saturate the pool. Meanwhile a thread gives it a probe now and then: a job whose delay is measured,
    /// from just before its submission to its beginning. Probes that have not begun when the chains stop are starved; their
    /// delays are counted up to then, so they are even longer than the figures say.
    Fairness(FairnessOptions),
    /// Measures what it costs to build an executor and shut it down
    ///
    /// A round trip is from before the executor is built until it has shut down, with its threads gone where it tells. The
    /// time to the end of the first job counts from before it is built, too.
    Lifecycle,
    /// Measures CPU time and memory of an executor that has nothing to do
    ///
    /// After some jobs, and a time to come to rest, it is let alone for a window of time. Then all its workers are kept
    /// from their work, and --jobs jobs are queued (by default 100000), to see how much of the heap each takes. Heap is
    /// measured with glibc only.
    Idle(IdleOptions),
    /// Measures what tasks cost that spawn, wait and yield
    ///
    /// For executors that run futures. Each workload is measured by itself, in an equal share of the budget. An operation is a
    /// spawned task, a pair of tasks for ping-pong, or a yield.
    Futures(FuturesOptions),
    /// Lists the executors that can be measured, and the experiments
    // The options of the experiments are accepted here, too, but there is no point in showing them.
    #[command(
        override_usage = "executor-performance list",
        help_template = "{about-with-newline}\n{usage-heading} {usage}\n"
    )]
    List,
}

/// What applies to every experiment.
#[derive(Debug, Args)]
pub struct Options {
    /// Worker threads of each executor
    #[arg(
        short,
        long,
        global = true,
        value_name = "N",
        allow_negative_numbers = true,
        default_value = "1",
        value_parser = number_of_threads
    )]
    pub threads: usize,

    /// Executors to measure, by name; `all` for all. May be repeated [default: those marked in `list`]
    #[arg(
        short,
        long = "executor",
        global = true,
        value_name = "NAME",
        value_delimiter = ',',
        hide_possible_values = true,
        value_parser = executor_names()
    )]
    pub executors: Vec<String>,

    /// Leave out the executor `threadpool`, which can be very slow with several threads
    #[arg(long, visible_alias = "skip-tpe", global = true)]
    pub skip_threadpool_executor: bool,

    /// Append the results to a CSV file, one row for each executor
    #[arg(short, long, global = true, value_name = "FILE")]
    pub output_csv: Option<PathBuf>,

    /// What is run.
    #[command(flatten, next_help_heading = "Load")]
    pub load: LoadOptions,

    /// How much is sampled.
    #[command(flatten, next_help_heading = "Sampling")]
    pub sampling: SamplingOptions,
}

/// What is run. Some experiments have no use for some of these, and refuse them.
#[derive(Debug, Args)]
pub struct LoadOptions {
    /// Producers: threads that give jobs to the executor from outside [default: 1]
    #[arg(
        short,
        long,
        global = true,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = number_of_threads
    )]
    pub producers: Option<usize>,

    /// Jobs that each producer gives to the executor [default: 1000000; latency: 1000, wake: as many as threads, idle: 100000]
    #[arg(
        short,
        long,
        visible_alias = "jobs",
        global = true,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = at_least_one::<u64>
    )]
    pub messages: Option<u64>,

    /// Jobs that follow each of these, one after the other, given from inside [default: 1]
    #[arg(
        short = 'a',
        long,
        visible_alias = "amplification",
        global = true,
        value_name = "N",
        allow_negative_numbers = true
    )]
    pub message_amplification: Option<u64>,
}

/// How much is sampled.
#[derive(Debug, Args)]
pub struct SamplingOptions {
    /// Begin no further round after this time, once there are enough samples
    #[arg(
        long,
        global = true,
        value_name = "SECONDS",
        allow_negative_numbers = true,
        default_value = "60",
        value_parser = seconds
    )]
    pub budget: Duration,

    /// Stop when the relative standard error of each executor is this small [default: 2, or 5 where times are of single events]
    #[arg(long, global = true, value_name = "PERCENT", allow_negative_numbers = true, value_parser = positive)]
    pub rse: Option<f64>,

    /// Rounds to throw away at the beginning
    #[arg(long, global = true, value_name = "ROUNDS", allow_negative_numbers = true, default_value_t = 1)]
    pub warm_up: usize,

    /// Samples of each executor to take whatever the budget
    #[arg(
        long,
        global = true,
        value_name = "N",
        allow_negative_numbers = true,
        default_value = "5",
        value_parser = at_least_one::<usize>
    )]
    pub min_samples: usize,

    /// Samples of each executor never to exceed
    #[arg(
        long,
        global = true,
        value_name = "N",
        allow_negative_numbers = true,
        default_value = "1000",
        value_parser = at_least_one::<usize>
    )]
    pub max_samples: usize,

    /// Give an executor up when jobs are missing and none has ended for this time
    #[arg(
        long,
        global = true,
        value_name = "SECONDS",
        allow_negative_numbers = true,
        default_value = "10",
        value_parser = seconds
    )]
    pub patience: Duration,
}

/// What applies to throughput only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Throughput")]
pub struct ThroughputOptions {
    /// Units of work, two clock cycles each, that each job does before passing on
    #[arg(long, visible_alias = "pre-work", value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    pub pre: u64,

    /// Units of work, two clock cycles each, that each job does after passing on
    #[arg(long, visible_alias = "post-work", value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    pub post: u64,

    /// How large a sample is.
    #[command(flatten)]
    pub size: SizeOptions,
}

/// How large a sample is.
#[derive(Debug, Args)]
pub struct SizeOptions {
    /// Run the whole load in every sample, however long that takes
    #[arg(long)]
    pub full_size: bool,
}

/// What applies to latency only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Latency")]
pub struct LatencyOptions {
    /// Idle time before each burst
    #[arg(short, long, value_name = "MS", allow_negative_numbers = true, default_value_t = 50)]
    pub sleep_time: u64,
}

/// What applies to repost only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Repost")]
pub struct RepostOptions {
    /// Chains that run side by side
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value = "1",
        value_parser = at_least_one::<u64>
    )]
    pub chains: u64,

    /// Jobs that follow the first of each chain
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value = "1000000",
        value_parser = at_least_one::<u64>
    )]
    pub hops: u64,

    /// How large a sample is.
    #[command(flatten)]
    pub size: SizeOptions,
}

/// What applies to submit only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Submit")]
pub struct SubmitOptions {
    /// Time for which each job sleeps, but no longer than until the last was submitted
    #[arg(long, value_name = "MS", allow_negative_numbers = true, default_value_t = 0)]
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
        let sleep = Duration::from_millis(self.work);
        if sleep < patience {
            Ok(sleep)
        } else {
            let patience = patience.as_secs_f64();
            Err(format!(
                "--work {} ms is not less than --patience {patience} s: raise --patience, or lower it",
                self.work
            ))
        }
    }
}

/// What applies to wake only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Wake")]
pub struct WakeOptions {
    /// Idle time before each burst
    #[arg(short, long, value_name = "MS", allow_negative_numbers = true, default_value_t = 5)]
    pub sleep_time: u64,
}

/// What applies to fairness only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Fairness")]
pub struct FairnessOptions {
    /// Chains that saturate the pool [default: as many as threads]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one::<u64>)]
    pub chains: Option<u64>,

    /// For how long they run in a sample, at most
    #[arg(
        long,
        value_name = "MS",
        allow_negative_numbers = true,
        default_value = "200",
        value_parser = at_least_one::<u64>
    )]
    pub run_time: u64,

    /// Time from probe to probe, on average
    #[arg(
        long,
        value_name = "US",
        allow_negative_numbers = true,
        default_value = "1000",
        value_parser = at_least_one::<u64>
    )]
    pub probe_interval: u64,
}

impl FairnessOptions {
    /// What is measured of executors with `threads` workers.
    ///
    /// # Errors
    ///
    /// If the chains cannot be counted, or there is no time for a probe.
    pub fn experiment(&self, threads: usize, patience: Duration) -> Result<Fairness, String> {
        let chains = self.chains.unwrap_or(threads as u64);
        let (time, interval) = (Duration::from_millis(self.run_time), Duration::from_micros(self.probe_interval));
        if time < 2 * interval {
            return Err(format!(
                "--probe-interval {} us leaves no time for a probe in --run-time {} ms: make it half of that or less",
                self.probe_interval, self.run_time
            ));
        }
        Fairness::new(threads, Contest { chains, time, interval, patience })
            .ok_or_else(|| format!("--chains {chains} are more than can be counted: ask for fewer"))
    }
}

/// What applies to idle only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Idle")]
pub struct IdleOptions {
    /// Time after the last job in which it may come to rest
    #[arg(long, value_name = "MS", allow_negative_numbers = true, default_value_t = 100)]
    pub settle: u64,

    /// For how long it is let alone, at most
    #[arg(
        long,
        value_name = "MS",
        allow_negative_numbers = true,
        default_value = "1000",
        value_parser = at_least_one::<u64>
    )]
    pub window: u64,
}

/// What applies to futures only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Futures")]
pub struct FuturesOptions {
    /// Workloads to measure: chain, many-inside, many-outside, ping-pong, yield. May be repeated [default: all]
    #[arg(
        long = "workload",
        value_name = "NAME",
        value_delimiter = ',',
        hide_possible_values = true,
        value_parser = Play::ALL.map(Play::name).to_vec()
    )]
    pub workloads: Vec<String>,

    /// Operations of each workload
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
    /// An experiment for each workload, with executors of `threads` workers.
    ///
    /// # Errors
    ///
    /// If the operations cannot be counted.
    pub fn experiments(&self, threads: usize, patience: Duration) -> Result<Vec<Futures>, String> {
        // One more is the beginning.
        let load = Load::new(1, self.operations, 0).filter(|_| self.operations < u64::MAX);
        let load = load
            .ok_or_else(|| format!("--operations {} are more than can be counted: ask for fewer", self.operations))?;
        let asked = |play: &Play| self.workloads.is_empty() || self.workloads.iter().any(|name| name == play.name());
        let experiment = |play| Futures::new(threads, play, load, self.size.full_size, patience);
        Ok(Play::ALL.into_iter().filter(asked).map(experiment).collect())
    }
}

/// Why there is nothing to run.
#[derive(Debug)]
pub enum Refusal {
    /// Help or the version was asked for, and is in here.
    Shown(clap::Error),
    /// The command line is wrong: one line that says how.
    Wrong(String),
}

/// Parses the command line.
///
/// # Errors
///
/// If there is nothing to run.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<CommandLine, Refusal> {
    CommandLine::try_parse_from(words).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Refusal::Shown(error),
        _ => Refusal::Wrong(one_line(&error.render().to_string())),
    })
}

/// All experiments: their names, and what they measure.
pub fn experiments() -> Vec<(String, String)> {
    let command = CommandLine::command();
    let experiments = command.get_subcommands().filter(|command| !["list", "help"].contains(&command.get_name()));
    experiments
        .map(|command| {
            (command.get_name().to_owned(), command.get_about().map(ToString::to_string).unwrap_or_default())
        })
        .collect()
}

impl LoadOptions {
    /// Chains from outside, where `messages` are the experiment's default.
    ///
    /// # Errors
    ///
    /// If the jobs cannot be counted.
    pub fn chains(&self, messages: u64) -> Result<Load, String> {
        const HOPS: u64 = 1;
        countable(self.producers(), self.messages(messages), self.message_amplification.unwrap_or(HOPS))
    }

    /// Single jobs of one producer, where `jobs` are the experiment's default.
    ///
    /// # Errors
    ///
    /// If more is said of them for which `experiment` has no use.
    pub fn single_jobs(&self, jobs: u64, experiment: &str) -> Result<Load, String> {
        self.no_producers(experiment)?;
        self.no_amplification(experiment)?;
        countable(1, self.messages(jobs), 0)
    }

    /// Single jobs of the producers, where `jobs` each are the experiment's default.
    ///
    /// # Errors
    ///
    /// If more is said of them for which `experiment` has no use.
    pub fn produced_jobs(&self, jobs: u64, experiment: &str) -> Result<Load, String> {
        self.no_amplification(experiment)?;
        countable(self.producers(), self.messages(jobs), 0)
    }

    /// Refuses what is said of the load, as `experiment` has no use for it.
    ///
    /// # Errors
    ///
    /// If anything is.
    pub fn unused(&self, experiment: &str) -> Result<(), String> {
        self.no_producers(experiment)?;
        refuse("--messages", self.messages, experiment)?;
        self.no_amplification(experiment)
    }

    fn producers(&self) -> usize {
        self.producers.unwrap_or(1)
    }

    fn messages(&self, default: u64) -> u64 {
        self.messages.unwrap_or(default)
    }

    fn no_producers(&self, experiment: &str) -> Result<(), String> {
        refuse("--producers", self.producers, experiment)
    }

    fn no_amplification(&self, experiment: &str) -> Result<(), String> {
        refuse("--message-amplification", self.message_amplification, experiment)
    }
}

fn refuse(option: &str, value: Option<impl Display>, experiment: &str) -> Result<(), String> {
    match value {
        Some(value) => Err(format!("{option} {value} means nothing to {experiment}: leave it out")),
        None => Ok(()),
    }
}

fn countable(producers: usize, messages: u64, amplification: u64) -> Result<Load, String> {
    Load::new(producers, messages, amplification).ok_or_else(|| {
        format!(
            "{producers} producers x {messages} messages x (1 + {amplification} amplification) are more jobs than can be \
             counted: ask for fewer"
        )
    })
}

impl RepostOptions {
    /// The chains, where each message is one.
    ///
    /// # Errors
    ///
    /// If their jobs cannot be counted.
    pub fn load(&self) -> Result<Load, String> {
        countable(1, self.chains, self.hops)
    }
}

impl Options {
    /// The executors to measure, in the order in which they were named.
    ///
    /// # Errors
    ///
    /// If none is left, or one that was named cannot have so many threads or has not the `ability`. Of `all`, those are left
    /// out.
    pub fn entries(&self, ability: Ability) -> Result<Vec<&'static Entry>, String> {
        let suits = |entry: &&Entry| entry.takes(self.threads) && entry.can(ability);
        let mut entries: Vec<&'static Entry> = Vec::new();
        let mut add = |entry: &'static Entry| {
            let skipped = self.skip_threadpool_executor && entry.name == "threadpool";
            if !skipped && !entries.iter().any(|other| other.name == entry.name) {
                entries.push(entry);
            }
        };
        if self.executors.is_empty() {
            ENTRIES.iter().filter(|entry| entry.by_default).filter(suits).for_each(&mut add);
        }
        for name in &self.executors {
            match Entry::named(name) {
                Some(entry) if !entry.takes(self.threads) => return Err(self.too_many_threads(entry)),
                Some(entry) if !entry.can(ability) => return Err(cannot_run_futures(entry)),
                Some(entry) => add(entry),
                None => ENTRIES.iter().filter(suits).for_each(&mut add),
            }
        }
        if entries.is_empty() { Err("no executor is left to measure".to_owned()) } else { Ok(entries) }
    }

    fn too_many_threads(&self, entry: &Entry) -> String {
        let (threads, name, max) = (self.threads, entry.name, entry.max_threads.unwrap_or(usize::MAX));
        format!("--threads {threads} is too many for {name}, which can have {max}: use workstealing-dyn instead")
    }
}

fn cannot_run_futures(entry: &Entry) -> String {
    let others = ENTRIES.iter().filter(|other| other.can(Ability::Futures)).map(|other| other.name);
    format!("--executor {} cannot run futures: choose from {}", entry.name, others.collect::<Vec<_>>().join(", "))
}

impl SamplingOptions {
    /// How much to sample, where `rse` percent are the experiment's default.
    ///
    /// # Errors
    ///
    /// If the limits contradict each other.
    pub fn pace(&self, rse: f64) -> Result<Pace, String> {
        let (min_samples, max_samples) = (self.min_samples, self.max_samples);
        if min_samples > max_samples {
            return Err(format!("--min-samples {min_samples} is more than --max-samples {max_samples}"));
        }
        let target = self.rse.unwrap_or(rse) / 100.0;
        Ok(Pace { warm_up: self.warm_up, min_samples, max_samples, target, budget: self.budget })
    }
}

fn executor_names() -> PossibleValuesParser {
    ENTRIES.iter().map(|entry| entry.name).chain(["all"]).collect::<Vec<_>>().into()
}

/// Beyond this, systems run out of what a thread needs; on Linux it is memory mappings, of which a process may have 65
/// 530 and a thread takes four. The standard library aborts the process then.
const MOST_THREADS: usize = 10_000;

fn number_of_threads(text: &str) -> Result<usize, String> {
    let number = at_least_one(text)?;
    if number <= MOST_THREADS { Ok(number) } else { Err(format!("more than {MOST_THREADS} threads are not supported")) }
}

fn at_least_one<N>(text: &str) -> Result<N, String>
where
    N: FromStr<Err: Display> + Default + PartialEq,
{
    let number: N = text.parse().map_err(|error: N::Err| error.to_string())?;
    if number == N::default() { Err("must be at least 1".to_owned()) } else { Ok(number) }
}

fn positive(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if number.is_finite() && number > 0.0 { Ok(number) } else { Err("must be more than 0".to_owned()) }
}

fn seconds(text: &str) -> Result<Duration, String> {
    Duration::try_from_secs_f64(positive(text)?).map_err(|_| "too long a time".to_owned())
}

/// What the parser has to say, without usage and hints on further reading, in one line.
fn one_line(message: &str) -> String {
    let said = message.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let said = said.filter(|line| !line.is_empty() && !line.starts_with("For more information"));
    let line = said.collect::<Vec<_>>().join(" ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<CommandLine, Refusal> {
        parse(line.split_whitespace().map(OsString::from))
    }

    fn options(line: &str) -> Options {
        parsed(&format!("executor-performance {line}")).expect(line).options
    }

    fn names(line: &str) -> Result<Vec<&'static str>, String> {
        options(line).entries(Ability::Jobs).map(|entries| entries.iter().map(|entry| entry.name).collect())
    }

    #[test]
    fn the_definition_is_sound() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn the_published_command_lines_mean_what_they_meant() {
        for (line, threads, jobs) in [
            ("-t 9 -p 2 -m 10000000 -a 1 throughput --pre 10000 --post 10000", 9, 40_000_000),
            ("-t 9 -p 2 -m 1000 -a 50000 throughput --pre 10000 --post 10000", 9, 100_002_000),
            ("-t 6 -p 1 -m 100 -a 1 latency -s 100", 6, 200),
            ("-t 6 -p 1 -m 100 -a 100 latency -s 100", 6, 10_100),
            ("-t 6 -p 1 -m 100 -a 10000 latency -s 100", 6, 1_000_100),
        ] {
            let CommandLine { options, command } = parsed(&format!("executor-performance {line}")).expect(line);
            match command {
                Command::Throughput(own) => {
                    assert_eq!((own.pre, own.post, own.size.full_size), (10_000, 10_000, false));
                }
                Command::Latency(own) => assert_eq!(own.sleep_time, 100),
                other => panic!("{line} is {other:?}"),
            }
            assert_eq!(options.threads, threads, "{line}");
            assert_eq!(options.load.chains(1).expect(line).jobs(), jobs, "{line}");
        }
    }

    #[test]
    fn short_and_long_forms_mean_the_same() {
        let short = options("-t 4 -p 2 -m 10 -a 3 --skip-tpe -o x.csv throughput --pre 5 --post 6");
        let long = options(
            "--threads 4 --producers 2 --messages 10 --message-amplification 3 --skip-threadpool-executor \
             --output-csv x.csv throughput --pre-work 5 --post-work 6",
        );
        assert_eq!(format!("{short:?}"), format!("{long:?}"));
    }

    #[test]
    fn options_may_stand_before_and_after_the_subcommand() {
        assert_eq!(options("latency -t 3 -s 100 -m 7").threads, 3);
        assert_eq!(options("-t 3 latency -s 100 -m 7").load.messages, Some(7));
    }

    #[test]
    fn names_are_kept_in_order_and_once() {
        assert_eq!(names("-e channel,threadpool -e channel throughput"), Ok(vec!["channel", "threadpool"]));
        assert_eq!(names("-e channel,all throughput").expect("all").len(), ENTRIES.len());
        assert_eq!(names("throughput").expect("defaults")[0], "threadpool");
        assert!(!names("--skip-tpe throughput").expect("defaults").contains(&"threadpool"));
        assert!(names("--skip-tpe -e threadpool throughput").is_err());
    }

    #[test]
    fn executors_with_a_limit_are_refused_if_named_and_left_out_of_all() {
        assert!(names("-t 32 -e workstealing-small throughput").is_ok());
        let refusal = names("-t 33 -e workstealing-small throughput").expect_err("33 are too many");
        assert!(refusal.contains("--threads 33") && refusal.contains("32"), "{refusal}");
        let all = names("-t 65 -e all throughput").expect("others can");
        assert!(!all.contains(&"workstealing-small") && !all.contains(&"workstealing-large"));
    }

    #[test]
    fn jobs_that_cannot_be_counted_are_refused() {
        assert!(options("-p 2 -m 18446744073709551615 throughput").load.chains(1).is_err());
    }

    #[test]
    fn a_complaint_is_one_line_that_names_the_value() {
        for (line, part) in [
            ("-t 0 throughput", "'0'"),
            ("-t four throughput", "'four'"),
            ("-m -1 throughput", "'-1'"),
            ("--budget 0 throughput", "'0'"),
            ("-e chanel throughput", "'channel'"),
            ("-e nothing-like-it throughput", "workstealing-spin-counted"),
            ("throughputt", "'throughput'"),
            ("--no-such throughput", "--no-such"),
            ("", "subcommand"),
        ] {
            match parsed(&format!("executor-performance {line}")) {
                Err(Refusal::Wrong(complaint)) => {
                    assert!(complaint.contains(part) && !complaint.contains('\n'), "{line}: {complaint}");
                }
                other => panic!("{line}: {other:?}"),
            }
        }
    }
}
