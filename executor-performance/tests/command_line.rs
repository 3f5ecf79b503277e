//! The program as its users meet it: arguments in, text, files and an exit code out.
//!
//! Loads are tiny and nothing here depends on how long anything takes.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output, Stdio},
};

/// Keeps a run short, whatever it measures.
const BRIEF: &str = "--budget 0.01 --min-samples 2 --warm-up 1";

const BY_DEFAULT: [&str; 5] =
    ["threadpool", "channel", "workstealing", "workstealing-park-counted", "workstealing-spin-timed"];

const EXPERIMENTS: &[&str] = &[
    "throughput",
    "latency",
    "repost",
    "avalanche",
    "submit",
    "wake",
    "fairness",
    "blocking",
    "panics",
    "lifecycle",
    "idle",
    "futures",
    "fork-join",
];

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_executor-performance"))
}

fn run(line: &str) -> Output {
    program().args(line.split_whitespace()).output().expect("the program starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// Runs `line`, which must succeed, and returns what it wrote to stdout.
fn measured(line: &str) -> String {
    let output = run(line);
    assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
    stdout(&output)
}

/// Runs `line`, which must be refused in one line before anything is measured, and returns that line.
fn refused(line: &str) -> String {
    let output = run(line);
    let complaint = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{line}: {complaint}");
    assert_eq!(stdout(&output), "", "{line}");
    assert!(complaint.starts_with("error: ") && complaint.lines().count() == 1, "{line}: {complaint}");
    complaint
}

/// Names of executors that have a line in the (first) table of `text`, in order.
fn executors_in(text: &str) -> Vec<&str> {
    let rows = text.lines().skip_while(|line| !line.starts_with("executor ")).skip(2);
    rows.take_while(|line| !line.is_empty()).map(|line| line.split(' ').next().expect("a name")).collect()
}

/// A path for a file of the test `name`, where there is none.
fn fresh_file(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.csv", std::process::id()));
    let _ = fs::remove_file(&path);
    path
}

#[test]
fn measures_throughput_with_low_and_high_amplification() {
    for line in [
        "-t 2 -p 2 -m 100 -a 1 throughput --pre 100 --post 100",
        "-t 1 -p 2 -m 10 -a 50 throughput --pre 100 --post 100",
        "--threads 2 --producers 2 --messages 100 --message-amplification 1 throughput --pre-work 100 --post-work 100",
        "throughput -t 2 -p 1 -m 100 -a 0",
    ] {
        let text = measured(&format!("{BRIEF} {line}"));
        assert_eq!(executors_in(&text), BY_DEFAULT, "{text}");
        assert!(text.contains("M jobs/s") && text.contains("ns/job"), "{text}");
    }
}

#[test]
fn counts_the_jobs_from_outside_and_from_inside() {
    let text = measured(&format!("{BRIEF} -p 2 -m 30 -a 4 -e channel throughput"));
    assert!(text.contains("2 x 30 x (1 + 4) = 300 jobs"), "{text}");
}

#[test]
fn measures_latency_with_small_medium_and_large_bursts() {
    for amplification in [1, 10, 100] {
        let text = measured(&format!("{BRIEF} -t 2 -p 1 -m 10 -a {amplification} latency -s 1"));
        assert_eq!(executors_in(&text), BY_DEFAULT, "{text}");
        for title in ["mean", "p50", "p90", "p99", "max", "RSE", "us/burst", "idle CPU"] {
            assert!(text.contains(title), "{title} in {text}");
        }
    }
    measured(&format!("{BRIEF} -m 10 latency --sleep-time 1"));
}

#[test]
fn measures_the_latency_of_jobs_that_come_at_a_rate() {
    let titles = ["mean", "p50", "p90", "p99", "p99.9", "max", "achieved", "jobs/s", "late p99", "us/job"];
    measures_all("-t 2 -p 3 latency --rate 10000 --run-time 5", &titles);
    let path = fresh("open", "json");
    let line = format!("{BRIEF} -t 2 -e channel -o {path} --seed 5 latency --rate 1000,20000 --run-time 20");
    let text = measured(&line);
    assert!(text.contains("1000 jobs/s from 1 thread") && text.contains("by rate_per_s"), "{text}");
    let record = json(&fs::read_to_string(&path).expect("a record"));
    let row = &record["runs"][1]["rows"][0];
    let jobs = record["runs"][1]["fitted"]["jobs_per_sample"].as_u64().expect("a number");
    let samples = row["samples"]["values"].as_array().expect("samples").len() as u64;
    assert_eq!(row["figures"]["jobs"].as_f64(), Some((jobs * samples) as f64), "{row}");
    assert_eq!(row["times"]["count"].as_u64(), Some(jobs * samples), "{row}");
    assert!(row["figures"]["achieved_percent"].as_f64() <= Some(100.0), "{row}");
    assert_eq!(record["runs"][1]["settings"]["seed"], 5, "{record}");
}

/// A job of 10 + 10 units takes some nanoseconds, and no executor runs a thousand million of them in a second.
#[test]
fn an_executor_that_cannot_keep_up_is_said_to_achieve_less_than_was_asked_for() {
    let path = fresh("overload", "json");
    measured(&format!("{BRIEF} -e channel -o {path} latency --rate 1000000000 --run-time 1"));
    let record = json(&fs::read_to_string(&path).expect("a record"));
    let figures = &record["runs"][0]["rows"][0]["figures"];
    let (percent, rate) = (figures["achieved_percent"].as_f64(), figures["achieved_jobs_per_s"].as_f64());
    assert!(percent < Some(90.0) && rate < Some(9e8) && rate > Some(0.0), "{figures}");
}

/// Runs `line` with each executor of the default list, each of which must have a line in a table with all `titles`.
fn measures_all(line: &str, titles: &[&str]) {
    let text = measured(&format!("{BRIEF} {line}"));
    assert_eq!(executors_in(&text), BY_DEFAULT, "{text}");
    for title in ["slower", "interval", "RSE", "CPU"].iter().chain(titles) {
        assert!(text.contains(title), "{title} in {text}");
    }
}

#[test]
fn measures_what_a_hop_costs() {
    measures_all("-t 2 repost --hops 100", &["median", "95% low", "ns/hop", "1 x 100 hops"]);
    measures_all("-t 2 repost --chains 3 --hops 10 --work 1", &["3 x 10 hops", "1 us of work"]);
    let text = measured(&format!("{BRIEF} -t 2 -e channel repost --chains 1,2 --hops 10"));
    assert!(text.contains("1 x 10 hops") && text.contains("2 x 10 hops") && text.contains("chains"), "{text}");
}

#[test]
fn measures_what_an_empty_job_costs() {
    measures_all("-t 2 avalanche --jobs 100", &["median", "95% low", "ns/job", "100 jobs from one thread"]);
}

#[test]
fn takes_the_work_of_jobs_off_what_they_cost() {
    measures_all("-t 2 avalanche --jobs 100 --work 10", &["10 us of work", "ns/job"]);
    // With the 10 ms of each job, it would be more than 10 million.
    let path = fresh("timed", "json");
    measured(&format!("{BRIEF} --max-samples 3 -t 1 -e channel --jobs 4 -o {path} avalanche --work 10000 --full-size"));
    let record = json(&fs::read_to_string(&path).expect("a record"));
    let best = record["runs"][0]["rows"][0]["figures"]["low95_ns_per_job"].as_f64().expect("a figure");
    assert!(best < 10e6, "{best}");
}

#[test]
fn measures_what_submitting_costs() {
    for line in
        ["-t 4 -p 1 --jobs 50 submit --work 1000", "-t 4 -p 3 --jobs 50 submit --work 1000", "-t 4 -m 50 submit"]
    {
        measures_all(line, &["submit", "95% low", "all ran", "ns/job", "x 50 (producers x jobs)"]);
    }
}

#[test]
fn measures_how_long_workers_take_to_wake() {
    measures_all("-t 2 wake", &["mean", "p20", "p40", "p60", "p80", "p99", "us/burst", "2 jobs from one thread"]);
    measures_all("-t 2 --jobs 5 wake -s 1", &["5 jobs from one thread", "1 ms before each burst"]);
}

#[test]
fn measures_how_long_jobs_from_outside_wait() {
    measures_all("-t 2 fairness --run-time 5", &["p50", "p99", "max", "probes", "starved", "hops", "2 chains"]);
    measures_all("-t 1 fairness --chains 3 --run-time 1 --probe-interval 100", &["3 chains", "every 100 us"]);
}

#[test]
fn measures_how_long_jobs_take_that_sleep() {
    measures_all("-t 3 --jobs 6 blocking", &["95% low", "ideal", "all ran", "2.000 ms", "6 jobs from one thread"]);
    assert!(refused("--patience 0.5 blocking -s 500").contains("--patience"));
}

#[test]
fn measures_what_panics_cost_and_what_does_not_survive_them() {
    let text = measured(&format!("{BRIEF} -t 2 --jobs 20 panics"));
    assert_eq!(executors_in(&text), BY_DEFAULT, "{text}");
    assert!(text.contains("20 that panic") && text.contains("after"), "{text}");

    // The workers of this one end with a job that panics.
    let output = run(&format!("{BRIEF} --patience 0.2 -t 2 --jobs 20 -e reference-mutex-condvar,channel panics"));
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert_eq!(executors_in(&text)[0], "channel", "{text}");
    assert!(text.contains("FAILED: reference-mutex-condvar stalled: 2 of 20 jobs ran"), "{text}");
}

#[test]
fn measures_round_trips() {
    measures_all("-t 2 lifecycle", &["median", "95% low", "build", "first job", "shutdown", "round trips"]);
}

#[test]
fn measures_rest() {
    let text =
        measured("--budget 0.01 --min-samples 1 --warm-up 0 -e channel -t 2 --jobs 50 idle --settle 2 --window 1");
    assert_eq!(executors_in(&text), ["channel"], "{text}");
    for title in ["% of core", "heap", "queued job", "of 50 with 8 bytes", "CPU time in 1 ms, 2 ms after"] {
        assert!(text.contains(title), "{title} in {text}");
    }
}

#[test]
fn measures_futures_one_workload_after_the_other() {
    let text = measured(&format!("{BRIEF} -t 2 futures --operations 50"));
    for workload in ["chain:", "many-inside:", "many-outside:", "ping-pong:", "yield:"] {
        assert_eq!(text.matches(workload).count(), 1, "{workload} in {text}");
    }
    assert_eq!(text.matches("Stopped after").count(), 5, "{text}");
    measures_all("-t 2 futures --operations 50 --workload ping-pong", &["median", "95% low", "ns/op"]);
}

#[test]
fn rows_of_all_workloads_are_in_one_file() {
    let path = fresh_file("futures");
    measured(&format!("{BRIEF} -e channel -o {} futures --operations 50 --workload chain,yield", path.display()));
    let text = fs::read_to_string(&path).expect("a file");
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.contains(",chain,50,") && text.contains(",yield,50,"), "{text}");
}

#[test]
fn only_what_runs_futures_is_measured_with_futures() {
    let text = measured(&format!("{BRIEF} -e all futures --operations 10 --workload chain"));
    let names = executors_in(&text);
    assert!(BY_DEFAULT.iter().all(|name| names.contains(name)) && !names.contains(&"reference-unpark"), "{text}");
    let complaint = refused("-e reference-unpark futures");
    assert!(complaint.contains("reference-unpark cannot run futures: choose from threadpool, channel,"), "{complaint}");
}

#[test]
fn measures_forks_and_joins() {
    let text = measured(&format!("{BRIEF} -t 2 fork-join --fib 8 --elements 5000"));
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for workload in
        ["fib: the number of Fibonacci at 8; below 2,", "sort: quicksort of 5000 random numbers; up to 1000,"]
    {
        assert_eq!(joined.matches(workload).count(), 1, "{workload} in {text}");
    }
    assert_eq!(joined.matches("Stopped after").count(), 2, "{text}");
    let titles = ["median", "95% low", "ns/fork", "a run", "speed-up"];
    measures_all("-t 2 fork-join --workload fib --fib 8 --cutoff 4", &titles);
    measures_all("--in-process -t 2 fork-join --workload sort --elements 100 --cutoff 10", &titles);

    let path = fresh("forks", "json");
    let line = format!("{BRIEF} -t 1,2 -e channel -o {path} --seed 3 fork-join --workload sort --elements 100");
    assert!(measured(&line).contains("by threads"), "{line}");
    let record = json(&fs::read_to_string(&path).expect("a record"));
    let (settings, figures) = (&record["runs"][1]["settings"], &record["runs"][1]["rows"][0]["figures"]);
    assert_eq!((settings["size"].as_u64(), settings["seed"].as_u64()), (Some(100), Some(3)), "{settings}");
    assert!(figures["speed_up"].as_f64() > Some(0.0) && figures["run_us"].as_f64() > Some(0.0), "{figures}");
    run(&format!("{line} --baseline {path} --fail-on-regression"));
    let complaint = refused(&format!("{} --baseline {path}", line.replace("--seed 3", "--seed 4")));
    assert!(complaint.contains("seed: 3 and 4"), "{complaint}");
}

#[test]
fn only_what_can_wait_for_its_jobs_forks_and_joins() {
    let text = measured(&format!("{BRIEF} -e all fork-join --workload fib --fib 5"));
    let names = executors_in(&text);
    assert!(BY_DEFAULT.iter().all(|name| names.contains(name)) && !names.contains(&"reference-unpark"), "{text}");
    let complaint = refused("-e reference-unpark fork-join");
    for part in ["reference-unpark cannot fork and join: let jobs wait", "deadlock: choose from threadpool, channel,"] {
        assert!(complaint.contains(part), "{complaint}");
    }
}

#[test]
fn a_problem_that_is_not_solved_in_time_is_a_failure_and_not_a_number() {
    let output = run(&format!("{BRIEF} --patience 0.001 -e channel fork-join --workload fib --fib 32 --cutoff 30"));
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("FAILED: channel stalled: no result after 0.001 s"), "{text}");
}

