//! The command line.

mod command;
mod config;
mod definition;
mod experiments;
mod options;
mod point;
mod recommend;
mod refusal;
mod sweep;
mod tools;
mod values;

pub use self::{
    command::Command,
    definition::{CommandLine, definition, experiments, manual},
    experiments::{
        AvalancheOptions, BlockingOptions, FairnessOptions, ForkJoinOptions, FuturesOptions, IdleOptions,
        LatencyOptions, LifecycleOptions, RepostOptions, SizeOptions, SubmitOptions, ThroughputOptions, WakeOptions,
        WorkOptions,
    },
    options::{Color, ComparisonOptions, LoadOptions, Options, OutputOptions, SamplingOptions},
    point::Point,
    recommend::{RecommendOptions, Workload},
    refusal::Refusal,
    sweep::Sweep,
    tools::{CompareOptions, CompletionsOptions, ManOptions, ReportOptions},
};

pub(crate) use self::{experiments::within, point::countable};
pub use crate::advice::Need;

use self::options::OF_PROCESSES;
use crate::program;
use clap::{ArgMatches, FromArgMatches, parser::ValueSource};
use std::{ffi::OsString, path::Path};

/// What is to be done, with the options for it.
#[derive(Debug)]
pub struct Order {
    /// What applies to every command.
    pub options: Options,
    /// What to do.
    pub command: Command,
    /// A command line that gives only this order, for other processes: a configuration file may have changed since it
    /// was read, or be a pipe, which can be read only once.
    pub words: Vec<OsString>,
}

/// Parses the command line, and the configuration file if there is one. All orders have the same output and comparison.
///
/// # Errors
///
/// If there is nothing to run: help was asked for, or something is wrong.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Vec<Order>, Refusal> {
    let words: Vec<OsString> = words.into_iter().collect();
    let (line, matches) = parsed(&words)?;
    match (line.command, &line.options.config) {
        (Some(command), None) => Ok(vec![Order { options: line.options, command, words }]),
        (None, Some(path)) => {
            let known = |name: &str| matches.ids().any(|id| id == name);
            let given = |name: &str| known(name) && matches.value_source(name) == Some(ValueSource::CommandLine);
            // Who debugs or profiles what a team's file says should not have to change the file.
            let in_process = given("in_process");
            let excluded = |name: &str| in_process && OF_PROCESSES.iter().any(|option| option.id == name);
            let settled = |name: &str| given(name) || excluded(name);
            let lines = config::command_lines(path, &words, settled).map_err(Refusal::Wrong)?;
            let ordered = |words| {
                let mut order = ordered(words, path).map_err(|refusal| refusal.within(path))?;
                if !given("noise_threshold") {
                    order.options.comparison.forget_idle_threshold();
                }
                Ok(order)
            };
            lines.into_iter().map(ordered).collect()
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
    let matches = definition().long_version(program::version()).try_get_matches_from(words)?;
    let mut line = CommandLine::from_arg_matches(&matches)?;
    if let Some((option, command)) = definition::meaningless(&matches) {
        return Err(Refusal::Wrong(format!("--{option} does not apply to {command}: leave it out")));
    }
    if let Some((option, command)) = definition::divided(words, &matches) {
        let complaint = format!("--{option} stands before and after `{command}`: put all of it on one side");
        return Err(Refusal::Wrong(complaint));
    }
    line.options.sampling.agree().map_err(Refusal::Wrong)?;
    if let Some(Command::Recommend(own)) = &line.command {
        let own_matches = matches.subcommand().map_or(&matches, |(_, own)| own);
        let given = own_matches.value_source("threads") != Some(ValueSource::DefaultValue);
        own.spin_matters(!line.options.executors.is_empty()).map_err(Refusal::Wrong)?;
        RecommendOptions::one_width(&line.options.threads).map_err(Refusal::Wrong)?;
        line.options.suit(own, given);
    }
    Ok((line, matches))
}

/// The order of a command line that comes from the configuration file at `path`.
fn ordered(words: Vec<OsString>, path: &Path) -> Result<Order, Refusal> {
    match parsed(&words)?.0 {
        CommandLine { options, command: Some(command) } => {
            let options = Options { config: Some(path.to_owned()), ..options };
            Ok(Order { options, command, words })
        }
        CommandLine { command: None, .. } => Err(Refusal::Wrong("a run without an experiment".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Ability, ENTRIES};
    use clap::{CommandFactory, ValueEnum};
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
            let Order { options, command, .. } = parsed(&format!("executor-performance {line}")).expect(line);
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
    fn wake_has_threads_of_its_own_unless_told_otherwise() {
        for (line, threads) in [("wake", 10), ("-t 1 wake", 1), ("wake -t 2", 2), ("latency", 1), ("recommend -t 3", 3)]
        {
            let [point] = options(line).points()[..] else { panic!("{line} is one point") };
            assert_eq!(point.threads, threads, "{line}");
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
        // These formats cannot hold a comparison.
        assert!(!help.contains("csv") && !help.contains("-o run.json"), "{help}");
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
    fn every_option_has_an_example() {
        let whole = definition();
        for command in std::iter::once(&whole).chain(whole.get_subcommands()) {
            let own = |option: &&clap::Arg| {
                let given = ["help", "version"].contains(&option.get_id().as_str());
                !given && !option.is_positional() && !option.is_hide_set()
            };
            for option in command.get_arguments().filter(own) {
                let help = option.get_long_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains("Example:"), "{option} of {}: {help}", command.get_name());
            }
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

    /// What is offered for completion, besides what is always offered. The scripts are too long to be read, and not
    /// ours.
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
    fn recommend_takes_the_options_that_its_help_shows() {
        let options = options("recommend -t 3 -e channel --budget 7 --seed 4 -o x.json");
        assert_eq!((options.threads.values(), options.executors.len()), (&[3][..], 1));
        assert_eq!((options.sampling.budget.as_secs(), options.sampling.seed), (7, 4));
        assert_eq!(options.output.output.len(), 1);
    }

    /// This is how the program knows that there is nothing to ask for.
    #[test]
    fn what_a_file_says_names_the_file_and_its_words_do_not() {
        let path = std::env::temp_dir().join(format!("cli-{}.toml", std::process::id()));
        std::fs::write(&path, "budget = 7\n[[run]]\nexperiment = \"recommend\"\n").expect("written");
        let order = parsed(&format!("tool --config {} -t 2", path.display())).expect("a run");
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(order.options.config, Some(path));
        assert_eq!(order.words, ["tool", "--budget=7", "recommend", "-t", "2"]);
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
            ("-e nothing-like-it throughput", "`list` names all"),
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
