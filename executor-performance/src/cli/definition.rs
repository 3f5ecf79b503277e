//! The definition of the command line, with its help and its manual.

use super::{command::Command, options::Options, sweep::Sweep};
use clap::{ArgMatches, CommandFactory, Parser, parser::ValueSource};
use std::{any::TypeId, ffi::OsString, iter};

const ABOUT: &str =
    "Measures task executors on this machine, so that you can choose one and know how far to trust the numbers";

const LONG_ABOUT: &str = "\
Measures task executors on this machine, so that you can choose one and know how far to trust the numbers.

In throughput and latency, producers (threads outside the executor) submit the jobs. Each of these jobs starts a \
chain: the executor's own threads give it the following jobs of the chain, as many as the amplification says. All \
producers x messages x (1 + amplification) jobs are counted, and the clock stops at the end of the last. (Releases \
before 0.10.1 counted producers x messages x amplification, and stopped the clock earlier: their figures cannot be \
compared.)

The other experiments have loads of their own; their --help describes them.

Times may have a unit, as in 100us, 2ms, 10s or 2min. Without one, the unit is the one that follows the option: US, \
MS or SECONDS.

Executors are sampled in turn, after a warm-up, until the relative standard error (RSE) of each is small or the budget \
is spent.";

const EXAMPLES: &str = "\
Examples:
  Which executor is best for me?
    executor-performance recommend
  Half of the jobs come from outside, as where each request takes two jobs:
    executor-performance -t 4 -p 2 -m 10000000 -a 1 throughput \\
      --pre 10000 --post 10000
  Most jobs come from inside, as with message passing or fork and join:
    executor-performance -t 4 -p 2 -m 1000 -a 50000 throughput \\
      --pre 10000 --post 10000
  Small, medium and large bursts, after 100 ms of quiet each:
    executor-performance -t 6 -p 1 -m 100 -a 1 latency -s 100ms
    executor-performance -t 6 -p 1 -m 100 -a 100 latency -s 100ms
    executor-performance -t 6 -p 1 -m 100 -a 10000 latency -s 100ms
  Single jobs at random times, as requests come, at higher and higher rates:
    executor-performance -t 2 latency --rate 1000,10000,100000
  The three tests of rusty_pool (scale --jobs up to their 10000000):
    executor-performance -t 10 -p 1 --jobs 1000000 submit --work 1s
    executor-performance -t 10 -p 11 --jobs 1000000 submit --work 1s
    executor-performance -t 10 -p 1 --jobs 1000000 submit
  The four tests of the talk on a homemade pool, of which two have a payload:
    executor-performance -t 8 --jobs 100000 avalanche --work 100us
    executor-performance -t 8 --jobs 100000 avalanche
    executor-performance -t 8 repost --chains 1,2,4,8 --hops 100000 --work 100us
    executor-performance -t 8 repost --chains 1,2,4,8 --hops 1000000
  Jobs that sleep for 1 ms, on up to 128 threads:
    executor-performance -t 128 -e elastic-growing,channel blocking
  Forks and joins, and how they scale:
    executor-performance -t 1..4 fork-join --workload fib --cutoff 15
  Two executors only, rows appended to a spreadsheet:
    executor-performance -t 4 -e channel,workstealing -o out.csv throughput
  How they scale, with plots, and all samples kept:
    executor-performance -t 1..8 -o run.html -o run.json throughput
  Has anything become slower since?
    executor-performance compare run.json new.json --fail-on-regression

Exit codes:
  0  all was measured
  1  an executor failed or was not measured, or results could not be written,
     or --fail-on-regression was given and nothing could be compared
  2  wrong usage
  3  --fail-on-regression was given, and something is slower than the baseline,
     or fails and did not there

An interrupt (Ctrl-C) ends the run after the sample that is being taken, writes
what there is, and ends the program by that signal; a second one ends it at
once.";

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
    /// What to do. None if a configuration file says it.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Commands that measure nothing, and which of the options for experiments they use.
const TOOLS: &[(&str, &[&str])] = &[
    ("list", &[]),
    ("compare", &["color", "quiet", "output", "noise_threshold", "fail_on_regression", "force"]),
    ("report", &["color", "quiet", "output"]),
    ("completions", &[]),
    ("man", &[]),
];

const PRODUCERS: &str = "producers";
const MESSAGES: &str = "messages";
const AMPLIFICATION: &str = "message_amplification";

