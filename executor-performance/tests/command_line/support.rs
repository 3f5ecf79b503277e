//! How the tests call the program, and what they read.

use std::{
    fmt, fs,
    ops::Deref,
    path::{Path, PathBuf},
    process::{self, Command, Output},
    thread,
};

/// Keeps a run short, whatever it measures.
pub(crate) const BRIEF: &str = "--budget 0.01 --min-samples 2 --warm-up 1";

pub(crate) const BY_DEFAULT: [&str; 5] =
    ["threadpool", "channel", "workstealing", "workstealing-park-counted", "workstealing-spin-timed"];

pub(crate) const EXPERIMENTS: &[&str] = &[
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

pub(crate) fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_executor-performance"))
}

pub(crate) fn run(line: &str) -> Output {
    program().args(line.split_whitespace()).output().expect("the program starts")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// Runs `line`, which must succeed, and returns what it wrote to stdout.
pub(crate) fn measured(line: &str) -> String {
    let output = run(line);
    assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
    stdout(&output)
}

/// Runs `line`, which must be refused in one line before anything is measured, and returns that line.
pub(crate) fn refused(line: &str) -> String {
    refused_in(Path::new("."), line)
}

/// The same, where `line` refers to files in `folder`.
pub(crate) fn refused_in(folder: &Path, line: &str) -> String {
    let output = program().current_dir(folder).args(line.split_whitespace()).output().expect("the program starts");
    let complaint = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{line}: {complaint}");
    assert_eq!(stdout(&output), "", "{line}");
    assert!(complaint.starts_with("error: ") && complaint.lines().count() == 1, "{line}: {complaint}");
    complaint
}

/// Names of executors that have a line in the (first) table of `text`, in order.
pub(crate) fn executors_in(text: &str) -> Vec<&str> {
    let rows = text.lines().skip_while(|line| !line.starts_with("executor ")).skip(2);
    rows.take_while(|line| !line.is_empty()).map(|line| line.split(' ').next().expect("a name")).collect()
}

/// A path that one test has to itself. What is there is removed at the end, unless the test fails.
pub(crate) struct Fresh(PathBuf);

impl Fresh {
    fn named(name: impl fmt::Display) -> Self {
        let fresh = Fresh(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", process::id())));
        fresh.remove();
        fresh
    }

    fn remove(&self) {
        // Most often there is one of these, or none.
        let _ = fs::remove_file(&self.0).or_else(|_| fs::remove_dir_all(&self.0));
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.remove();
        }
    }
}

impl Deref for Fresh {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for Fresh {
    fn as_ref(&self) -> &Path {
        self
    }
}

impl fmt::Display for Fresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.display().fmt(f)
    }
}

/// A path for a file of the test `name`, with that `extension`, where no file exists yet.
pub(crate) fn fresh(name: &str, extension: &str) -> Fresh {
    Fresh::named(format_args!("{name}.{extension}"))
}

/// A new, empty folder for the files of the test `name`.
pub(crate) fn fresh_folder(name: &str) -> Fresh {
    let folder = Fresh::named(name);
    fs::create_dir(&folder).expect("a folder");
    folder
}

/// The record in the snapshot of the format, which is always the same.
pub(crate) fn documented_record() -> String {
    const SNAPSHOT: &str =
        include_str!("../../src/snapshots/executor_performance__record__tests__the_format_is_as_documented.snap");
    SNAPSHOT.splitn(3, "---\n").nth(2).expect("a text after a head").to_owned()
}

/// A record of a small run, in a file.
pub(crate) fn small_record(name: &str, line: &str) -> Fresh {
    let path = fresh(name, "json");
    measured(&format!("{BRIEF} -o {path} {line}"));
    path
}

pub(crate) fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}
