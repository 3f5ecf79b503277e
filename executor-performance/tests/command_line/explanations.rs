//! What the program says about itself, and about what is wrong.

use crate::support::{
    BRIEF, EXPERIMENTS, documented_record, fresh_folder, json, measured, program, refused, refused_in, run, stderr,
    stdout,
};
use std::fs;

#[test]
fn lists_the_experiments_a_line_each() {
    let list = measured("list");
    let experiments = list.lines().skip_while(|line| *line != "experiments");
    let experiments: Vec<&str> = experiments.skip_while(|line| !line.is_empty()).skip(1).collect();
    for name in EXPERIMENTS {
        let named = experiments.iter().filter(|line| line[5..].split(' ').next() == Some(name));
        assert_eq!(named.count(), 1, "{name}: {list}");
    }
    assert_eq!(experiments.len(), EXPERIMENTS.len(), "{list}");
}

#[test]
fn the_first_block_says_what_was_run_where() {
    let text = measured(&format!("{BRIEF} -m 10 -e channel throughput --pre 1000"));
    let line = format!("executor-performance {BRIEF} -m 10 -e channel throughput --pre 1000");
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains(&line), "{text}");
    for part in [env!("CARGO_PKG_VERSION"), "build", "cores", "load average", "1000 units ("] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn helps_everywhere() {
    for line in ["--help", "-h", "help", "throughput --help", "latency -h", "list --help", "help latency", "--version"]
    {
        let output = run(line);
        assert_eq!(output.status.code(), Some(0), "{line}");
        assert!(!output.stdout.is_empty() && output.stderr.is_empty(), "{line}");
    }
    let version = measured("--version");
    assert!(version.starts_with(&format!("executor-performance {}", env!("CARGO_PKG_VERSION"))), "{version}");
    assert_eq!(version.contains("features "), cfg!(any(feature = "peers", feature = "published")), "{version}");
    for experiment in EXPERIMENTS {
        assert!(measured(&format!("{experiment} --help")).contains("Usage:"), "{experiment}");
    }
    let help = measured("--help");
    for part in ["Exit codes", "throughput", "latency", "--skip-tpe", "-o, --output <FILE>", "(1 + amplification)"] {
        assert!(help.contains(part), "{part} in {help}");
    }
}

