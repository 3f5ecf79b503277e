//! What the program recommends.

use crate::support::{fresh, measured, program, refused, stderr, stdout};
use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

#[test]
fn recommends_an_executor_with_a_sentence_and_a_line_of_code() {
    let text = measured("--budget 0.03 --min-samples 2 -t 2 recommend --job-time 0.1");
    assert_eq!(text.matches("Stopped after").count(), 3, "{text}");
    let (sentence, code) = advice_in(&text);
    assert!(sentence.contains("with 2 threads") && sentence.contains("on average over 3 workloads"), "{sentence}");
    let judgements = ["the noise.", "which is better; raise --processes, and --budget with it, to know."];
    assert!(judgements.iter().any(|judgement| sentence.contains(judgement)), "{sentence}");
    assert!(code.contains("(2)") && code.ends_with(".build()?;"), "{code}");

    let text = measured(
        "--budget 0.01 --min-samples 2 -t 3 -e elastic-growing,channel recommend --workload blocking --job-time 10",
    );
    let (sentence, _) = advice_in(&text);
    assert!(text.contains("up to 3") && sentence.contains("with 3 threads"), "{text}");
}

#[test]
fn recommends_what_can_do_what_is_needed() {
    let (record, page, document) = (fresh("needs", "json"), fresh("needs", "html"), fresh("needs", "md"));
    let line = format!(
        "--budget 0.02 --min-samples 2 -t 2 -o {record} recommend --workload inside --job-time 0.1 \
         --needs priorities,bound,bound"
    );
    let (sentence, code) = advice_in(&measured(&line));
    assert!(
        sentence.starts_with("Take `dispatcher`") && sentence.contains(" priorities and bound subpools."),
        "{sentence}"
    );
    assert!(sentence.contains("Compared with `"), "{sentence}");
    assert!(code.contains(".bound_subpool(\"bound\")") && code.contains("Priority::HIGH"), "{code}");

    let again = measured(&format!("report {record} -o {page} -o {document}"));
    assert_eq!(advice_in(&again), (sentence.clone(), code));
    for (path, title) in [(page, "<h2>Recommended</h2>"), (document, "## Recommended")] {
        let text = fs::read_to_string(&path).expect("written");
        assert!(text.contains(title) && text.contains(&sentence[..30]) && text.contains("Priority::HIGH"), "{text}");
    }
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
fn refuses_to_recommend_for_jobs_that_are_too_long_to_be_measured() {
    let complaint = refused("recommend --job-time 1e9");
    assert!(complaint.contains("--job-time 1000000000 us is too long for --budget 60 s"), "{complaint}");
}

#[cfg(unix)]
#[test]
fn what_was_interrupted_ends_in_no_advice() {
    let path = fresh("advice-interrupted", "json");
    let line = format!("--budget 60 --rse 0.000001 -t 2 -e channel,workstealing -o {path} recommend --job-time 0.1");
    let mut child = program()
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // There are samples of the first of three runs, which would take a minute together.
    while !fs::read_to_string(&path).unwrap_or_default().contains("\"median\":") {
        assert!(child.try_wait().expect("it is known").is_none(), "it ended too soon");
        thread::sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    let output = child.wait_with_output().expect("it ends");
    assert!(!stdout(&output).contains("Take `"), "{}", stdout(&output));
    assert!(stderr(&output).contains("there is no advice"), "{}", stderr(&output));
}
