//! Options that apply to every experiment.

use super::{
    point::Point,
    recommend::{RecommendOptions, Workload},
    sweep::{Sweep, sweep},
    values::{at_least_one, number_of_threads, percent, positive, seconds, whole},
};
use crate::{
    registry::{Ability, ENTRIES, Entry},
    sampler::Pace,
    sink::Destination,
};
use clap::{Args, ValueEnum, builder::PossibleValuesParser};
use std::{fmt, path::PathBuf, thread, time::Duration};

const LONG_CONFIG: &str = "\
Take all options and experiments from this file; options of every experiment, such as --budget, may be given on the \
command line as well, and win there. Those of some experiments only, such as --pre, cannot

Example: --config bench.toml, which may say:

  threads = \"1,2,4\"
  executor = [\"channel\", \"workstealing\"]
  [[run]]
  experiment = \"throughput\"
  messages = 100000";

/// An option that only matters to processes that run executors, so that `--in-process` excludes it.
pub(super) struct OfProcesses {
    /// Its identifier, which is also its name.
    pub(super) id: &'static str,
    is_given: fn(&SamplingOptions) -> bool,
    /// What `--in-process` is, so that it has no effect.
    why: &'static str,
}

pub(super) const OF_PROCESSES: [OfProcesses; 2] = [
    OfProcesses { id: "timeout", is_given: |it| it.timeout.is_some(), why: "which cannot end an executor" },
    OfProcesses { id: "processes", is_given: |it| it.processes.is_some(), why: "which is a single process" },
];

/// The default number of threads for jobs that block.
const BLOCKED_THREADS: usize = 64;

/// What applies to every experiment.
#[derive(Debug, Args)]
pub struct Options {
    /// Worker threads of each executor; a list such as 1,2,8 or 1..8 measures each, and compares
    ///
    /// Example: -t 1,2,4,8
    #[arg(
        short,
        long,
        global = true,
        value_name = "N",
        allow_negative_numbers = true,
        default_value = "1",
        value_parser = |text: &str| sweep(text, number_of_threads)
    )]
    pub threads: Sweep<usize>,

    /// Executors to measure, by name; `all` for all. May be repeated [default: those marked in `list`]
    ///
    /// Example: -e channel,workstealing
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
    ///
    /// Example: --skip-tpe -t 16
    #[arg(long, visible_alias = "skip-tpe", global = true)]
    pub skip_threadpool_executor: bool,

    /// Take all options and experiments from this file; options of every experiment may be given as well, and win
    #[arg(long, global = true, value_name = "FILE", long_help = LONG_CONFIG)]
    pub config: Option<PathBuf>,

    /// What is run.
    #[command(flatten, next_help_heading = "Load")]
    pub load: LoadOptions,

    /// How much is sampled.
    #[command(flatten, next_help_heading = "Sampling")]
    pub sampling: SamplingOptions,

    /// Where the results go.
    #[command(flatten, next_help_heading = "Output")]
    pub output: OutputOptions,

    /// What it is compared with.
    #[command(flatten, next_help_heading = "Comparison")]
    pub comparison: ComparisonOptions,
}

/// What is run. Some experiments do not use some of these options, and refuse them.
#[derive(Debug, Args)]
pub struct LoadOptions {
    /// Producers: threads that give jobs to the executor from outside; or a list [default: 1]
    ///
    /// Example: -p 1,2,4
    #[arg(
        short,
        long,
        global = true,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = |text: &str| sweep(text, number_of_threads)
    )]
    pub producers: Option<Sweep<usize>>,

    /// Jobs that each producer gives to the executor; or a list
    /// [default: 1000000; latency, blocking and panics: 1000, wake: as many as threads, idle: 100000]
    ///
    /// Example: -m 10000,100000
    #[arg(
        short,
        long,
        visible_alias = "jobs",
        global = true,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = |text: &str| sweep(text, at_least_one::<u64>)
    )]
    pub messages: Option<Sweep<u64>>,

    /// Jobs that follow each of these messages, one after the other, given from inside; or a list [default: 1]
    ///
    /// Example: -a 0,1,100
    #[arg(
        short = 'a',
        long,
        visible_alias = "amplification",
        global = true,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = |text: &str| sweep(text, whole::<u64>)
    )]
    pub message_amplification: Option<Sweep<u64>>,
}

