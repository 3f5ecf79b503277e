//! The command line.

mod config;
mod experiments;
mod options;
mod point;
mod recommend;
mod sweep;
mod tools;
mod values;

pub use self::{
    experiments::{
        AvalancheOptions, BlockingOptions, FairnessOptions, ForkJoinOptions, FuturesOptions, IdleOptions,
        LatencyOptions, RepostOptions, SizeOptions, SubmitOptions, ThroughputOptions, WakeOptions, WorkOptions,
    },
    options::{Color, ComparisonOptions, LoadOptions, Options, OutputOptions, SamplingOptions},
    point::Point,
    recommend::{Need, RecommendOptions, Workload},
    sweep::Sweep,
    tools::{CompareOptions, CompletionsOptions, ManOptions, ReportOptions},
};

use clap::{
    ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum,
    error::{ContextKind, ContextValue, ErrorKind},
    parser::ValueSource,
};
use std::ffi::OsString;

const ABOUT: &str = "Measures task executors on this machine, so that you can choose one and believe the numbers";

const LONG_ABOUT: &str = "\
Measures task executors on this machine, so that you can choose one and believe the numbers.

For throughput and latency, producers, threads that are not part of the executor, give it jobs from outside. Each of these jobs starts a chain: the \
executor's own threads give it the following jobs of the chain, as many as the amplification says. All producers x \
messages x (1 + amplification) jobs are counted, and the clock stops at the end of the last. (Releases before 0.10.1 \
counted producers x messages x amplification, and stopped the clock earlier: their figures cannot be compared.)

The other experiments have loads of their own; their --help describes them.

Times may have a unit, as in 100us, 2ms, 10s or 2min. Without one they are in what stands behind the option: US, MS \
or SECONDS.

Executors are sampled in turn, after a warm-up, until the relative standard error (RSE) of each is small or the budget \
is spent.";

const EXAMPLES: &str = "\
Examples:
  Which executor is best for me?
    executor-performance recommend
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
  Single jobs that come when they come, as requests do, at more and more a second:
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

