//! A file that says what to measure. Each entry becomes an option of a command line, so it means the same and is
//! checked in the same way.

use super::definition::{option_of, owners_of};
use clap::{Arg, ArgAction, Command};
use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read},
    path::Path,
};
use toml::{Table, Value};

/// Options that all runs of a file have in common, so they can stand only at its top.
const COMMON: &[&str] =
    &["output", "color", "quiet", "baseline", "noise_threshold", "fail_on_regression", "force", "seed"];

/// A command line for each run in the file at `path`: `words` without `--config`, and the entries of the file for
/// options that are not `settled` by `words`.
///
/// # Errors
///
/// If the file cannot be read or followed: a line that says why.
pub(super) fn command_lines(
    path: &Path,
    words: &[OsString],
    settled: impl Fn(&str) -> bool,
) -> Result<Vec<Vec<OsString>>, String> {
    let name = path.display();
    let text = File::open(path).and_then(contents).map_err(|error| format!("cannot read {name}: {error}"))?;
    let file = table(&text).map_err(|why| format!("{name} {why}"))?;
    lines(file, words, settled).map_err(|why| format!("{name}: {why}"))
}

/// The text of a `file`, which may be a device without an end.
fn contents(file: impl Read) -> io::Result<String> {
    const MOST: u64 = 1 << 20;
    let mut text = String::new();
    file.take(MOST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST {
        return Err(io::Error::other("it has more than 1 MiB: name a file that says what to measure"));
    }
    Ok(text)
}

/// What is in `text`, or what is wrong with it. The parser's own text has the whole line, which may be long.
fn table(text: &str) -> Result<Table, String> {
    text.parse().map_err(|error: toml::de::Error| {
        if text.trim_start().starts_with('{') {
            return "is JSON: `report` shows a record, and --baseline compares with one".to_owned();
        }
        let before = error.span().and_then(|place| text.get(..place.start)).unwrap_or_default();
        let (line, column) = (before.matches('\n').count(), before.chars().rev().take_while(|it| *it != '\n').count());
        format!("is not TOML: {}, at line {}, column {}", one_line(error.message()), line + 1, column + 1)
    })
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", ")
}

fn lines(mut file: Table, words: &[OsString], settled: impl Fn(&str) -> bool) -> Result<Vec<Vec<OsString>>, String> {
    const NO_RUNS: &str =
        "there is no run: begin one with [[run]] and name its experiment, as in `experiment = \"throughput\"`";
    let Some(Value::Array(runs)) = file.remove("run") else { return Err(NO_RUNS.to_owned()) };
    const RECOMMEND: &str = "recommend";
    let nests = |table: &Table| table.contains_key("config");
    if nests(&file) || runs.iter().filter_map(Value::as_table).any(nests) {
        return Err("`config` names another file, which is not read: leave it out".to_owned());
    }
    let (definition, experiments) = (super::definition(), super::experiments());
    let (program, own) = words.split_first().ok_or("no program")?;
    let own = without_config(own);
    file.keys().try_for_each(|key| refuse_option_of_others(&definition, key, &definition, "every experiment"))?;

    let lines: Vec<Vec<OsString>> = runs
        .iter()
        .map(|run| {
            let run = run.as_table().ok_or(NO_RUNS)?;
            let Some(Value::String(experiment)) = run.get("experiment") else {
                return Err("a run without an experiment: name it, as in `experiment = \"throughput\"`".to_owned());
            };
            let measures = experiment == RECOMMEND || experiments.iter().any(|(name, _)| name == experiment);
            let options = definition
                .find_subcommand(experiment)
                .filter(|_| measures)
                .ok_or(format!("`{experiment}` is not an experiment: see `executor-performance list`"))?;
            if experiment == RECOMMEND && runs.len() > 1 {
                return Err(format!("`{RECOMMEND}` needs a file of its own: leave it out, or the other runs"));
            }
            let mut line = vec![program.clone()];
            for (key, value) in &file {
                let is = |other: &String| id(options, other) == id(options, key);
                if !settled(&id(options, key)) && !run.keys().any(is) {
                    line.extend(option(options, key, value)?);
                }
            }
            line.push(experiment.into());
            for (key, value) in run.iter().filter(|(key, _)| *key != "experiment") {
                if COMMON.contains(&id(options, key).as_str()) {
                    return Err(format!("`{key}` is for all runs: move it to the top of the file"));
                }
                refuse_option_of_others(&definition, key, options, experiment)?;
                if !settled(&id(options, key)) {
                    line.extend(option(options, key, value)?);
                }
            }
            line.extend(own.iter().cloned());
            Ok(line)
        })
        .collect::<Result<_, String>>()?;
    if lines.is_empty() { Err(NO_RUNS.to_owned()) } else { Ok(lines) }
}

