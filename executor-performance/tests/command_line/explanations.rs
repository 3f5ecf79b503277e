//! What the program says of itself, and of what is wrong.

use crate::support::{BRIEF, EXPERIMENTS, measured, refused, run, stderr, stdout};

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