Exit codes: 0 all was measured, 1 an executor failed or results could not be
written, 2 wrong usage, 3 something is slower than the baseline, or fails
unlike there, and --fail-on-regression was given. An interrupt (Ctrl-C) ends
the run after the sample that is being taken, writes what there is, and ends
the program by that signal; a second one ends it at once.";

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
    /// What to do. Nothing with a configuration file, which says it.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measures how many jobs a loaded executor runs in a second
    ///
    /// A sample is the whole load given at once, from the first submission to the end of the last job. A load that is
    /// too large for the budget is sampled in smaller pieces of the same shape, unless --full-size is given.
    Throughput(ThroughputOptions),
    /// Measures how long an executor takes for bursts, or for jobs at a rate
    ///
    /// A burst is the whole load given at once, and its time that from the first submission to the end of the last job.
    /// Each job does 10 units of work before and 10 after passing on. This is a closed loop: bursts never overlap. With
    /// --rate it is an open loop of single jobs, and the time is that of each job.
    Latency(LatencyOptions),
    /// Measures what it costs a job to give the next one to the executor
    ///
    /// Chains of jobs without work, or with --work: each job gives its successor to the executor from inside. The time
    /// of a hop is that of a sample, without that work, by the hops of all its chains.
    Repost(RepostOptions),
    /// Measures what a job costs when one thread gives many at once
    ///
    /// From the first submission to the end of the last job, without what jobs do by themselves: nothing, or --work.
    /// How many: --jobs.
    Avalanche(AvalancheOptions),
    /// Measures what it costs threads to give jobs to an executor
    ///
    /// Producers give single jobs, as many as --producers and --jobs say. The first time is that of submitting alone:
    /// from the first submission to the return of the last producer. The second goes on until all jobs have ended. A
    /// sample keeps all its jobs in memory if they sleep.
    Submit(SubmitOptions),
    /// Measures how long sleeping workers take to begin a burst of jobs
    ///
    /// One thread gives --jobs jobs at once, by default as many as there are threads. The time is that from just before
    /// the first submission to the beginning of each job, which reads the clock. The executors `reference-unpark` and
    /// `reference-mutex-condvar` show what the bare waking costs.
    Wake(WakeOptions),
    /// Measures how long a job from outside waits while workers are busy
    ///
    /// Chains of empty jobs saturate the pool. Meanwhile a thread gives it a probe now and then: a job whose delay is
    /// measured, from just before its submission to its beginning. Probes that have not begun when the chains stop are
    /// starved; their delays are counted up to then, so they are even longer than the figures say.
    Fairness(FairnessOptions),
    /// Measures how long jobs take that sleep, on up to so many threads
    ///
    /// One thread gives --jobs jobs at once (by default 1000), each of which sleeps, as jobs do that wait for the
    /// system. --threads is how many threads the executor may have: the ideal is that all of them sleep all the time.
    /// The executors are new for each sample: those that begin with few threads and get more have to do so in the time
    /// that is measured. Example: -t 128 -e elastic-growing,channel blocking
    Blocking(BlockingOptions),
    /// Measures what it costs when jobs panic, and that none is lost
    ///
    /// One thread gives --jobs jobs that end (by default 1000), as many that panic, and as many that end again, each
    /// when all before have run. An executor that loses jobs, or threads for good, or ends the process, gets a row that
    /// says so. Example: -t 4 panics
    Panics,
    /// Measures what it costs to build an executor and shut it down
    ///
    /// A round trip is from before the executor is built until it has shut down and, where the system can tell, its
    /// threads have ended. The time to the end of the first job counts from before it is built, too.
    Lifecycle,
    /// Measures CPU time and memory of an executor that has nothing to do
    ///
    /// After some jobs, and a time to come to rest, it is let alone for a window of time. Then all its workers are kept
    /// from their work, and --jobs jobs are queued (by default 100000), to see how much of the heap each takes. Heap is
    /// measured with glibc only.
    Idle(IdleOptions),
    /// Measures what tasks cost that spawn, wait and yield
    ///
    /// For executors that run futures. Each workload is measured by itself, in an equal share of the budget. An
    /// operation is a spawned task, a pair of tasks for ping-pong, or a yield.
    Futures(FuturesOptions),
    /// Measures what it costs jobs to fork and to join
    ///
    /// A problem is divided in two again and again: a job gives one part to the executor, solves the other, and waits
    /// for the first. The result is checked. Each workload is measured by itself, in an equal share of the budget. The
    /// speed-up is how many times as long the same takes without an executor, on one thread. Only for executors whose
    /// jobs can wait for jobs without a deadlock (`j` in `list`).
    /// Example: -t 1..4 fork-join --workload fib --cutoff 15
    ForkJoin(ForkJoinOptions),
    /// Measures your kind of workload, and says which executor to take
    ///
    /// Runs short experiments, in --budget all together (by default a minute), with as many threads as there are cores
    /// unless --threads says otherwise (64 if jobs block), and ends in one sentence and a line of code. On a terminal
    /// it asks what it was not told. To measure jobs of your own, call the library: `executor_performance::measure`.
    /// Example: recommend --workload bursts --job-time 20
    Recommend(RecommendOptions),
    /// Lists the executors that can be measured, and the experiments
    ///
    /// With what each executor can do, and what each experiment takes. Example: executor-performance list | grep fj
    #[command(override_usage = "executor-performance list")]
    List,
    /// Compares two records, and says what has become slower or faster
    ///
    /// Both are files written with `-o FILE.json`. A change is real if its 95 % interval, which is as wide as processes
    /// differ, is beyond the noise threshold. With -o, the comparison is written as a page (.html) or as tables (.md).
    /// Example: compare old.json new.json -o compared.html
    #[command(override_usage = "executor-performance compare [OPTIONS] <OLD> <NEW>")]
    Compare(CompareOptions),
    /// Shows a record, and writes it in other formats, without measuring
    ///
    /// Example: executor-performance report run.json -o run.html -o run.svg
    #[command(override_usage = "executor-performance report [OPTIONS] <RECORD>")]
    Report(ReportOptions),
    /// Prints completions for a shell
    ///
    /// Example: executor-performance completions bash > ~/.local/share/bash-completion/completions/executor-performance
    #[command(override_usage = "executor-performance completions <SHELL>")]
    Completions(CompletionsOptions),
    /// Prints the manual page, or that of a command
    ///
    /// Example: executor-performance man latency | man -l -
    #[command(override_usage = "executor-performance man [COMMAND]")]
    Man(ManOptions),
}

