//! How a terminal shows each experiment: its load in words, its figures with their titles and units, and a failure.

use super::{Sink, Terminal};
use crate::{
    cli,
    plan::plan,
    record::{Record, Row, Run, Samples, Stop, mock::record},
    stats::Ratio,
};
use std::ffi::OsString;

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
    "-t 2 idle",
    "-t 2 futures",
    "-t 2 fork-join",
];

/// What `run` would be if its figures were 1.5, 2.5 and so on, in units for people, and in a second row twice as much.
fn imagined(run: Run) -> Run {
    let row = |name: &str, times: f64| {
        let figures = run.columns.iter().enumerate();
        let figures = figures.map(|(index, column)| {
            let figure = times * (index as f64 + 1.5);
            (column.name.clone(), Some(figure / column.scale))
        });
        let slowdown = Some(Ratio { value: times, low: 0.9 * times, high: 1.1 * times });
        Row { slowdown, ..Row::new(name, Ok(figures.collect()), Samples::new(vec![1.0, 1.1, 1.2], &[]), None) }
    };
    let failed = Row::new("burst", Err("stalled: 1 of 2 jobs ran".to_owned()), Samples::default(), None);
    let rows = vec![row("channel", 1.0), row("workstealing", 2.0), failed];
    let stop = Stop { reason: "precise".to_owned(), remark: "Stopped after 12.5 s, as it was enough.".to_owned() };
    Run { began_utc: "2026-01-02T03:04:05Z".to_owned(), seconds: 12.5, rows, stop: Some(stop), ..run }
}

fn shown(line: &str) -> String {
    let words = ["executor-performance"].into_iter().chain(line.split(' ')).map(OsString::from);
    let orders = cli::parse(words).unwrap_or_else(|refusal| panic!("{line}: {refusal:?}"));
    let runs = plan(&orders, None).unwrap_or_else(|why| panic!("{line}: {why}"));
    let mut text = Vec::new();
    let mut terminal = Terminal::new(anstream::StripStream::new(&mut text), true);
    let mut record = Record { runs: Vec::new(), ..record() };
    for run in runs {
        record.runs.push(imagined(run.outline()));
        terminal.begin(&record).and_then(|()| terminal.end(&record)).expect("memory");
    }
    let text = String::from_utf8(text).expect("text");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    format!("=== {line}\n{text}")
}

#[test]
fn every_experiment_is_shown_on_a_terminal() {
    for (name, _) in cli::experiments() {
        assert!(LINES.iter().any(|line| line.split(' ').any(|word| word == name)), "{name} is shown");
    }
    insta::assert_snapshot!(LINES.iter().map(|line| shown(line)).collect::<String>());
}