/// How much is sampled.
#[derive(Debug, Args)]
pub struct SamplingOptions {
    /// Time to spend on each point of a sweep. Once the minimum of samples is there, no round is begun that would
    /// exceed it
    ///
    /// Example: --budget 10s
    #[arg(
        long,
        global = true,
        value_name = "SECONDS",
        allow_negative_numbers = true,
        default_value = "60",
        value_parser = seconds
    )]
    pub budget: Duration,

    /// Stop when the relative standard error of each executor is this small
    /// [default: 2; 5 in `latency`, `wake`, `fairness`, `panics` and `idle`; 1 in `recommend`]
    ///
    /// A process gives 5 samples before that counts, unless --max-samples allows fewer. Example: --rse 0.5
    #[arg(long, global = true, value_name = "PERCENT", allow_negative_numbers = true, value_parser = positive)]
    pub rse: Option<f64>,

    /// Processes of each executor, one after the other, that share the budget; each gives at least one sample
    /// [default: 5, or as few as --min-samples]
    ///
    /// Processes differ by more than the samples of one process show. If three or more differ too much for --rse,
    /// further ones follow as long as there is time. To compare records, use several in both. With --in-process there
    /// is only one. Example: --processes 10
    #[arg(
        long,
        global = true,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = at_least_one::<usize>
    )]
    pub processes: Option<usize>,

    /// Rounds to discard at the beginning of each process
    ///
    /// Example: --warm-up 3
    #[arg(
        long,
        global = true,
        value_name = "ROUNDS",
        allow_negative_numbers = true,
        default_value = "1",
        value_parser = whole::<usize>
    )]
    pub warm_up: usize,

    /// Minimum number of samples of each executor, whatever the budget
    ///
    /// Example: --min-samples 20
    #[arg(
        long,
        global = true,
        value_name = "N",
        allow_negative_numbers = true,
        default_value = "5",
        value_parser = at_least_one::<usize>
    )]
    pub min_samples: usize,

    /// Maximum number of samples of each executor
    ///
    /// Example: --max-samples 30
    #[arg(
        long,
        global = true,
        value_name = "N",
        allow_negative_numbers = true,
        default_value = "1000",
        value_parser = at_least_one::<usize>
    )]
    pub max_samples: usize,

    /// Give up on an executor when jobs are missing and none has ended for this time
    ///
    /// Example: --patience 1min
    #[arg(
        long,
        global = true,
        value_name = "SECONDS",
        allow_negative_numbers = true,
        default_value = "10",
        value_parser = seconds
    )]
    pub patience: Duration,

    /// Give up on an executor, and kill the process that runs it, when a sample takes longer than this
    /// [default: twice the sum of --budget and --patience, but at least a minute; in `recommend`, so long that
    /// executors that hang take at most another --budget in total, but at least 2 s more than --patience]
    ///
    /// Example: --timeout 10min
    #[arg(long, global = true, value_name = "SECONDS", allow_negative_numbers = true, value_parser = seconds)]
    pub timeout: Option<Duration>,

    /// Run the executors in this process instead of each in its own, as debuggers and profilers need it
    ///
    /// An executor that hangs or crashes then ends the run. Example: perf record executor-performance --in-process
    /// throughput
    #[arg(long, global = true)]
    pub in_process: bool,

    /// Seed of the random numbers: for intervals, the times of probes and of jobs at a rate, and the numbers to sort
    ///
    /// Example: --seed 7
    #[arg(
        long,
        global = true,
        value_name = "N",
        allow_negative_numbers = true,
        default_value = "0",
        value_parser = whole::<u64>
    )]
    pub seed: u64,
}

/// Where the results go.
#[derive(Debug, Args)]
pub struct OutputOptions {
    /// Write the results to a file as well, in the format that its name says: .json, .csv (or no extension), .md,
    /// .html, .svg. May be repeated
    ///
    /// Rows are appended to a CSV file whenever a run, or a point of a sweep, has ended; other files are replaced,
    /// again and again while measuring. `-` is the standard output, in JSON or in the format before a colon; tables
    /// then go to standard error.
    ///
    /// Example: -o run.json -o run.html -o csv:-
    #[arg(
        short,
        long,
        visible_alias = "output-csv",
        global = true,
        value_name = "FILE",
        allow_hyphen_values = true,
        value_parser = Destination::parse
    )]
    pub output: Vec<Destination>,

    /// When to colour the output. By default on a terminal only, unless NO_COLOR is set
    ///
    /// Example: --color always throughput | less -R
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,

    /// Print only results and errors
    ///
    /// Example: --quiet -o run.json
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless the environment says no.
    Auto,
    /// In files and pipes, too.
    Always,
    /// Not at all.
    Never,
}

/// What results are compared with.
#[derive(Debug, Args)]
pub struct ComparisonOptions {
    /// Compare the results with those in this file, which was written with `-o FILE.json`
    ///
    /// Example: --baseline main.json --fail-on-regression
    #[arg(long, global = true, value_name = "FILE")]
    pub baseline: Option<PathBuf>,