/// Commands that measure nothing, and which of the options for experiments mean something to them.
const TOOLS: &[(&str, &[&str])] = &[
    ("list", &[]),
    ("compare", &["color", "output", "noise_threshold", "fail_on_regression", "force"]),
    ("report", &["color", "quiet", "output"]),
    ("completions", &[]),
    ("man", &[]),
];

/// Options that mean nothing to recommend.
const NOT_TO_RECOMMEND: &[&str] =
    &["producers", "messages", "message_amplification", "baseline", "noise_threshold", "fail_on_regression", "force"];

const THREADS_TO_RECOMMEND_FOR: &str =
    "Worker threads that you will have [default: one for each core; if jobs block, 64]";

const EXECUTORS_TO_RECOMMEND: &str =
    "Executors to choose from, by name; `all` for all. May be repeated [default: those that suit]";

/// Why there is nothing to run.
#[derive(Debug)]
pub enum Refusal {
    /// Help or the version was asked for, and is in here.
    Shown(clap::Error),
    /// The command line is wrong: one line that says how.
    Wrong(String),
}

/// What is to be done, with the options for it.
#[derive(Debug)]
pub struct Order {
    /// What applies to every command.
    pub options: Options,
    /// What to do.
    pub command: Command,
}

/// Parses the command line, and the configuration file if there is one. All orders have the same output and comparison.
///
/// # Errors
///
/// If there is nothing to run.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Vec<Order>, Refusal> {
    let words: Vec<OsString> = words.into_iter().collect();
    let (line, matches) = parsed(&words)?;
    match (line.command, &line.options.config) {
        (Some(command), None) => Ok(vec![Order { options: line.options, command }]),
        (None, Some(path)) => {
            let known = |name: &str| matches.ids().any(|id| id == name);
            let given = |name: &str| known(name) && matches.value_source(name) == Some(ValueSource::CommandLine);
            let lines = config::command_lines(path, &words, given).map_err(Refusal::Wrong)?;
            lines.iter().map(|words| ordered(words).map_err(|refusal| refusal.within(path))).collect()
        }
        (Some(command), Some(path)) => Err(Refusal::Wrong(format!(
            "--config {} says what to measure: leave out `{}`",
            path.display(),
            matches.subcommand_name().unwrap_or(&format!("{command:?}"))
        ))),
        (None, None) => Err(Refusal::Wrong("a subcommand is missing, such as `throughput`".to_owned())),
    }
}

fn parsed(words: &[OsString]) -> Result<(CommandLine, ArgMatches), Refusal> {
    let matches = definition().try_get_matches_from(words).map_err(refused)?;
    let mut line = CommandLine::from_arg_matches(&matches).map_err(refused)?;
    if let Some(Command::Recommend(own)) = &line.command {
        let own_matches = matches.subcommand().map_or(&matches, |(_, own)| own);
        let given = own_matches.value_source("threads") != Some(ValueSource::DefaultValue);
        line.options.suit(own, given);
    }
    Ok((line, matches))
}

fn ordered(words: &[OsString]) -> Result<Order, Refusal> {
    match parsed(words)?.0 {
        CommandLine { options, command: Some(command) } => Ok(Order { options, command }),
        CommandLine { command: None, .. } => Err(Refusal::Wrong("a run without an experiment".to_owned())),
    }
}

fn refused(error: clap::Error) -> Refusal {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Refusal::Shown(error),
        _ => Refusal::Wrong(one_line(&error.render().to_string()) + &remedy(&error)),
    }
}