/// `words` without the option that names this file.
fn without_config(words: &[OsString]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--config" {
            words.next();
        } else if !word.to_string_lossy().starts_with("--config=") {
            kept.push(word.clone());
        }
    }
    kept
}

/// `key` as it is spelled on the command line.
fn spelled(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}

fn definition_of<'a>(options: &'a Command, key: &str) -> Option<&'a Arg> {
    option_of(options, &spelled(key))
}

fn id(options: &Command, key: &str) -> String {
    definition_of(options, key).map_or(key.to_owned(), |option| option.get_id().to_string())
}

/// Refuses an option that is not among the `options` of `whose`, but of another experiment. At the top of a file it
/// may mean another thing to the next experiment, or be in another unit.
fn refuse_option_of_others(definition: &Command, key: &str, options: &Command, whose: &str) -> Result<(), String> {
    match owners_of(definition, &spelled(key)) {
        Some(owners) if definition_of(options, key).is_none() => {
            Err(format!("`{key}` is an option of {owners}, not of {whose}: move it to its [[run]]"))
        }
        // The parser refuses what no experiment has, and names what is like it.
        _ => Ok(()),
    }
}

/// The words for an entry. The parser checks whether the option exists and can have that value.
fn option(options: &Command, key: &str, value: &Value) -> Result<Vec<OsString>, String> {
    let name = spelled(key);
    let said = |value: &str| OsString::from(format!("{name}={value}"));
    let acts =
        |action: fn(&ArgAction) -> bool| definition_of(options, key).is_some_and(|option| action(option.get_action()));
    let repeats = acts(|action| matches!(action, ArgAction::Append));
    Ok(match value {
        Value::Boolean(is_on) if acts(|action| matches!(action, ArgAction::SetTrue)) => {
            if *is_on {
                vec![name.into()]
            } else {
                Vec::new()
            }
        }
        Value::Boolean(is_on) => {
            let remedy = definition_of(options, key).map_or("there is no such option", |_| "it takes a value");
            return Err(format!("`{key}` cannot be `{is_on}`: {remedy}"));
        }
        Value::Array(values) if values.is_empty() => {
            return Err(format!("`{key}` is an empty list: name something, or leave it out"));
        }
        Value::Array(values) => {
            let values = values.iter().map(|value| single(key, value)).collect::<Result<Vec<_>, _>>()?;
            if repeats { values.iter().map(|value| said(value)).collect() } else { vec![said(&values.join(","))] }
        }
        value => vec![said(&single(key, value)?)],
    })
}