#[test]
fn recommends_an_executor_with_a_sentence_and_a_line_of_code() {
    let text = measured("--budget 0.03 --min-samples 2 -t 2 recommend --job-time 0.1");
    assert_eq!(text.matches("Stopped after").count(), 3, "{text}");
    let (sentence, code) = advice_in(&text);
    assert!(sentence.contains("with 2 threads") && sentence.contains("in the mean of 3 workloads"), "{sentence}");
    assert!(sentence.contains("the noise."), "{sentence}");
    assert!(code.contains("(2)") && code.ends_with(".build()?;"), "{code}");

    let text = measured(
        "--budget 0.01 --min-samples 2 -t 3 -e elastic-growing,channel recommend --workload blocking --job-time 10",
    );
    let (sentence, _) = advice_in(&text);
    assert!(text.contains("up to 3") && sentence.contains("with 3 threads"), "{text}");
}

#[test]
fn recommends_what_can_do_what_is_needed() {
    let line = "--budget 0.02 --min-samples 2 -t 2 recommend --workload inside --job-time 0.1 --needs priorities,bound";
    let (sentence, code) = advice_in(&measured(line));
    assert!(
        sentence.starts_with("Take `dispatcher`") && sentence.contains("priorities and bound subpools"),
        "{sentence}"
    );
    assert!(sentence.contains("Compared with `"), "{sentence}");
    assert!(code.contains(".bound_subpool(\"bound\")") && code.contains("Priority::HIGH"), "{code}");
}