    /// Treat differences of up to this many percent as noise [default: 5]
    ///
    /// Example: --noise-threshold 10
    #[arg(
        long,
        global = true,
        value_name = "PERCENT",
        allow_negative_numbers = true,
        value_parser = percent
    )]
    pub noise_threshold: Option<f64>,

    /// Exit with code 3 if an executor has become slower, or fails and did not before
    ///
    /// Example: compare old.json new.json --fail-on-regression
    #[arg(long, global = true)]
    pub fail_on_regression: bool,

    /// Compare although machines, builds or settings differ
    ///
    /// Example: compare here.json there.json --force
    #[arg(long, global = true)]
    pub force: bool,
}

impl ComparisonOptions {
    /// Forgets a threshold that has no effect. A team may agree on one in its file, for whoever compares.
    pub(super) fn forget_idle_threshold(&mut self) {
        self.noise_threshold = self.noise_threshold.filter(|_| self.baseline.is_some());
    }

    /// Up to which differences are noise, as a fraction.
    pub fn threshold(&self) -> f64 {
        const PERCENT: f64 = 5.0;
        self.noise_threshold.unwrap_or(PERCENT) / 100.0
    }
}

impl Options {
    /// Sets what was not given to what suits a recommendation.
    pub(super) fn suit(&mut self, own: &RecommendOptions, threads_given: bool) {
        if !threads_given {
            let blocking = own.workloads.contains(&Workload::Blocking);
            let cores = thread::available_parallelism().map_or(1, usize::from);
            self.threads = Sweep::of(if blocking { BLOCKED_THREADS.max(cores) } else { cores });
        }
        if self.executors.is_empty() {
            self.executors = own.candidates().into_iter().map(str::to_owned).collect();
        }
        // A user waits: if all executors but one hang, it takes twice the time, and not many times as much. An executor
        // that only stalls is given up before that, because of `--patience`, and that failure says more.
        let entries = self.entries(self.threads.values()[0], Ability::Jobs).map_or(1, |entries| entries.len());
        let others = u32::try_from(entries - 1).unwrap_or(u32::MAX);
        let SamplingOptions { budget, patience, timeout, .. } = &mut self.sampling;
        timeout.get_or_insert((*budget / others.max(4)).max(patience.saturating_add(Duration::from_secs(2))));
    }

    /// How many points the sweep has, or `usize::MAX` if there are more.
    pub fn number_of_points(&self) -> usize {
        let LoadOptions { producers, messages, message_amplification } = &self.load;
        let numbers = [
            self.threads.values().len(),
            Sweep::number_of_choices(producers.as_ref()),
            Sweep::number_of_choices(messages.as_ref()),
            Sweep::number_of_choices(message_amplification.as_ref()),
        ];
        numbers.into_iter().fold(1, usize::saturating_mul)
    }

    /// All points of the sweep; threads vary fastest.
    pub fn points(&self) -> Vec<Point> {
        let LoadOptions { producers, messages, message_amplification } = &self.load;
        let mut points = Vec::new();
        for amplification in Sweep::choices(message_amplification.as_ref()) {
            for messages in Sweep::choices(messages.as_ref()) {
                for producers in Sweep::choices(producers.as_ref()) {
                    let point = |&threads| Point { threads, producers, messages, amplification };
                    points.extend(self.threads.values().iter().map(point));
                }
            }
        }
        points
    }

    /// The executors with `threads` threads to measure, in the order in which they were named.
    ///
    /// # Errors
    ///
    /// If none is left, or one that was named cannot have that many threads or does not have the `ability`. Of `all`,
    /// these are left out instead.
    pub fn entries(&self, threads: usize, ability: Ability) -> Result<Vec<&'static Entry>, String> {
        let suits = |entry: &&Entry| entry.takes(threads) && entry.can(ability);
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
                Some(entry) if !entry.takes(threads) => return Err(too_many_threads(threads, entry)),
                Some(entry) if !entry.can(ability) => return Err(cannot(entry, ability)),
                Some(entry) => add(entry),
                None => ENTRIES.iter().filter(suits).for_each(&mut add),
            }
        }
        if entries.is_empty() {
            Err("no executor is left to measure: name one with --executor, and do not skip it".to_owned())
        } else {
            Ok(entries)
        }
    }

    /// What to say of executors that `all` leaves out, because they cannot have `threads` threads or do not have the
    /// `ability`.
    pub fn left_out(&self, threads: usize, ability: Ability) -> Vec<String> {
        if self.executors.iter().all(|name| Entry::named(name).is_some()) {
            return Vec::new();
        }
        let told = |is_left_out: &dyn Fn(&Entry) -> bool, why: String| {
            let names = ENTRIES.iter().filter(|entry| is_left_out(entry)).map(|entry| entry.name);
            let names = names.collect::<Vec<_>>().join(", ");
            (!names.is_empty()).then(|| format!("--executor all leaves out {names}, which cannot {why}"))
        };
        let narrow = told(&|entry| !entry.takes(threads), format!("have {threads} threads"));
        narrow.into_iter().chain(told(&|entry| !entry.can(ability), ability.phrase().to_owned())).collect()
    }
}