fn single(key: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        _ => Err(format!("`{key}` is neither a string nor a number, nor a list of these")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(text: &str, words: &str, given: &[&str]) -> Result<Vec<String>, String> {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        let lines = lines(text.parse().expect("TOML"), &words, |name| given.contains(&name))?;
        let joined = |line: Vec<OsString>| line.join(OsString::from(" ").as_os_str()).into_string().expect("text");
        Ok(lines.into_iter().map(joined).collect())
    }

    const FILE: &str = r#"
        threads = [1, 2]
        executor = ["channel", "workstealing"]
        skip-tpe = true
        budget = 0.5

        [[run]]
        experiment = "throughput"
        messages = 10
        pre_work = 7

        [[run]]
        experiment = "latency"
        threads = "4..6"
        in_process = false
    "#;

    #[test]
    fn each_run_is_a_command_line() {
        let lines = lines_of(FILE, "program --config bench.toml --quiet", &[]).expect("runs");
        let common = "program --budget=0.5 --executor=channel --executor=workstealing --skip-tpe";
        assert_eq!(
            lines,
            [
                format!("{common} --threads=1,2 throughput --messages=10 --pre-work=7 --quiet"),
                format!("{common} latency --threads=4..6 --quiet"),
            ]
        );
    }

    #[test]
    fn what_was_given_on_the_command_line_is_not_taken_from_the_file() {
        let lines = lines_of(FILE, "program --config=bench.toml -t 8", &["threads", "executors"]).expect("runs");
        assert_eq!(lines[1], "program --budget=0.5 --skip-tpe latency -t 8");
    }

    #[test]
    fn what_a_run_says_wins_however_it_is_spelled() {
        for (top, own, line) in [
            ("in_process = true", "in-process = false", "program wake"),
            ("skip-tpe = true", "skip_threadpool_executor = false", "program wake"),
            ("output-csv = \"x.csv\"\njobs = 5", "messages = 6", "program --output-csv=x.csv wake --messages=6"),
        ] {
            let text = format!("{top}\n[[run]]\nexperiment = \"wake\"\n{own}");
            assert_eq!(lines_of(&text, "program", &[]), Ok(vec![line.to_owned()]), "{text}");
        }
    }

    #[test]
    fn what_has_no_end_is_not_read() {
        let complaint = contents(io::repeat(0)).expect_err("it has no end").to_string();
        assert!(complaint.contains("more than 1 MiB"), "{complaint}");
        assert!(contents(&b"threads = 1"[..]).is_ok_and(|text| text == "threads = 1"));
    }

    #[test]
    fn what_is_no_table_is_refused_in_a_short_line() {
        let long = format!("threads = 1\nöde = 2 {}", "x".repeat(1000));
        let complaint = table(&long).expect_err("a key without a value");
        assert!(complaint.starts_with("is not TOML: ") && complaint.len() < 100, "{complaint}");
        assert!(complaint.ends_with(", at line 2, column 1") || complaint.ends_with("column 9"), "{complaint}");
        assert!(table(" {\"schema\": 1}").is_err_and(|why| why.contains("`report`")));
    }

    #[test]
    fn what_is_no_run_is_refused_with_the_remedy() {
        for (text, part) in [
            ("threads = 1", "begin one with [[run]]"),
            ("run = []", "begin one with [[run]]"),
            ("[[run]]\nthreads = 1", "without an experiment"),
            ("[[run]]\nexperiment = \"speed\"", "`speed` is not an experiment"),
            ("[[run]]\nexperiment = \"list\"", "`list` is not an experiment"),
            ("[[run]]\nexperiment = \"help\"", "`help` is not an experiment"),
            ("[[run]]\nexperiment = \"wake\"\n[[run]]\nexperiment = \"recommend\"", "a file of its own"),
            ("quite = false\n[[run]]\nexperiment = \"wake\"", "`quite` cannot be `false`"),
            ("[[run]]\nexperiment = \"wake\"\nthreads = false", "`threads` cannot be `false`: it takes a value"),
            ("threads = []\n[[run]]\nexperiment = \"wake\"", "`threads` is an empty list"),
            ("[[run]]\nexperiment = \"wake\"\nexecutor = []", "`executor` is an empty list"),
            ("[[run]]\nexperiment = \"wake\"\noutput = \"x.json\"", "`output` is for all runs"),
            ("config = \"x.toml\"\n[[run]]\nexperiment = \"wake\"", "which is not read: leave it out"),
            ("[[run]]\nexperiment = \"wake\"\nconfig = \"x.toml\"", "which is not read: leave it out"),
            ("pre = 1\n[[run]]\nexperiment = \"throughput\"", "`pre` is an option of throughput, not of every"),
            (
                "work = 1\n[[run]]\nexperiment = \"submit\"",
                "of repost, avalanche, submit, not of every experiment: move it",
            ),
            (
                "[[run]]\nexperiment = \"wake\"\npre_work = 1",
                "`pre_work` is an option of throughput, not of wake: move it",
            ),
            ("threads = {}\n[[run]]\nexperiment = \"wake\"", "`threads` is neither"),
        ] {
            let complaint = lines_of(text, "program", &[]).expect_err(text);
            assert!(complaint.contains(part), "{text}: {complaint}");
        }
    }
}
