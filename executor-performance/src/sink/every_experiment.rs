//! How each format shows each experiment: its load in words, its figures with their titles and units, and a failure.

use super::{CsvFile, Sink, Target, Terminal, html, markdown, svg};
use crate::{
    cli,
    plan::plan,
    record::{Reason, Record, Row, Run, Samples, Stop, Times, mock::record},
    stats::{Distribution, Ratio},
};
use std::{ffi::OsString, time::Duration};

/// The experiments, with loads that say something. Nothing of this is run.
const LINES: &[&str] = &[
    "-t 2 -p 2 -m 1000 -a 10 throughput",
    "-t 2 -m 100 -a 10 latency -s 5",
    "-t 2 latency --rate 1000",
    "-t 2 repost --chains 2 --hops 1000",
    "-t 2 --jobs 1000 avalanche --work 100",
    "-t 2 -p 3 --jobs 1000 submit --work 1000",
    "-t 2 wake",
    "-t 2 fairness",
    "-t 2 blocking",
    "-t 2 panics",
    "-t 2 lifecycle",
    "-t 2 lifecycle --meeting",
    "-t 2 idle",
    "-t 2 futures",
    "-t 2 fork-join",
];

/// What `run` would be if its figures were 1.5, 2.5 and so on, in units for people, and in a second row twice as much.
fn imagined(run: Run) -> Run {
    let has_times = run.columns.iter().any(|column| column.name == "p99_us");
    let first = run.columns.first().map_or(1.0, |column| 1.5 / column.scale);
    let row = |name: &str, times: f64| {
        let samples = Samples::new([0.9, 1.0, 1.2].map(|noise| noise * times * first).into(), &[]);
        let figures = run.columns.iter().enumerate();
        let figures = figures.map(|(index, column)| {
            let figure = times * (index as f64 + 1.5);
            (column.name.clone(), Some(figure / column.scale))
        });
        let slowdown = Some(Ratio { value: times, low: 0.9 * times, high: 1.1 * times });
        let single = Distribution::of((1..=100).map(|rank| Duration::from_micros(rank).mul_f64(times)));
        let single = single.filter(|_| has_times).map(|distribution| Times::of(&distribution));
        Row { slowdown, ..Row::new(name, Ok(figures.collect()), samples, single) }
    };
    let failed = Row::new("burst", Err("stalled: 1 of 2 jobs ran".to_owned()), Samples::default(), None);
    let rows = vec![row("channel", 1.0), row("workstealing", 2.0), failed];
    let stop = Stop { reason: Reason::Precise, remark: "Stopped after 12.5 s, as it was enough.".to_owned() };
    Run { began_utc: "2026-01-02T03:04:05Z".to_owned(), seconds: 12.5, rows, stop: Some(stop), ..run }
}

/// What `line` would have measured.
fn recorded(line: &str) -> Record {
    let words = ["executor-performance"].into_iter().chain(line.split(' ')).map(OsString::from);
    let orders = cli::parse(words).unwrap_or_else(|refusal| panic!("{line}: {refusal:?}"));
    let runs = plan(&orders, None).unwrap_or_else(|why| panic!("{line}: {why}"));
    Record { runs: runs.into_iter().map(|run| imagined(run.outline())).collect(), ..record() }
}

/// What a format makes of each of the experiments.
fn each(show: impl Fn(&Record) -> String) -> String {
    LINES.iter().map(|line| format!("=== {line}\n{}", show(&recorded(line)))).collect()
}

fn on_the_terminal(record: &Record) -> String {
    let mut text = Vec::new();
    let mut terminal = Terminal::new(anstream::StripStream::new(&mut text), true);
    for runs in 1..=record.runs.len() {
        let record = Record { runs: record.runs[..runs].to_vec(), ..record.clone() };
        terminal.begin(&record).and_then(|()| terminal.end(&record)).expect("memory");
    }
    let text = String::from_utf8(text).expect("text");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    text
}

/// One run after the other, as in a file.
fn as_rows(record: &Record) -> String {
    let mut file = CsvFile::open(&Target::Output, &record.runs).expect("like columns");
    let until = |runs: usize| Record { runs: record.runs[..runs].to_vec(), ..record.clone() };
    (1..=record.runs.len()).map(|runs| String::from_utf8(file.rows(&until(runs))).expect("text")).collect()
}

/// What a reader finds in a document: its words without the shapes around them. Those are in the snapshots of whole
/// pages and pictures.
fn words(markup: &str) -> String {
    let body = markup.rsplit_once("</style>").map_or(markup, |(_, body)| body);
    let texts = body.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text.trim());
    texts.filter(|text| !text.is_empty()).map(|text| format!("{text}\n")).collect()
}

#[test]
fn every_experiment_is_there() {
    for (name, _) in cli::experiments() {
        assert!(LINES.iter().any(|line| line.split(' ').any(|word| word == name)), "{name} is shown");
    }
}

#[test]
fn every_experiment_is_shown_on_a_terminal() {
    insta::assert_snapshot!(each(on_the_terminal));
}

#[test]
fn every_experiment_has_rows() {
    insta::assert_snapshot!(each(as_rows));
}

#[test]
fn every_experiment_has_a_document() {
    insta::assert_snapshot!(each(|record| markdown::page(record, None)));
}

#[test]
fn every_experiment_has_a_page() {
    insta::assert_snapshot!(each(|record| words(&html::page(record, None))));
}

#[test]
fn every_experiment_is_drawn() {
    insta::assert_snapshot!(each(|record| words(&svg::picture(record, None))));
}