fn too_many_threads(threads: usize, entry: &Entry) -> String {
    let (name, max) = (entry.name, entry.max_threads.unwrap_or(usize::MAX));
    let instead = if name.starts_with("workstealing-") { "use workstealing-dyn instead" } else { "ask for fewer" };
    format!("--threads {threads} is too many for {name}, which can have {max}: {instead}")
}

fn cannot(entry: &Entry, ability: Ability) -> String {
    let others = ENTRIES.iter().filter(|other| other.can(ability)).map(|other| other.name);
    let (name, others) = (entry.name, others.collect::<Vec<_>>().join(", "));
    format!("--executor {name} cannot {}: choose from {others}", ability.phrase())
}

impl SamplingOptions {
    /// Refuses options that exclude each other. The parser would check only those on the same side of the subcommand.
    pub(super) fn agree(&self) -> Result<(), String> {
        match OF_PROCESSES.iter().find(|option| self.in_process && (option.is_given)(self)) {
            Some(OfProcesses { id, why, .. }) => {
                Err(format!("--{id} has no effect with --in-process, {why}: leave out one of them"))
            }
            None => Ok(()),
        }
    }

    /// How long an executor may take for a sample.
    pub fn longest_turn(&self) -> Duration {
        const AT_LEAST: Duration = Duration::from_secs(60);
        self.timeout.unwrap_or_else(|| self.budget.saturating_add(self.patience).saturating_mul(2).max(AT_LEAST))
    }

    /// Refuses the options that `told` names if a sample then takes at least `least`, and executors are given up before
    /// that.
    ///
    /// # Errors
    ///
    /// If they are refused.
    pub fn bears(&self, told: fmt::Arguments<'_>, least: Duration) -> Result<(), String> {
        let longest = self.longest_turn();
        if self.in_process || least < longest {
            return Ok(());
        }
        let (least, longest) = (least.as_secs_f64(), longest.as_secs_f64());
        Err(format!(
            "with {told} a sample takes {least} s at least, and is given up after {longest} s: lower that, or raise --timeout"
        ))
    }

    /// How much to sample, where `rse` percent is the experiment's default.
    ///
    /// # Errors
    ///
    /// If the limits contradict each other.
    pub fn pace(&self, rse: f64) -> Result<Pace, String> {
        const USUAL_PROCESSES: usize = 5;
        let (least, max_samples) = (self.min_samples, self.max_samples);
        let processes = match self.processes {
            _ if self.in_process => 1,
            Some(processes) => processes,
            None => USUAL_PROCESSES.min(least),
        };
        for (option, samples) in [("--min-samples", least), ("--processes", processes)] {
            if samples > max_samples {
                return Err(format!(
                    "{option} {samples} is more than --max-samples {max_samples}: raise --max-samples, or lower {option}"
                ));
            }
        }
        let min_samples = least.max(processes);
        let target = self.rse.unwrap_or(rse) / 100.0;
        Ok(Pace { warm_up: self.warm_up, min_samples, max_samples, processes, target, budget: self.budget })
    }
}

fn executor_names() -> PossibleValuesParser {
    ENTRIES.iter().map(|entry| entry.name).chain(["all"]).collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use crate::cli;

    /// The number of processes, and the minimum number of samples.
    fn pace(line: &str) -> Result<(usize, usize), String> {
        let words = format!("executor-performance {line} throughput");
        let orders = cli::parse(words.split_whitespace().map(Into::into)).expect(line);
        orders[0].options.sampling.pace(2.0).map(|pace| (pace.processes, pace.min_samples))
    }

    #[test]
    fn each_process_gives_a_sample() {
        for (line, expected) in [
            ("", (5, 5)),
            ("--processes 12", (12, 12)),
            ("--processes 3", (3, 5)),
            ("--processes 3 --min-samples 2", (3, 3)),
            ("--min-samples 2", (2, 2)),
            ("--in-process", (1, 5)),
        ] {
            assert_eq!(pace(line), Ok(expected), "{line}");
        }
        let complaint = pace("--processes 8 --max-samples 7").expect_err("one is missing");
        assert_eq!(complaint, "--processes 8 is more than --max-samples 7: raise --max-samples, or lower --processes");
    }
}
