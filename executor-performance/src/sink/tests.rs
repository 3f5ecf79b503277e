//! How every format shows experiments whose figures are not rates of jobs: times that are known beforehand, or panics.

use super::{CsvFile, Sink, Target, Terminal, html, markdown, svg};
use crate::{
    compare::{Comparison, Terms},
    experiment::{Avalanche, Blocking, BurstsSample, Experiment, OneLoad, Panics, SampleOf},
    failure::Failure,
    record::{Reason, Record, Run, Stop, mock::record},
    sampler::Series,
    session::rows,
    usage::Usage,
    workload::{Burst, Load, Pastime},
};
use serde_json::json;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(10);

/// What a sample used.
const USAGE: Usage = Usage {
    wall: Duration::from_millis(100),
    cpu: Some(Duration::from_millis(150)),
    voluntary_switches: Some(40),
    involuntary_switches: Some(2),
    peak_kib: Some(10_240),
};

/// A record of one run of `experiment` only: of `channel`, of `workstealing`, which needs less, and of one that failed.
/// `sample` makes a sample that takes about the given percentage.
fn measured<X: Experiment>(experiment: &X, sample: impl Fn(u64) -> SampleOf<X>) -> Record {
    let series = |name, percents: [u64; 6]| Series {
        name,
        samples: percents.map(&sample).into(),
        usages: vec![USAGE; 6],
        processes: vec![0, 0, 1, 1, 2, 2],
        differs: false,
        failure: None,
    };
    let failure = Some(Failure::Told("stalled: 1 of 2 jobs ran".to_owned()));
    let (samples, usages, processes) = (Vec::new(), Vec::new(), Vec::new());
    let failed = Series { name: "burst", samples, usages, processes, differs: false, failure };
    let series = [
        series("channel", [120, 121, 119, 122, 120, 150]),
        series("workstealing", [100, 101, 99, 102, 100, 103]),
        failed,
    ];
    let stop = Stop { reason: Reason::Precise, remark: "Stopped after 12.5 s, as it was enough.".to_owned() };
    let run = Run {
        began_utc: "2026-01-02T03:04:05Z".to_owned(),
        seconds: 12.5,
        stop: Some(stop),
        rows: rows(experiment, &series, 0),
        ..Run::beginning(experiment)
    };
    Record { runs: vec![run], ..record() }
}

/// A burst of `jobs` jobs that takes `micros` microseconds.
fn burst(jobs: u64, micros: u64, ideal: Duration) -> BurstsSample {
    let wall = Duration::from_micros(micros);
    let burst = Burst {
        jobs,
        started: Instant::now(),
        submitting: wall / 2,
        wall,
        cpu: Some(wall / 4),
        idle: Duration::ZERO,
        idle_cpu: Some(Duration::ZERO),
    };
    BurstsSample { bursts: vec![burst], ideal }
}

fn blocking() -> Record {
    let load = Load::new(1, 1000, 0).expect("countable");
    let blocking = Blocking::new(128, load, Duration::from_millis(1), PATIENCE);
    measured(&blocking, |percent| burst(1000, 90 * percent, Duration::ZERO))
}

fn panics() -> Record {
    measured(&Panics::new(4, 1000, PATIENCE), |percent| {
        let sample =
            json!({"before": 2.0 * percent as f64, "panicking": 40.0 * percent as f64, "after": 2.1 * percent as f64});
        serde_json::from_value(sample).expect("a sample")
    })
}

/// A thousand jobs that take 100 us each, on four threads.
fn timed() -> Record {
    let (load, work) = (Load::new(1, 1000, 0).expect("countable"), Pastime::Busy(Duration::from_micros(100)));
    let ideal = load.ideal(work.time(), 4);
    let avalanche = OneLoad::new(Avalanche(work), 4, load, true, PATIENCE);
    measured(&avalanche, |percent| burst(1000, 25_000 + 3 * percent, ideal))
}

fn on_the_terminal(record: &Record) -> String {
    let mut text = Vec::new();
    let mut terminal = Terminal::new(anstream::StripStream::new(&mut text), false);
    terminal.begin(record).and_then(|()| terminal.end(record)).and_then(|()| terminal.finish(record)).expect("memory");
    let text = String::from_utf8(text).expect("text");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    text
}

fn as_rows(record: &Record) -> String {
    let mut file = CsvFile::open(&Target::Output, &record.runs).expect("one run");
    String::from_utf8(file.rows(record)).expect("text")
}

/// What all formats make of `record`, with a line in between.
fn everywhere(record: &Record) -> String {
    let formats = [
        ("terminal", on_the_terminal(record)),
        ("markdown", markdown::page(record, None)),
        ("csv", as_rows(record)),
        ("html", html::page(record, None)),
        ("svg", svg::picture(record, None)),
    ];
    below_each_other(&formats)
}

fn below_each_other(formats: &[(&str, String)]) -> String {
    formats.iter().map(|(name, text)| format!("=== {name}\n{text}")).collect()
}

#[test]
fn blocking_is_shown_in_every_format() {
    insta::assert_snapshot!(everywhere(&blocking()));
}

#[test]
fn panics_are_shown_in_every_format() {
    insta::assert_snapshot!(everywhere(&panics()));
}

#[test]
fn timed_loads_are_shown_in_every_format() {
    insta::assert_snapshot!(everywhere(&timed()));
}

/// The record of blocking jobs, compared with one in which `channel` was faster and `workstealing` less sure.
fn compared() -> Comparison {
    let (mut old, new) = (blocking(), blocking());
    old.program.git = "ba9876543210".to_owned();
    let [channel, workstealing, _] = &mut old.runs[0].rows[..] else { panic!("three executors") };
    channel.samples.values.iter_mut().for_each(|value| *value /= 1.7);
    workstealing.samples.process.clear();
    let terms = Terms { threshold: 0.05, fail_on_regression: false, force: false };
    Comparison::of(&old, &new, &terms).expect("alike")
}

#[test]
fn a_comparison_is_shown_in_every_format_alone_or_with_the_run() {
    let (comparison, record) = (compared(), blocking());
    let page = html::comparison_page(&comparison);
    for elsewhere in ["http:", "https:", "<script", "@import", "url("] {
        assert!(!page.contains(elsewhere), "{elsewhere} in {page}");
    }
    insta::assert_snapshot!(below_each_other(&[
        ("markdown", markdown::comparison_page(&comparison)),
        ("html", page),
        ("svg", svg::comparison_picture(&comparison)),
        ("markdown with the run", markdown::page(&record, Some(&comparison))),
        ("html with the run", html::page(&record, Some(&comparison))),
        ("svg with the run", svg::picture(&record, Some(&comparison))),
    ]));
}
