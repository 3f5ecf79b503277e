//! Comparisons of records.

use crate::support::{BRIEF, EXPERIMENTS, fresh, json, measured, refused, run, small_record, stderr, stdout};
use std::fs;

#[test]
fn compares_records_and_says_by_its_exit_code_what_is_slower() {
    let old = small_record("old", "-m 10 -e channel throughput");
    assert!(measured(&format!("compare {old} {old}")).contains("channel"));
    measured(&format!("compare {old} {old} --fail-on-regression"));

    // As if it had been much faster before, by more than two processes of a few jobs can differ, one of which may be
    // suspended.
    let mut record = json(&fs::read_to_string(&old).expect("a record"));
    for value in record["runs"][0]["rows"][0]["samples"]["values"].as_array_mut().expect("samples") {
        *value = serde_json::json!(value.as_f64().expect("a number") * 1e100);
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
    for option in ["-o", "--output-csv"] {
        let complaint = refused(&format!("compare {old} {old} {option} compared.csv"));
        let is_told = complaint.contains("compared.csv cannot hold a comparison") && complaint.contains(".html");
        assert!(is_told, "{complaint}");
    }
}

#[test]
fn a_comparison_stays_out_of_a_record_on_the_standard_output() {
    let old = small_record("beside", "-m 10 -e channel throughput");
    let output = run(&format!("{BRIEF} -m 10 -e channel --baseline {old} -o json:- throughput"));
    assert_eq!(json(&stdout(&output))["runs"][0]["experiment"], "throughput");
    assert!(stderr(&output).contains("compared: throughput"), "{}", stderr(&output));
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

/// Each experiment, with little to do.
const LINES: &[&str] = &[
    "-m 10 throughput",
    "-m 10 latency -s 1",
    "latency --rate 10000 --run-time 50",
    "repost --hops 100",
    "--jobs 100 avalanche",
    "--jobs 50 submit",
    "wake -s 1",
    "fairness --run-time 50",
    "--jobs 10 blocking",
    "--jobs 10 panics",
    "lifecycle",
    "lifecycle --meeting",
    "--jobs 100 idle --settle 1",
    "futures --operations 50",
    "fork-join --workload fib --fib 8",
];

/// The relative standard error is that of costs, so it is that of the first figures of samples, or of their reciprocals
/// where more is better. HDR histograms round figures to three digits, but not all costs.
#[test]
fn the_first_figure_of_every_experiment_is_what_executors_are_compared_by() {
    const ROUNDED: f64 = 0.2;
    for line in LINES {
        let path = small_record("first", &format!("-t 2 -e workstealing {line}"));
        let record = json(&fs::read_to_string(path).expect("a record"));
        for run in record["runs"].as_array().expect("runs") {
            let row = &run["rows"][0];
            let more_is_better = run["columns"][0]["more_is_better"].as_bool().expect("yes or no");
            let values = row["samples"]["values"].as_array().expect("samples").iter();
            let values = values.map(|value| value.as_f64().expect("a number"));
            let costs: Vec<f64> = values.map(|value| if more_is_better { value.recip() } else { value }).collect();
            let (count, mean) = (costs.len() as f64, costs.iter().sum::<f64>() / costs.len() as f64);
            let variance = costs.iter().map(|cost| (cost - mean).powi(2)).sum::<f64>() / (count - 1.0);
            let Some(told) = row["figures"]["rse_percent"].as_f64() else {
                assert!(mean == 0.0, "only what costs nothing has no error: {line}: {run}");
                continue;
            };
            let of_first = (variance / count).sqrt() / mean * 100.0;
            assert!((told - of_first).abs() < ROUNDED, "{line}: {told} is told, {of_first} are of the first: {run}");
        }
    }
}

/// What is fitted to the budget, such as how long an idle executor is watched, makes no difference.
#[test]
fn every_experiment_can_be_compared_with_its_own_record() {
    for experiment in EXPERIMENTS {
        assert!(LINES.iter().any(|line| line.split(' ').any(|word| word == *experiment)), "{experiment} is measured");
    }
    for line in LINES {
        let record = small_record("own", &format!("-t 2 -e workstealing {line}"));
        measured(&format!("{BRIEF} -t 2 -e workstealing --baseline {record} {line}"));
    }
}

#[test]
fn lives_with_one_job_are_not_compared_with_lives_with_one_for_each_thread() {
    let one = small_record("one-job", "-t 2 -e channel lifecycle");
    let all = small_record("meeting", "-t 2 -e channel lifecycle --meeting");
    let complaint = refused(&format!("compare {one} {all}"));
    assert!(complaint.contains("jobs: 1 and 2"), "{complaint}");
}

#[test]
fn refuses_a_baseline_that_has_nothing_of_what_is_to_be_measured() {
    let record = small_record("nothing", "-m 10 -e channel throughput");
    for line in ["-m 10 -e workstealing throughput", "--jobs 10 -e channel avalanche"] {
        let complaint = refused(&format!("--baseline {record} {line}"));
        assert!(complaint.contains("throughput of channel"), "{complaint}");
    }
    measured(&format!("{BRIEF} -m 10 -e channel,workstealing --baseline {record} throughput"));
}

#[test]
fn where_all_had_failed_there_is_nothing_to_compare() {
    let sound = small_record("all-sound", "-m 10 -e channel throughput");
    let mut record = json(&fs::read_to_string(&sound).expect("a record"));
    record["runs"][0]["rows"][0]["error"] = "stalled".into();
    let failed = fresh("all-failed", "json");
    fs::write(&failed, record.to_string()).expect("written");
    let output = run(&format!("compare {failed} {sound} --fail-on-regression"));
    let complaint = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{complaint}");
    assert!(complaint.contains("nothing can be compared (channel cannot be compared in throughput"), "{complaint}");
    assert!(measured(&format!("compare {failed} {sound}")).contains("Left out: channel cannot be compared"));
    let complaint = refused(&format!("-m 10 -e channel --baseline {failed} throughput"));
    assert!(complaint.contains("--baseline has no figures"), "{complaint}");
}

#[test]
fn what_fails_now_and_did_not_before_is_a_regression() {
    let old = small_record("sound", "-m 10 -e channel,workstealing throughput");
    let mut record = json(&fs::read_to_string(&old).expect("a record"));
    record["runs"][0]["rows"][1]["error"] = "crashed".into();
    let broken = fresh("broken", "json");
    fs::write(&broken, record.to_string()).expect("written");
    let output = run(&format!("compare {old} {broken} --fail-on-regression --noise-threshold 1000"));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stdout(&output).contains("FAILED"), "{}", stdout(&output));
    assert!(stderr(&output).contains("fails, and did not before: workstealing"), "{}", stderr(&output));
    assert!(measured(&format!("compare {old} {broken}")).contains("FAILED"));

    let line = format!("{BRIEF} --timeout 0.000001 -m 10 -e channel,workstealing throughput");
    let output = run(&format!("{line} --baseline {old} --fail-on-regression"));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("2 of 2 executors failed: channel, workstealing"), "{}", stderr(&output));
}