/// The options of the load that an experiment refuses, so that its help does not show them.
const REFUSED: &[(&str, &[&str])] = &[
    ("repost", &[PRODUCERS, MESSAGES, AMPLIFICATION]),
    ("avalanche", &[PRODUCERS, AMPLIFICATION]),
    ("submit", &[AMPLIFICATION]),
    ("wake", &[PRODUCERS, AMPLIFICATION]),
    ("fairness", &[PRODUCERS, MESSAGES, AMPLIFICATION]),
    ("blocking", &[PRODUCERS, AMPLIFICATION]),
    ("panics", &[PRODUCERS, AMPLIFICATION]),
    ("lifecycle", &[PRODUCERS, MESSAGES, AMPLIFICATION]),
    ("idle", &[PRODUCERS, AMPLIFICATION]),
    ("futures", &[PRODUCERS, MESSAGES, AMPLIFICATION]),
    ("fork-join", &[PRODUCERS, MESSAGES, AMPLIFICATION]),
];

/// What `--messages` says in experiments whose jobs are all given by one thread, with an example.
const JOBS: &[(&str, &str, &str)] = &[
    ("avalanche", "Jobs that are given at once; or a list [default: 1000000]", "--jobs 100000"),
    ("wake", "Jobs of each burst; or a list [default: as many as threads]", "--jobs 4"),
    ("blocking", "Jobs that are given at once; or a list [default: 1000]", "--jobs 10000"),
    ("panics", "Jobs of each of the three groups; or a list [default: 1000]", "--jobs 10000"),
    ("idle", "Jobs that are queued while all workers are blocked; or a list [default: 100000]", "--jobs 1000,100000"),
];

/// Options that recommend does not use: it has loads of its own, and compares executors with each other and nothing
/// else.
const NOT_TO_RECOMMEND: &[&str] =
    &[PRODUCERS, MESSAGES, AMPLIFICATION, "baseline", "noise_threshold", "fail_on_regression", "force"];

/// The first option in `matches` that was given although the command does not use it, with the command's name.
/// Experiments check options of the load themselves.
pub(super) fn meaningless(matches: &ArgMatches) -> Option<(String, String)> {
    let (command, own) = matches.subcommand()?;
    let useful = TOOLS.iter().find(|(tool, _)| *tool == command).map(|(_, useful)| *useful);
    let options = CommandLine::command();
    let useless = |option: &&clap::Arg| {
        let id = option.get_id().as_str();
        match useful {
            Some(useful) => option.is_global_set() && !useful.contains(&id),
            None => command == "recommend" && NOT_TO_RECOMMEND.contains(&id),
        }
    };
    let given = |option: &&clap::Arg| {
        let id = option.get_id().as_str();
        matches.ids().chain(own.ids()).any(|known| known == id)
            && [matches, own]
                .iter()
                .any(|at| at.try_contains_id(id).is_ok() && at.value_source(id) == Some(ValueSource::CommandLine))
    };
    let option = options.get_arguments().filter(useless).find(given)?;
    Some((option.get_long()?.to_owned(), command.to_owned()))
}

/// The first option that stands on both sides of the subcommand in `words`, which were parsed to `matches`; with the
/// subcommand. The parser would forget what is said before it. (A flag would lose nothing, but is no exception.)
///
/// A side that cannot be parsed alone is not looked at, so no option of all subcommands may require or exclude another
/// by the parser's means: see `SamplingOptions::agree`.
pub(super) fn divided(words: &[OsString], matches: &ArgMatches) -> Option<(String, String)> {
    let (command, _) = matches.subcommand()?;
    let whole = definition();
    let parsed = |words: &[OsString]| whole.clone().try_get_matches_from(words).ok();
    let split = |place: usize| Some([parsed(&words[..place])?, parsed(&[&words[..1], &words[place..]].concat())?]);
    // The same word may be the value of an option, without which what is before it is not complete.
    let mut places = (2..words.len()).filter(|&place| words[place] == command);
    let sides = places.find_map(split)?;
    let is_on_both = |option: &&clap::Arg| {
        let id = option.get_id().as_str();
        sides.iter().all(|side| side.value_source(id) == Some(ValueSource::CommandLine))
    };
    let option = whole.get_arguments().filter(|option| option.is_global_set()).find(is_on_both)?;
    Some((option.get_long()?.to_owned(), command.to_owned()))
}

const THREADS_TO_RECOMMEND_FOR: &str =
    "Worker threads that you will have [default: one for each core; if jobs block, at least 64]";

const OUTPUT_OF_COMPARE: &str =
    "Write the comparison to a file as well, in the format that its name says: .html, .md, .svg. May be repeated";

const QUIET_TO_COMPARE: &str = "Print only the comparison and errors";

/// The number of workers in the benchmark of burst_pool.
const THREADS_TO_WAKE: &str = "10";

const BUDGET_TO_RECOMMEND: &str = "Time for all workloads together, which share it";

const EXECUTORS_TO_RECOMMEND: &str =
    "Executors to choose from, by name; `all` for all. May be repeated [default: those that suit]";