/// The sentence of a recommendation, in one line, and its code.
fn advice_in(text: &str) -> (String, String) {
    let (_, advice) = text.split_once("\nTake `").expect("advice");
    assert!(advice.lines().all(|line| line.starts_with(' ') || line.len() <= 80), "{advice}");
    let (sentence, code) = advice.split_once("\n    let pool = executors::").expect("code");
    let sentence: Vec<&str> = sentence.split_whitespace().collect();
    (format!("Take `{}", sentence.join(" ")), code.trim().to_owned())
}

#[test]
fn refuses_to_recommend_for_what_makes_no_sense() {
    for (line, part) in [
        ("recommend --workload blocking,inside", "by itself"),
        ("recommend --workload outsid", "outside"),
        ("recommend --job-time 0", "more than 0"),
        ("recommend --needs speed", "[possible values: priorities, subpools, bound]"),
        ("-e channel recommend --needs bound", "add --executor dispatcher"),
        ("recommend --job-time 1e9", "--job-time is too long for --budget 60 s"),
        ("recommend inside", "say --workload inside"),
        ("-t 1,2 recommend", "several values"),
        ("-m 5 recommend", "--messages 5 means nothing to recommend"),
    ] {
        let complaint = refused(line);
        assert!(complaint.contains(part), "{line}: {complaint}");
    }
}