/// What somebody meant who said a workload without its option.
fn remedy(error: &clap::Error) -> String {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if Workload::from_str(word, true).is_ok() => {
            format!("; say --workload {word}")
        }
        _ => String::new(),
    }
}

impl Refusal {
    fn within(self, path: &std::path::Path) -> Self {
        match self {
            Refusal::Wrong(complaint) => Refusal::Wrong(format!("{}: {complaint}", path.display())),
            Refusal::Shown(error) => Refusal::Wrong(format!("{}: {error}", path.display())),
        }
    }
}

/// The definition of the command line. Options of the experiments are accepted by all commands, but there is no point
/// in showing them where they mean nothing; and a configuration file stands in place of a command.
pub fn definition() -> clap::Command {
    let mut command = CommandLine::command();
    command.build();
    for (tool, useful) in TOOLS {
        command = command.mut_subcommand(*tool, |tool| {
            tool.mut_args(|option| {
                let useless = option.is_global_set() && !useful.contains(&option.get_id().as_str());
                if useless { option.hide(true) } else { option }
            })
        });
    }
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    for name in names {
        command = command.mut_subcommand(name, |command| {
            command.mut_args(|option| if option.get_id() == "config" { option.hide(true) } else { option })
        });
    }
    // One by one and in place: what is known of the options' order must stay true.
    command.mut_subcommand("recommend", |recommend| {
        recommend.mut_args(|option| match option.get_id().as_str() {
            "threads" => retold(option, THREADS_TO_RECOMMEND_FOR, "-t 4").hide_default_value(true),
            "executors" => retold(option, EXECUTORS_TO_RECOMMEND, "-e channel,workstealing"),
            useless if NOT_TO_RECOMMEND.contains(&useless) => option.hide(true),
            _ => option,
        })
    })
}

/// An option that means something else here.
fn retold(option: clap::Arg, help: &'static str, example: &str) -> clap::Arg {
    option.help(help).long_help(format!("{help}\n\nExample: {example}"))
}