/// Command lines that make no sense, of all kinds.
const WRONG: &[&str] = &[
    "",
    "throughputt",
    "--no-such-option throughput",
    "--pre 3 throughput",
    "-s 100 latency",
    "latency --work=5",
    "-t 0 throughput",
    "-t 10001 throughput",
    "-t four throughput",
    "-p 0 throughput",
    "-m 0 latency",
    "-m 1e6 latency",
    "-a many throughput",
    "throughput --pre much",
    "latency -s soon",
    "latency --rate 0",
    "latency --rate fast",
    "latency --rate 10 -s 5",
    "latency --run-time 10",
    "latency --rate 10 --run-time 0",
    "latency --rate 10 --run-time 50",
    "latency --rate 1000000000",
    "-m 5 latency --rate 10",
    "-a 5 latency --rate 10",
    "--budget 0 throughput",
    "--rse -1 throughput",
    "--min-samples 9 --max-samples 8 throughput",
    "-t 33 -e workstealing-small throughput",
    "-t 65 -e workstealing-large throughput",
    "-m 18446744073709551615 -a 1 throughput",
    "-m 18446744073709551615 -a 0 throughput --full-size",
    "--jobs 18446744073709551615 avalanche",
    "-p 2 -m 18446744073709551615 submit",
    "repost --hops 18446744073709551615",
    "-e threadpool --skip-tpe throughput",
    "repost --chains 0",
    "-m 5 repost",
    "-p 2 avalanche",
    "-a 2 avalanche",
    "-a 2 submit",
    "submit --work long",
    "submit --work 10000",
    "repost --work 0.5us",
    "repost --work 15s",
    "avalanche --work 15s",
    "wake -s 5parsecs",
    "--budget soon wake",
    "recommend --job-time long",
    "-p 2 wake",
    "wake -s soon",
    "wake -s 0.5",
    "latency -s 500us",
    "wake -s 99999999999999999999",
    "wake -s 140s",
    "-m 1000000000000 wake",
    "latency -s 140s",
    "--timeout 10 latency --rate 1 --run-time 1min",
    "idle --settle 70s",
    "fairness --probe-interval 1s --run-time 5min",
    "--jobs 100 -t 1 blocking -s 2s",
    "repost --hops 1000 --work 1s",
    "--jobs 200 avalanche --work 1s --full-size",
    "--jobs 10000 -t 2 avalanche --work 9s",
    "--budget 1e-10 throughput",
    "-m 2 fairness",
    "fairness --chains 18446744073709551615",
    "fairness --probe-interval 0",
    "fairness --run-time 1",
    "-p 2 lifecycle",
    "-a 2 idle",
    "idle --window 0",
    "-p 2 futures",
    "futures --workload chian",
    "futures --operations 18446744073709551615",
    "-p 2 fork-join",
    "fork-join --workload fob",
    "fork-join --fib 94",
    "fork-join --workload fib --cutoff 1",
    "fork-join --cutoff 5",
    "fork-join --fib 1",
    "fork-join --workload fib --cutoff 26",
    "fork-join --elements 1000",
    "-t 6000 -p 6000 throughput",
    "fork-join --workload fib,sort --cutoff 5",
    "fork-join --workload sort --fib 5",
    "fork-join --workload fib --elements 5",
    "fork-join --elements 18446744073709551615",
    "-o /no/such/directory/results.csv throughput",
    "-o /no/such/directory/run.json throughput",
    "-o run.xml throughput",
    "-o html throughput",
    "-o json:run throughput",
    "-o - -o csv:- throughput",
    "-t 1,0 throughput",
    "-t 4..1 throughput",
    "-t 1,,2 throughput",
    "-t 1..1000 -p 1..1000 -m 1..1000 throughput",
    "-t 1..101 repost --chains 1..100",
    "-t 1..101 latency --rate 1000..1099",
    "-t -1 throughput",
    "-t 99999999999999999999 throughput",
    "-m 99999999999999999999 throughput",
    "-a -1 throughput",
    "-m 2.5 throughput",
    "--seed x throughput",
    "--warm-up -1 throughput",
    "--budget inf throughput",
    "--budget 1e400 throughput",
    "--rse nan throughput",
    "-e nobody throughput",
    "fork-join --workload fib --cutoff 0",
    "fork-join --workload fib --cutoff 4294967296",
    "-o= throughput",
    "-o rows.csv throughput",
    "--in-process --timeout 1 throughput",
    "--in-process throughput --timeout 1",
    "--in-process --processes 2 throughput",
    "-o a.md compare record.json record.json -o b.md",
    "-e channel throughput -e workstealing",
    "-t 2 wake -t 4",
    "-t 1,2 -t 3,1 throughput",
    "repost --chains 1 --chains 2",
    "--budget 1 --budget 2 throughput",
    "--seed 1 -o throughput throughput --seed 2",
    "--config useless-limit.toml",
    "--config in-process.toml --processes 2",
    "--patience 0.5 blocking -s 500",
    "--min-samples 5 --processes 9 --max-samples 8 throughput",
    "--fail-on-regression throughput",
    "--noise-threshold 10 throughput",
    "--noise-threshold 1e300 throughput",
    "--config sound.toml --noise-threshold 10",
    "--baseline rows.json throughput",
    "--baseline record.json -o ./record.json throughput",
    "--config no.toml",
    "--config record.json",
    "--config empty.toml",
    "--config nameless.toml",
    "--config speed.toml",
    "--config misspelt.toml",
    "--config several.toml",
    "--config none-of-several.toml",
    "--config misplaced.toml",
    "--config others.toml",
    "--config useless.toml",
    "--config none.toml",
    "--config sound.toml throughput",
    "--config sound.toml --pre 5",
    "recommend --workload blocking,inside",
    "recommend --workload outsid",
    "recommend --job-time 0",
    "recommend --job-time 1e12",
    "recommend --needs speed",
    "-e channel recommend --needs bound",
    "recommend inside",
    "throughput blocking",
    "recommend --spin --workload blocking",
    "recommend --spin --needs bound",
    "-e channel recommend --spin",
    "-t 1,2 recommend",
    "--patience 0.001 recommend --workload blocking",
    "-m 5 recommend",
    "recommend --baseline record.json",
    "recommend --fail-on-regression",
    "report rows.json",
    "report torn.json",
    "report newer.json",
    "report empty.json",
    "report negative.json",
    "report zeroth.json",
    "report record.json -o run.xml",
    "report record.json -o ./record.json",
    "compare one.json",
    "compare record.json fewer.json",
    "compare record.json record.json -o compared.csv",
    "list -o x.json",
    "-t 3 list",
    "list --quiet",
    "compare -t 3 record.json record.json",
    "compare record.json record.json --budget 3",
    "report -t 3 record.json",
    "report --in-process record.json",
    "man --seed 3",
    "completions -p 2 bash",
    "recommend --force",
    "man latenzy",
    "compare /no/such.json /no/such.json",
    "completions tcsh",
];

/// The `record` after a change.
fn json_of(record: &str, change: impl FnOnce(&mut serde_json::Value)) -> String {
    let mut record = json(record);
    change(&mut record);
    record.to_string()
}