#[test]
fn skips_the_threadpool_on_request() {
    for option in ["--skip-tpe", "--skip-threadpool-executor"] {
        let text = measured(&format!("{BRIEF} -m 10 {option} throughput"));
        assert_eq!(executors_in(&text), BY_DEFAULT[1..], "{text}");
    }
}

#[test]
fn measures_every_executor_that_it_lists_by_name_and_together() {
    let list = measured("list");
    let names: Vec<&str> = list
        .lines()
        .skip_while(|line| !line.is_empty())
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(|line| line[6..].split(' ').next().expect("a name"))
        .collect();
    assert!(BY_DEFAULT.iter().all(|name| names.contains(name)), "{list}");
    assert!(list.lines().all(|line| line.len() <= 80), "{list}");
    assert!(list.contains("\n*fj   channel ") && list.contains("\n      reference-unpark "), "{list}");

    let chosen = format!("-e {} -e {}", names[0], names[1..].join(","));
    assert_eq!(executors_in(&measured(&format!("{BRIEF} -m 10 {chosen} throughput"))), names);
    assert_eq!(executors_in(&measured(&format!("{BRIEF} -m 10 --executor all throughput"))), names);
}

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
    for experiment in EXPERIMENTS {
        assert!(measured(&format!("{experiment} --help")).contains("Usage:"), "{experiment}");
    }
    let help = measured("--help");
    for part in ["Exit codes", "throughput", "latency", "--skip-tpe", "-o, --output <FILE>", "(1 + amplification)"] {
        assert!(help.contains(part), "{part} in {help}");
    }
}

#[test]
fn refuses_what_makes_no_sense() {
    for (line, part) in [
        ("", "subcommand"),
        ("throughputt", "'throughput'"),
        ("--no-such-option throughput", "'--no-such-option'"),
        ("-t 0 throughput", "'0' for '--threads <N>'"),
        ("-t 10001 throughput", "more than 10000 threads"),
        ("-t four throughput", "'four' for '--threads <N>'"),
        ("-p 0 throughput", "'0' for '--producers <N>'"),
        ("-m 0 latency", "'0' for '--messages <N>'"),
        ("-m 1e6 latency", "'1e6' for '--messages <N>'"),
        ("-a many throughput", "'many' for '--message-amplification <N>'"),
        ("throughput --pre much", "'much' for '--pre <N>'"),
        ("latency -s soon", "'soon' for '--sleep-time <MS>'"),
        ("latency --rate 0", "'0' for '--rate <N>'"),
        ("latency --rate fast", "'fast' for '--rate <N>'"),
        ("latency --rate 10 -s 5", "'--rate <N>' cannot be used with"),
        ("latency --run-time 10", "--rate <N>"),
        ("latency --rate 10 --run-time 0", "'0' for '--run-time <MS>'"),
        ("latency --rate 10 --run-time 50", "--rate 10 for --run-time 50 ms gives no job to some of 1 --producers"),
        ("latency --rate 1000000000", "--rate 1000000000 for --run-time 1000 ms is more than 10000000 jobs"),
        ("-m 5 latency --rate 10", "--messages 5 means nothing to latency --rate"),
        ("-a 5 latency --rate 10", "--message-amplification 5 means nothing to latency --rate"),
        ("--budget 0 throughput", "'0' for '--budget <SECONDS>'"),
        ("--rse -1 throughput", "-1"),
        ("--min-samples 9 --max-samples 8 throughput", "--max-samples 8"),
        ("-t 33 -e workstealing-small throughput", "workstealing-small, which can have 32"),
        ("-t 65 -e workstealing-large throughput", "workstealing-large, which can have 64"),
        ("-m 18446744073709551615 -a 1 throughput", "more jobs than can be counted"),
        ("-e threadpool --skip-tpe throughput", "no executor is left"),
        ("repost --chains 0", "'0' for '--chains <N>'"),
        ("-m 5 repost", "--messages 5 means nothing to repost"),
        ("-p 2 avalanche", "--producers 2 means nothing to avalanche"),
        ("-a 2 avalanche", "--message-amplification 2 means nothing to avalanche"),
        ("-a 2 submit", "--message-amplification 2 means nothing to submit"),
        ("submit --work long", "'long' for '--work <MS>'"),
        ("submit --work 10000", "--work 10000 ms is not less than --patience 10 s"),
        ("-p 2 wake", "--producers 2 means nothing to wake"),
        ("wake -s soon", "'soon' for '--sleep-time <MS>'"),
        ("-m 2 fairness", "--messages 2 means nothing to fairness"),
        ("fairness --chains 18446744073709551615", "--chains 18446744073709551615 are more than can be counted"),
        ("fairness --probe-interval 0", "'0' for '--probe-interval <US>'"),
        ("fairness --run-time 1", "--probe-interval 1000 us leaves no time for a probe in --run-time 1 ms"),
        ("-p 2 lifecycle", "--producers 2 means nothing to lifecycle"),
        ("-a 2 idle", "--message-amplification 2 means nothing to idle"),
        ("idle --window 0", "'0' for '--window <MS>'"),
        ("-p 2 futures", "--producers 2 means nothing to futures"),
        ("futures --workload chian", "'chian'"),
        ("futures --operations 18446744073709551615", "--operations 18446744073709551615 are more than can be counted"),
        ("-p 2 fork-join", "--producers 2 means nothing to fork-join"),
        ("fork-join --workload fob", "'fob'"),
        ("fork-join --fib 94", "94 is not in 0..=93"),
        ("fork-join --workload fib --cutoff 1", "1 is not in 2.."),
        ("fork-join --cutoff 5", "--workload"),
        ("fork-join --workload fib,sort --cutoff 5", "--cutoff 5 is not the same thing to fib and sort: name one"),
        ("fork-join --workload sort --fib 5", "--fib 5 means nothing to --workload sort"),
        ("fork-join --workload fib --elements 5", "--elements 5 means nothing to --workload fib"),
        ("fork-join --elements 18446744073709551615", "--elements are more than 4294967296"),
        ("-o /no/such/directory/results.csv throughput", "/no/such/directory/results.csv"),
        ("-o /no/such/directory/run.json throughput", "/no/such/directory/run.json"),
        ("-o run.xml throughput", "no format is called `xml`"),
        ("-o - -o csv:- throughput", "names the standard output twice"),
        ("-t 1,0 throughput", "`0`: must be at least 1"),
        ("-t 4..1 throughput", "ends before it begins"),
        ("compare one.json", "<NEW>"),
        ("compare /no/such.json /no/such.json", "cannot read /no/such.json"),
        ("completions tcsh", "tcsh"),
    ] {
        let complaint = refused(line);
        assert!(complaint.contains(part), "{line}: {complaint}");
    }
}