/// The manual page of `command`, or of the whole program, for `man`.
///
/// # Errors
///
/// If there is no such command: a line that names those that there are.
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
    use crate::registry::{Ability, ENTRIES};
    use clap_complete::Shell;

    fn parsed(line: &str) -> Result<Order, Refusal> {
        parse(line.split_whitespace().map(OsString::from)).map(|mut orders| orders.remove(0))
    }

    fn options(line: &str) -> Options {
        parsed(&format!("executor-performance {line}")).expect(line).options
    }

    fn names(line: &str) -> Result<Vec<&'static str>, String> {
        options(line)
            .entries(options(line).threads.values()[0], Ability::Jobs)
            .map(|entries| entries.iter().map(|entry| entry.name).collect())
    }

    #[test]
    fn the_definition_is_sound() {
        CommandLine::command().debug_assert();
        definition().debug_assert();
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
            let Order { options, command } = parsed(&format!("executor-performance {line}")).expect(line);
            match command {
                Command::Throughput(own) => {
                    assert_eq!((own.pre, own.post, own.size.full_size), (10_000, 10_000, false));
                }
                Command::Latency(own) => assert_eq!(own.sleep_time, 100),
                other => panic!("{line} is {other:?}"),
            }
            let [point] = options.points()[..] else { panic!("{line} is one point") };
            assert_eq!(point.threads, threads, "{line}");
            assert_eq!(point.chains(1).expect(line).jobs(), jobs, "{line}");
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
        for line in ["latency -t 3 -s 100 -m 7", "-t 3 latency -s 100 -m 7"] {
            let options = options(line);
            assert_eq!(
                (options.threads.values(), options.load.messages.expect("given").values()),
                (&[3][..], &[7][..])
            );
        }
    }

    #[test]
    fn a_sweep_has_a_point_for_each_choice_of_values() {
        let points = options("-t 1,2 -p 1..3 -m 10 -a 0,5 throughput").points();
        assert_eq!(points.len(), 12);
        assert_eq!((points[0].threads, points[1].threads), (1, 2));
        assert_eq!(points[0].chains(1).expect("countable").jobs(), 10);
        assert_eq!(points[11].chains(1).expect("countable").jobs(), 180);
    }

    #[test]
    fn what_means_nothing_to_a_tool_is_not_in_its_help() {
        let Err(Refusal::Shown(help)) = parsed("executor-performance compare --help") else { panic!("help") };
        let help = help.to_string();
        assert!(help.contains("--noise-threshold") && !help.contains("--threads"), "{help}");
        let Err(Refusal::Shown(help)) = parsed("executor-performance recommend --help") else { panic!("help") };
        let help = help.to_string();
        for useless in
            ["--producers", "--messages", "--amplification", "--baseline", "--config", "[default: 1]\n\n  -e"]
        {
            assert!(!help.contains(useless), "{useless} in {help}");
        }
        assert!(help.contains("one for each core"), "{help}");
    }

    #[test]
    fn everything_is_explained() {
        let help = |line: String| match parsed(&line) {
            Err(Refusal::Shown(help)) => help.to_string(),
            other => panic!("{line}: {other:?}"),
        };
        insta::assert_snapshot!("help", help("executor-performance --help".to_owned()));
        for command in definition().get_subcommands().map(clap::Command::get_name).filter(|name| *name != "help") {
            insta::assert_snapshot!(format!("help_{command}"), help(format!("executor-performance {command} --help")));
        }
    }

    #[test]
    fn the_manual_page_explains_it_as_well() {
        let manual = |command: Option<&str>| String::from_utf8(manual(command).expect("a command")).expect("text");
        let versionless = |text: String| text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
        insta::assert_snapshot!(versionless(manual(None)));
        insta::assert_snapshot!("the_manual_page_of_latency", versionless(manual(Some("latency"))));
        for (experiment, _) in experiments() {
            assert!(manual(Some(&experiment)).contains("threads"), "{experiment}");
        }
        assert!(super::manual(Some("latenzy")).expect_err("none").contains("choose from throughput, latency"));
    }

    /// What is offered to complete, beside what always is. The scripts are far too long to be read, and not ours.
    #[test]
    fn shells_complete_every_command_and_option() {
        let script = |shell: Shell| {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut definition(), "executor-performance", &mut text);
            String::from_utf8(text).expect("text")
        };
        let bash = script(Shell::Bash);
        let mut lines = bash.lines().map(str::trim).skip_while(|line| *line != "executor__performance)");
        let (mut offered, mut common) = (String::new(), Vec::new());
        while let Some(command) = lines.find_map(|line| line.strip_prefix("executor__")?.strip_suffix(')')) {
            let words = lines.find_map(|line| line.strip_prefix("opts=\"")?.strip_suffix('"')).expect("what it offers");
            let own: Vec<&str> = words.split(' ').filter(|word| !common.contains(word)).collect();
            if !command.contains("__help") {
                let command = command.rsplit("__subcmd__").next().unwrap_or(command);
                offered += &format!("{}\n", [&[command], &own[..]].concat().join(" "));
            }
            if common.is_empty() {
                common = own;
            }
        }
        insta::assert_snapshot!("completions", offered);

        let whole = definition();
        for shell in Shell::value_variants() {
            let text = script(*shell);
            for command in whole.get_subcommands() {
                assert!(text.contains(command.get_name()), "{} for {shell}", command.get_name());
                for option in command.get_arguments().filter_map(clap::Arg::get_long) {
                    assert!(text.contains(option), "{option} of {} for {shell}", command.get_name());
                }
            }
        }
    }

    #[test]
    fn recommend_takes_the_options_that_its_help_shows_and_understands_the_others() {
        let options = options("recommend -t 3 -e channel --budget 7 --seed 4 -o x.json -m 5");
        assert_eq!((options.threads.values(), options.executors.len()), (&[3][..], 1));
        assert_eq!((options.sampling.budget.as_secs(), options.sampling.seed), (7, 4));
        assert_eq!((options.output.output.len(), options.load.messages.expect("given").values()), (1, &[5][..]));
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
        assert!(options("-p 2 -m 18446744073709551615 throughput").points()[0].chains(1).is_err());
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