/// The definition of the command line. All commands accept the options of the experiments, but the help of a command
/// hides those that it does not use; and `--config`, because a configuration file takes the place of a command.
pub fn definition() -> clap::Command {
    let mut command = CommandLine::command();
    command.build();
    // A command that is changed becomes the last, so all are, in order.
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.into_iter().fold(command, |whole, name| {
        whole.mut_subcommand(name.clone(), |command| command.mut_args(|option| fitted(option, &name)))
    })
}

/// The option as the help of the command that is called `name` shows it.
///
/// This sees all options although it changes few: `mut_arg` moves the one that it changes to the end, but a command
/// that has been built finds options by their positions, and would take `-t` for the option that has moved up.
fn fitted(option: clap::Arg, name: &str) -> clap::Arg {
    let of = |table: &[(&str, &'static [&'static str])]| table.iter().find(|(it, _)| *it == name).map(|(_, ids)| *ids);
    let id = option.get_id().as_str();
    let useless = match (of(TOOLS), of(REFUSED)) {
        (Some(useful), _) => option.is_global_set() && !useful.contains(&id),
        (None, Some(refused)) => refused.contains(&id),
        (None, None) => name == "recommend" && NOT_TO_RECOMMEND.contains(&id),
    };
    match (name, id) {
        _ if useless || id == "config" => option.hide(true),
        ("compare", "output") => {
            let option = retold(option, OUTPUT_OF_COMPARE, "-o compared.html -o md:-");
            // CSV cannot hold a comparison. The name is still known, so that a user is told so.
            option.visible_alias(None::<&str>).alias("output-csv")
        }
        ("compare", "quiet") => retold(option, QUIET_TO_COMPARE, "compare old.json new.json --quiet"),
        ("wake", "threads") => option.default_value(THREADS_TO_WAKE),
        (_, MESSAGES) => match JOBS.iter().find(|(experiment, ..)| *experiment == name) {
            Some(&(_, help, example)) => retold(option, help, example),
            None => option,
        },
        ("recommend", "threads") => retold(option, THREADS_TO_RECOMMEND_FOR, "-t 4").hide_default_value(true),
        ("recommend", "executors") => retold(option, EXECUTORS_TO_RECOMMEND, "-e channel,workstealing"),
        ("recommend", "budget") => retold(option, BUDGET_TO_RECOMMEND, "--budget 2min"),
        _ => option,
    }
}

/// The option of `command` that is written `word`, such as `--pre` or `-s`.
pub(super) fn option_of<'a>(command: &'a clap::Command, word: &str) -> Option<&'a clap::Arg> {
    let is_it = |option: &&clap::Arg| match word.strip_prefix("--") {
        Some(name) => {
            option.get_long() == Some(name) || option.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
        }
        None => option.get_short().is_some_and(|short| word == format!("-{short}")),
    };
    command.get_arguments().find(is_it)
}

/// The names of the commands that have an option which is written `word`, in a list; none if there are none.
pub(super) fn owners_of(definition: &clap::Command, word: &str) -> Option<String> {
    let owners = definition.get_subcommands().filter(|command| option_of(command, word).is_some());
    let names: Vec<&str> = owners.map(clap::Command::get_name).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Whether the option that is written `word`, of all commands or of one, takes a list of values for a sweep.
pub(super) fn takes_list(definition: &clap::Command, word: &str) -> bool {
    let lists = [TypeId::of::<Sweep<usize>>(), TypeId::of::<Sweep<u64>>()];
    let takes = |option: &clap::Arg| lists.iter().any(|list| option.get_value_parser().type_id() == *list);
    iter::once(definition).chain(definition.get_subcommands()).filter_map(|it| option_of(it, word)).any(takes)
}

/// An option that has another meaning in this command.
fn retold(option: clap::Arg, help: &'static str, example: &str) -> clap::Arg {
    option.help(help).long_help(format!("{help}\n\nExample: {example}"))
}

/// The manual page of `command`, or of the whole program, for `man`.
///
/// # Errors
///
/// If there is no such command: a line that names all commands.
pub fn manual(command: Option<&str>) -> Result<Vec<u8>, String> {
    let whole = definition();
    let chosen = match command {
        None => whole,
        Some(name) => whole.find_subcommand(name).cloned().ok_or_else(|| {
            let known: Vec<&str> = whole.get_subcommands().map(clap::Command::get_name).collect();
            format!("no command is called `{name}`: choose from {}", known.join(", "))
        })?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(chosen).render(&mut text).expect("memory can be written");
    Ok(text)
}

/// All experiments: their names, and what they measure.
pub fn experiments() -> Vec<(String, String)> {
    let command = CommandLine::command();
    let is_tool = |name: &str| ["help", "recommend"].contains(&name) || TOOLS.iter().any(|(tool, _)| *tool == name);
    let experiments = command.get_subcommands().filter(|command| !is_tool(command.get_name()));
    experiments
        .map(|command| {
            (command.get_name().to_owned(), command.get_about().map(ToString::to_string).unwrap_or_default())
        })
        .collect()
}