#[test]
fn an_unknown_executor_is_named_with_all_that_are_known() {
    let complaint = refused("-e channel,workstealin throughput");
    for part in ["'workstealin'", "'workstealing'", "threadpool, channel, workstealing,", "all"] {
        assert!(complaint.contains(part), "{part} in {complaint}");
    }
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
fn an_executor_that_stalls_is_a_failure_and_not_a_number() {
    let output = run(&format!("{BRIEF} --patience 0.001 -m 1 -a 0 -e channel throughput --pre 2000000000"));
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(text.contains("FAILED: channel stalled: 0 of "), "{text}");
    assert!(stderr(&output).contains("error: 1 of 1 executors failed: channel"), "{}", stderr(&output));
}

#[test]
fn appends_rows_under_one_header() {
    let path = fresh_file("append");
    for (executors, messages) in [("channel", 10), ("channel,workstealing", 20)] {
        measured(&format!("{BRIEF} -t 2 -m {messages} -e {executors} -o {} throughput --pre 7", path.display()));
    }

    let mut reader = csv::Reader::from_path(&path).expect("a file");
    let header = reader.headers().expect("a header").clone();
    let column = |name: &str| header.iter().position(|column| column == name).expect(name);
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    let cells = |name: &str| rows.iter().map(|row| row[column(name)].to_owned()).collect::<Vec<_>>();

    assert_eq!(cells("executor"), ["channel", "channel", "workstealing"]);
    assert_eq!(cells("messages_per_producer"), ["10", "20", "20"]);
    for (name, value) in [
        ("experiment", "throughput"),
        ("status", "ok"),
        ("threads", "2"),
        ("pre_units", "7"),
        ("version", env!("CARGO_PKG_VERSION")),
        ("error", ""),
    ] {
        assert!(cells(name).iter().all(|cell| cell == value), "{name}: {:?}", cells(name));
    }
    for name in ["median_jobs_per_s", "low95_jobs_per_s", "high95_jobs_per_s", "samples", "slowdown_to_best"] {
        assert!(
            cells(name).iter().all(|cell| cell.parse::<f64>().is_ok_and(|it| it > 0.0)),
            "{name}: {:?}",
            cells(name)
        );
    }
    assert!(cells("time_utc").iter().all(|time| time.len() == "2000-01-01T00:00:00Z".len() && time.ends_with('Z')));
}

#[test]
fn rows_of_latency_have_quantiles() {
    let path = fresh_file("latency");
    measured(&format!("{BRIEF} -m 10 -e channel --output-csv {} latency -s 1", path.display()));
    let text = fs::read_to_string(&path).expect("a file");
    assert!(text.starts_with("time_utc,"), "{text}");
    assert!(text.contains(",mean_us,p50_us,p90_us,p99_us,max_us,"), "{text}");
    assert_eq!(text.lines().count(), 2);
}

#[test]
fn a_failed_executor_has_a_row_with_the_reason_and_no_figures() {
    let path = fresh_file("failed");
    run(&format!("{BRIEF} --patience 0.001 -m 1 -a 0 -e channel -o {} throughput --pre 2000000000", path.display()));
    let mut reader = csv::Reader::from_path(&path).expect("a file");
    let header = reader.headers().expect("a header").clone();
    let row = reader.records().next().expect("a row").expect("whole");
    for (column, cell) in header.iter().zip(&row) {
        match column {
            "status" => assert_eq!(cell, "failed"),
            "error" => assert!(cell.starts_with("stalled: "), "{cell}"),
            "median_jobs_per_s" | "cpu_ns_per_job" | "slowdown_to_best" => assert_eq!(cell, "", "{column}"),
            _ => {}
        }
    }
}

#[test]
fn refuses_a_file_with_other_columns() {
    let path = fresh_file("columns");
    for contents in ["a,b,c\n1,2,3\n", "no table at all"] {
        fs::write(&path, contents).expect("written");
        let complaint = refused(&format!("-m 10 -o {} throughput", path.display()));
        assert!(complaint.contains("other columns"), "{complaint}");
        assert_eq!(fs::read_to_string(&path).expect("a file"), contents);
    }
    measured(&format!("{BRIEF} -m 10 -e channel -o {} throughput", fresh_file("columns").display()));
    assert!(refused(&format!("-m 10 -o {} latency", path.display())).contains("other columns"));
}

#[test]
fn completes_the_last_line_of_a_file_before_appending() {
    let path = fresh_file("line");
    let line = format!("{BRIEF} -m 10 -e channel -o {} throughput", path.display());
    measured(&line);
    let text = fs::read_to_string(&path).expect("a file");
    fs::write(&path, text.trim_end()).expect("written");
    measured(&line);
    assert_eq!(csv::Reader::from_path(&path).expect("a file").records().filter(Result::is_ok).count(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written_are_a_failure() {
    let output = run(&format!("{BRIEF} -m 10 -e channel -o /dev/full throughput"));
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("channel"));
    assert!(stderr(&output).contains("error: results could not be written"), "{}", stderr(&output));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for line in [format!("{BRIEF} -m 10 -e channel throughput"), "list".to_owned(), "--help".to_owned()] {
        let mut child = program()
            .args(line.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
        assert!(!stderr(&output).contains("panicked"), "{line}: {}", stderr(&output));
    }
}

/// A path for a file of the test `name`, with that `extension`, where there is none.
fn fresh(name: &str, extension: &str) -> String {
    let path = fresh_file(name).with_extension(extension);
    let _ = fs::remove_file(&path);
    path.display().to_string()
}

/// A record of a small run, in a file.
fn small_record(name: &str, line: &str) -> String {
    let path = fresh(name, "json");
    measured(&format!("{BRIEF} -o {path} {line}"));
    path
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn writes_every_format_at_once() {
    let paths: Vec<String> = ["json", "csv", "md", "html", "svg"].map(|it| fresh("formats", it)).into();
    let outputs: Vec<String> = paths.iter().map(|path| format!("-o {path}")).collect();
    measured(&format!("{BRIEF} -m 10 -e channel {} throughput", outputs.join(" ")));
    let starts = ["{\"schema\":1,", "time_utc,", "# Executors measured", "<!DOCTYPE html>", "<svg xmlns="];
    for (path, start) in paths.iter().zip(starts) {
        let text = fs::read_to_string(path).expect(path);
        assert!(text.starts_with(start) && text.contains("channel"), "{path}: {text}");
    }
    let record = json(&fs::read_to_string(&paths[0]).expect("a record"));
    let row = &record["runs"][0]["rows"][0];
    let length = |list: &str| row["samples"][list].as_array().map_or(0, Vec::len);
    assert!(length("values") >= 2 && length("values") == length("wall_ns"), "{row}");
    assert!(row["samples"]["wall_ns"][0].as_u64().is_some_and(|nanos| nanos > 0), "{row}");
    assert_eq!(record["runs"][0]["settings"]["messages_per_producer"], 10);
    assert!(record["machine"]["processor"]["cores"].as_u64() > Some(0), "{record}");
}

#[test]
fn a_record_on_the_standard_output_is_alone_there() {
    let output = run(&format!("{BRIEF} -m 10 -e channel -o - latency -s 1"));
    assert_eq!(json(&stdout(&output))["runs"][0]["experiment"], "latency");
    assert!(stderr(&output).contains("p99.9"), "{}", stderr(&output));
    let rows = measured(&format!("{BRIEF} -m 10 -e channel,workstealing -o csv:- throughput"));
    assert_eq!(rows.lines().count(), 3, "{rows}");
}

#[test]
fn sweeps_threads_and_loads_into_one_table() {
    let path = fresh_file("sweep");
    let text = measured(&format!("{BRIEF} -t 1,2 -a 0..1 -m 10 -e channel -o {} throughput", path.display()));
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(joined.matches("by threads; in brackets the efficiency").count(), 2, "{text}");
    assert!(joined.contains("%)") && joined.contains("throughput (amplification 1)"), "{text}");
    assert_eq!(fs::read_to_string(&path).expect("a file").lines().count(), 5);
}

#[test]
fn compares_records_and_says_by_its_exit_code_what_is_slower() {
    let old = small_record("old", "-m 10 -e channel throughput");
    assert!(measured(&format!("compare {old} {old}")).contains("channel"));
    measured(&format!("compare {old} {old} --fail-on-regression"));

    // As if it had been much faster before, by more than two processes of a few jobs differ.
    let mut record = json(&fs::read_to_string(&old).expect("a record"));
    for value in record["runs"][0]["rows"][0]["samples"]["values"].as_array_mut().expect("samples") {
        *value = serde_json::json!(value.as_f64().expect("a number") * 1e9);
    }
    let better = fresh("better", "json");
    fs::write(&better, record.to_string()).expect("written");
    let output = run(&format!("compare {better} {old} --fail-on-regression"));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stdout(&output).contains("SLOWER") && stderr(&output).contains("slower than before: channel"));
    assert!(measured(&format!("compare {better} {old}")).contains("SLOWER"));
    let page = fresh("with-baseline", "html");
    let line = format!("{BRIEF} -m 10 -e channel --baseline {better} --fail-on-regression -o {page} throughput");
    assert_eq!(run(&line).status.code(), Some(3));
    assert!(fs::read_to_string(page).expect("a page").contains("Compared with the baseline"));
}

#[test]
fn a_comparison_is_written_where_one_wants_it() {
    let old = small_record("compared", "-m 10 -e channel throughput");
    let (page, document) = (fresh("compared", "html"), fresh("compared", "md"));
    assert!(measured(&format!("compare {old} {old} -o {page} -o {document}")).contains("verdict"));
    assert!(fs::read_to_string(page).expect("a page").contains("</svg>"));
    assert!(fs::read_to_string(document).expect("a document").contains("| channel |"));
    assert!(measured(&format!("compare {old} {old} -o md:-")).starts_with("# Executors compared"));
    let complaint = refused(&format!("compare {old} {old} -o compared.csv"));
    assert!(complaint.contains("compared.csv cannot hold a comparison") && complaint.contains(".html"), "{complaint}");
}

#[test]
fn each_executor_has_several_processes() {
    let path = fresh("processes", "json");
    measured(&format!("--budget 0.01 --min-samples 6 --processes 3 -m 10 -e channel -o {path} throughput"));
    let record = json(&fs::read_to_string(path).expect("a record"));
    let mut numbers: Vec<u64> = record["runs"][0]["rows"][0]["samples"]["process"]
        .as_array()
        .expect("numbers")
        .iter()
        .map(|number| number.as_u64().expect("a number"))
        .collect();
    assert!(numbers.len() >= 6 && numbers.is_sorted(), "{numbers:?}");
    numbers.dedup();
    assert_eq!(numbers, [0, 1, 2]);
}

#[test]
fn refuses_to_compare_what_is_unlike() {
    let (old, new) = (
        small_record("unlike-old", "-m 10 -e channel throughput"),
        small_record("unlike-new", "-m 11 -e channel throughput"),
    );
    let complaint = refused(&format!("compare {old} {new}"));
    assert!(complaint.contains("messages_per_producer: 10 and 11") && complaint.contains("--force"), "{complaint}");
    measured(&format!("compare {old} {new} --force"));
    let complaint = refused(&format!("-m 11 --baseline {old} throughput"));
    assert!(complaint.contains("messages_per_producer: 10 and 11"), "{complaint}");
    let complaint = refused("--baseline /no/such/record.json throughput");
    assert!(complaint.contains("/no/such/record.json"), "{complaint}");
    assert!(refused("--fail-on-regression throughput").contains("--baseline"));
}

#[test]
fn a_record_is_shown_again_without_measuring() {
    let record = small_record("again", "-t 1,2 -m 10 -e channel throughput");
    let page = fresh("again", "html");
    let text = measured(&format!("report {record} -o {page}"));
    assert_eq!(executors_in(&text), ["channel"], "{text}");
    assert!(fs::read_to_string(page).expect("a page").contains("</html>"));
}

#[test]
fn follows_a_configuration_file() {
    let (config, record) = (fresh("bench", "toml"), fresh("bench", "json"));
    let text = format!(
        "executor = \"channel\"\nbudget = 0.01\nmin-samples = 2\noutput = \"{record}\"\n\
         [[run]]\nexperiment = \"throughput\"\nthreads = [1, 2]\nmessages = 10\npre = 5\n\
         [[run]]\nexperiment = \"latency\"\nmessages = 10\nsleep_time = 1\n"
    );
    fs::write(&config, text).expect("written");
    measured(&format!("--config {config} --warm-up 0"));
    let written = json(&fs::read_to_string(&record).expect("a record"));
    let runs = written["runs"].as_array().expect("runs");
    let names: Vec<&str> = runs.iter().map(|run| run["experiment"].as_str().expect("a name")).collect();
    assert_eq!(names, ["throughput", "throughput", "latency"]);
    assert_eq!(runs[0]["settings"]["pre_units"], 5);

    assert!(refused(&format!("--config {config} throughput")).contains("leave out `throughput`"));
    assert!(refused("--config /no/such.toml").contains("/no/such.toml"));
    fs::write(&config, "thread = 1\n[[run]]\nexperiment = \"throughput\"\n").expect("written");
    assert!(refused(&format!("--config {config}")).contains("'--thread'"));
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

#[test]
fn explains_itself_to_shells_and_readers() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        assert!(measured(&format!("completions {shell}")).contains("fail-on-regression"), "{shell}");
    }
    assert!(measured("man").contains(".TH executor-performance"), "{}", measured("man"));
    let help = measured("--help");
    let options = help.lines().filter(|line| line.trim_start().starts_with('-') && line.contains("--")).count();
    assert!(help.matches("Example:").count() >= 18 && options >= 18, "{help}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_there_is() {
    use std::{os::unix::process::ExitStatusExt, time::Duration};
    let path = fresh("interrupted", "json");
    let line = format!("--budget 600 --rse 0.000001 -m 10 -e channel -o {path} throughput");
    let mut child =
        program().args(line.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let sampled = || {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let record: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        record["runs"][0]["rows"][0]["samples"]["values"].as_array().map_or(0, Vec::len)
    };
    // What has been written so far is there at any time. The program would end by itself after ten minutes.
    while sampled() == 0 {
        assert!(child.try_wait().expect("it is known").is_none(), "it ended too soon");
        std::thread::sleep(Duration::from_millis(5));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(killed.success());
    assert_eq!(child.wait().expect("it ends").signal(), Some(2));
    let record = json(&fs::read_to_string(&path).expect("a record"));
    assert_eq!(record["runs"][0]["stop"]["reason"], "interrupted", "{}", record["runs"][0]["stop"]);
    assert!(sampled() > 0);
}

/// Starts a sweep of many points, sends `signal` to it as soon as there are rows of the first, and returns the stopped
/// record and rows.
#[cfg(unix)]
fn swept_until(name: &str, signal: &str) -> (serde_json::Value, Vec<String>) {
    let (rows, record) = (fresh(name, "csv"), fresh(name, "json"));
    let line =
        format!("--budget 0.3 --rse 0.000001 -t 1..200 -m 10 -e channel,workstealing -o {rows} -o {record} throughput");
    let mut child =
        program().args(line.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    // The title, and the first point. The program would end by itself after a minute.
    while fs::read_to_string(&rows).unwrap_or_default().lines().count() < 3 {
        assert!(child.try_wait().expect("it is known").is_none(), "it ended too soon");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill").success());
    assert!(!child.wait().expect("it ends").success());
    let text = fs::read_to_string(&rows).expect("a file");
    assert!(text.ends_with('\n'), "{text}");
    let rows: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    (json(&fs::read_to_string(&record).expect("a record")), rows)
}

#[cfg(unix)]
#[test]
fn an_interrupt_of_a_sweep_loses_no_rows() {
    let (record, rows) = swept_until("sweep-interrupted", "-INT");
    let runs = record["runs"].as_array().expect("runs");
    assert_eq!(rows.len(), 2 * runs.len(), "{rows:?}");
    for (run, rows) in runs.iter().zip(rows.chunks(2)) {
        let samples = run["rows"][0]["samples"]["values"].as_array().map_or(0, Vec::len);
        let (threads, stop) = (&run["settings"]["threads"], run["stop"]["reason"].as_str().expect("it has stopped"));
        assert!(rows[0].contains(",channel,") && rows[0].contains(&format!(",{threads},")), "{rows:?}");
        assert!(rows.iter().all(|row| row.contains(&format!(",{stop},"))), "{rows:?}");
        assert!(samples > 0 || stop == "interrupted", "{run}");
    }
}

#[cfg(unix)]
#[test]
fn whatever_ends_a_sweep_loses_no_rows_of_points_that_have_ended() {
    let (record, rows) = swept_until("sweep-killed", "-KILL");
    let ended = record["runs"].as_array().expect("runs").iter().filter(|run| !run["stop"].is_null()).count();
    // The file may have got its rows just before the record.
    assert!(rows.len() >= 2 && rows.len() % 2 == 0 && rows.len() / 2 >= ended, "{ended}: {rows:?}");
}

/// Processes whose parent is `parent` and which serve `executor`, according to the system.
#[cfg(target_os = "linux")]
fn guests(parent: u32, executor: &str) -> Vec<String> {
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    let serves = |pid: &&str| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| {
            variable.starts_with(b"EXECUTOR_PERFORMANCE_SERVES=")
                && variable.ends_with(format!(":{executor}").as_bytes())
        })
    };
    children.split_whitespace().filter(serves).map(str::to_owned).collect()
}

/// Measures two executors, sends `signal` to the process of one as soon as there is one, and returns what is said of
/// it.
#[cfg(target_os = "linux")]
fn harmed(name: &str, signal: &str) -> String {
    let path = fresh(name, "json");
    let line = format!(
        "--timeout 2 --budget 3 --rse 0.000001 -m 1000 -a 0 -e channel,workstealing -o {path} throughput --full-size"
    );
    let mut child =
        program().args(line.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let harm = loop {
        if let Some(guest) = guests(child.id(), "channel").pop() {
            break Command::new("kill").args([signal, &guest]).status().expect("kill");
        }
        assert!(child.try_wait().expect("it is known").is_none(), "it ended too soon");
        std::thread::yield_now();
    };
    assert!(harm.success());
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    let record = json(&fs::read_to_string(&path).expect("a record"));
    let rows = &record["runs"][0]["rows"];
    assert!(rows[1]["samples"]["values"].as_array().is_some_and(|values| values.len() >= 5), "{rows}");
    rows[0]["error"].as_str().expect("it failed").to_owned()
}

#[cfg(target_os = "linux")]
#[test]
fn an_executor_that_crashes_has_a_row_that_says_so_and_the_others_have_theirs() {
    assert_eq!(harmed("crash", "-KILL"), "crashed: the process that ran it ended (signal: 9 (SIGKILL))");
}

#[cfg(target_os = "linux")]
#[test]
fn an_executor_that_hangs_has_a_row_that_says_so_and_the_others_have_theirs() {
    let complaint = harmed("hang", "-STOP");
    assert!(complaint.starts_with("hung: a sample took more than 2 s"), "{complaint}");
}

#[test]
fn measures_in_this_process_on_request() {
    let text = measured(&format!("{BRIEF} --in-process -t 2 -m 10 throughput"));
    assert_eq!(executors_in(&text), BY_DEFAULT, "{text}");
    assert!(refused("--in-process --timeout 1 throughput").contains("--timeout"));
}
