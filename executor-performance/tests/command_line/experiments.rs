//! What is measured, and of which executors.

use crate::support::{BRIEF, BY_DEFAULT, executors_in, fresh, json, measured, refused, run, stderr, stdout};
use std::fs;

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
    assert!(text.contains("1000 jobs/s from 1 thread") && text.contains("by rate per s"), "{text}");
    let record = json(&fs::read_to_string(&path).expect("a record"));
    let row = &record["runs"][1]["rows"][0];
    let jobs = record["runs"][1]["fitted"]["jobs_per_sample"].as_u64().expect("a number");
    let samples = row["samples"]["values"].as_array().expect("samples").len() as u64;
    assert_eq!(row["figures"]["jobs"].as_f64(), Some((jobs * samples) as f64), "{row}");
    assert_eq!(row["times"]["count"].as_u64(), Some(jobs * samples), "{row}");
    assert!(row["figures"]["achieved_percent"].as_f64().is_some_and(|percent| percent <= 100.0), "{row}");
    assert_eq!(record["runs"][1]["settings"]["seed"], 5, "{record}");
}

/// A job of 10 + 10 units takes some nanoseconds, and no executor runs a billion of them in a second.
#[test]
fn an_executor_that_cannot_keep_up_is_said_to_achieve_less_than_was_asked_for() {
    let path = fresh("overload", "json");
    measured(&format!("{BRIEF} -e channel -o {path} latency --rate 1000000000 --run-time 1"));
    let record = json(&fs::read_to_string(&path).expect("a record"));
    let figures = &record["runs"][0]["rows"][0]["figures"];
    let figure = |name: &str| figures[name].as_f64().unwrap_or_else(|| panic!("{name} is not in {figures}"));
    let (percent, rate) = (figure("achieved_percent"), figure("achieved_jobs_per_s"));
    assert!(percent < 90.0 && rate < 9e8 && rate > 0.0, "{figures}");
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
    // Including the 10 ms of each job, it would be more than 10 million.
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
    measures_all("-t 1 fairness --chains 3 --run-time 1 --probe-interval 100", &["3 chains", "pauses of 100 us"]);
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

    // The workers of the first executor end with a job that panics.
    let output = run(&format!("{BRIEF} --patience 2 -t 2 --jobs 20 -e reference-mutex-condvar,channel panics"));
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert_eq!(executors_in(&text)[0], "channel", "{text}");
    assert!(text.contains("FAILED: reference-mutex-condvar stalled: 2 of 20 jobs ran"), "{text}");
}

#[test]
fn measures_round_trips() {
    measures_all("-t 2 lifecycle", &["median", "95% low", "build", "first job", "shutdown", "round trip"]);
    measures_all("-t 3 lifecycle --meeting", &["submit", "3 jobs, each of which waits until all"]);
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
    let line = format!("{BRIEF} -t 1,2 -e channel --seed 3 fork-join --workload sort --elements 100 --cutoff 10");
    assert!(measured(&format!("{line} -o {path}")).contains("by threads"), "{line}");
    let record = json(&fs::read_to_string(&path).expect("a record"));
    let (settings, figures) = (&record["runs"][1]["settings"], &record["runs"][1]["rows"][0]["figures"]);
    assert_eq!((settings["size"].as_u64(), settings["seed"].as_u64()), (Some(100), Some(3)), "{settings}");
    assert!(figures["speed_up"].as_f64() > Some(0.0) && figures["run_us"].as_f64() > Some(0.0), "{figures}");
    assert!(measured(&format!("{line} --baseline {path}")).contains("compared: "), "{line}");
    let complaint = refused(&format!("{} --baseline {path}", line.replace("--seed 3", "--seed 4")));
    assert!(complaint.contains("seed: 3 and 4"), "{complaint}");
}

#[test]
fn only_what_can_wait_for_its_jobs_forks_and_joins() {
    let text = measured(&format!("{BRIEF} -e all fork-join --workload fib --fib 5"));
    let names = executors_in(&text);
    assert!(BY_DEFAULT.iter().all(|name| names.contains(name)) && !names.contains(&"reference-unpark"), "{text}");
    let complaint = refused("-e reference-unpark fork-join");
    for part in ["reference-unpark cannot let jobs wait for jobs,", "fork and join: choose from threadpool, channel,"] {
        assert!(complaint.contains(part), "{complaint}");
    }
}

#[test]
fn a_problem_that_takes_too_long_without_an_executor_is_told_with_the_remedy() {
    let output = run(&format!("{BRIEF} --patience 0.001 -e channel fork-join --workload fib --fib 45 --cutoff 40"));
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("\nchannel not measured: without it, this takes more than 0.001 s"), "{text}");
    assert!(stderr(&output).contains("error: 1 of 1 executors were not measured: channel"), "{}", stderr(&output));
    assert!(text.replace('\n', " ").contains("lower --fib, or raise --patience"), "{text}");
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
fn sweeps_threads_and_loads_into_one_table() {
    let path = fresh("sweep", "csv");
    let text = measured(&format!("{BRIEF} -t 1,2 -a 0..1 -m 10 -e channel -o {path} throughput"));
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(joined.matches("by threads; in brackets the efficiency").count(), 2, "{text}");
    assert!(joined.contains("%)") && joined.contains("throughput (amplification 1)"), "{text}");
    assert_eq!(fs::read_to_string(&path).expect("a file").lines().count(), 5);
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
fn measures_in_this_process_on_request() {
    let text = measured(&format!("{BRIEF} --in-process -t 2 -m 10 throughput"));
    assert_eq!(executors_in(&text), BY_DEFAULT, "{text}");
    assert!(refused("--in-process --timeout 1 throughput").contains("--timeout"));
}