/// The files to which the wrong command lines refer, and their contents.
fn wrong_files() -> Vec<(&'static str, String)> {
    let record = documented_record();
    let run = |text: &str| format!("[[run]]\n{text}\n");
    vec![
        ("fewer.json", record.replace("\"producers\": 2", "\"producers\": 1")),
        ("empty.json", json_of(&record, |record| record["runs"] = serde_json::json!([]))),
        (
            "negative.json",
            json_of(&record, |record| record["runs"][0]["rows"][0]["samples"]["values"][0] = (-1).into()),
        ),
        ("zeroth.json", json_of(&record, |record| record["schema"] = 0.into())),
        ("torn.json", record[..record.len() / 2].to_owned()),
        ("record.json", record),
        ("rows.json", "a,b\n".to_owned()),
        ("newer.json", "{\"schema\": 99}".to_owned()),
        ("rows.csv", "a,b\n1,2\n".to_owned()),
        ("no.toml", "no table at all".to_owned()),
        ("empty.toml", "threads = 1".to_owned()),
        ("nameless.toml", run("threads = 1")),
        ("speed.toml", run("experiment = \"speed\"")),
        ("misspelt.toml", format!("thread = 2\n{}", run("experiment = \"wake\""))),
        ("several.toml", format!("threads = {{ from = 1 }}\n{}", run("experiment = \"wake\""))),
        ("none-of-several.toml", format!("executor = []\n{}", run("experiment = \"wake\""))),
        ("misplaced.toml", run("experiment = \"wake\"\noutput = \"run.json\"")),
        ("others.toml", run("experiment = \"wake\"\npre = 3")),
        ("useless.toml", run("experiment = \"wake\"\nproducers = 2")),
        ("useless-limit.toml", format!("timeout = 5\n{}", run("experiment = \"wake\"\nin-process = true"))),
        ("in-process.toml", run("experiment = \"wake\"\nin-process = true")),
        ("sound.toml", run("experiment = \"wake\"")),
    ]
}

/// Each wrong command line, and its error message.
#[test]
fn refuses_what_makes_no_sense() {
    let folder = fresh_folder("wrong");
    for (name, text) in wrong_files() {
        fs::write(folder.join(name), text).expect("written");
    }
    let told = WRONG.iter().map(|line| format!("executor-performance {line}\n    {}", refused_in(&folder, line)));
    insta::assert_snapshot!(told.collect::<String>());
}

#[test]
fn an_unknown_executor_is_named_with_the_one_that_was_meant_or_where_all_are() {
    for (line, parts) in [
        ("-e channel,workstealin throughput", ["'workstealin'", "; a similar value exists: 'workstealing'"]),
        ("-e nobody throughput", ["'nobody'", "; `list` names all"]),
    ] {
        let complaint = refused(line);
        for part in parts {
            assert!(complaint.contains(part), "{part} in {complaint}");
        }
        assert!(complaint.len() < 150, "{complaint}");
    }
}

/// Builds with all features may be without them, too.
#[cfg(not(all(peers_forte, peers_burst_pool)))]
#[test]
fn an_executor_of_another_build_is_named_with_what_to_build() {
    let (name, flag) = if cfg!(peers_forte) { ("burst-pool", "peers_burst_pool") } else { ("forte", "peers_forte") };
    let complaint = refused(&format!("-e channel,{name} throughput"));
    assert!(complaint.contains(&format!("--executor {name} is not in this build")), "{complaint}");
    assert!(complaint.contains("--features peers") && complaint.contains(&format!("--cfg {flag}")), "{complaint}");
}

#[cfg(not(feature = "peers"))]
#[test]
fn an_executor_that_needs_a_feature_is_named_with_that() {
    assert!(refused("-e rayon throughput").contains("build it with --features peers"));
}

#[test]
fn warns_of_what_makes_numbers_doubtful_and_goes_on() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let output = run(&format!("{BRIEF} -t {} -m 10 -e channel throughput", cores + 1));
    let warnings = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{warnings}");
    assert!(warnings.contains(&format!("warning: {} threads on {cores} cores", cores + 1)), "{warnings}");
    assert_eq!(warnings.contains("DEBUG BUILD"), cfg!(debug_assertions), "{warnings}");
}

#[test]
fn draws_nothing_into_a_pipe() {
    let output = run(&format!("{BRIEF} -m 10 throughput"));
    for text in [stdout(&output), stderr(&output)] {
        assert!(!text.contains(['\r', '\x1b']), "{text:?}");
    }
}

#[test]
fn says_nothing_else_if_it_is_to_be_quiet() {
    let output = run(&format!("{BRIEF} --quiet -t 64 -m 10 -e channel throughput"));
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    assert!(!stdout(&output).contains("machine") && stdout(&output).contains("channel"), "{}", stdout(&output));
}

#[test]
fn colors_on_request_only() {
    let line = format!("{BRIEF} -m 10 -e channel throughput");
    assert!(measured(&format!("{line} --color always")).contains("\x1b["));
    assert!(!measured(&format!("{line} --color never")).contains("\x1b["));
}

/// As on a terminal, in place of which `CLICOLOR_FORCE` is set.
#[test]
fn no_color_is_obeyed() {
    let line = format!("{BRIEF} -m 10 -e channel throughput");
    let coloured = |no_color: &str| {
        let mut program = program();
        program.args(line.split_whitespace()).env("CLICOLOR_FORCE", "1").env("NO_COLOR", no_color);
        stdout(&program.output().expect("the program starts")).contains("\x1b[")
    };
    assert!(coloured("") && !coloured("1"));
}

#[test]
fn explains_itself_to_shells_and_readers() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        assert!(measured(&format!("completions {shell}")).contains("fail-on-regression"), "{shell}");
    }
    assert!(measured("man").contains(".TH executor-performance"), "{}", measured("man"));
}
