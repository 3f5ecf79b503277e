//! Tables for people, 80 columns wide.

use super::Sink;
use crate::record::{Metric, Preamble, Record};
use std::io::{self, ErrorKind, Write};

const WIDTH: usize = 80;

/// Between columns.
const GAP: usize = 2;

/// The width of titles before text.
const INDENT: usize = 12;

/// Says how far to trust what is above it.
const CAVEAT: &str = "Valid for this machine, this load and this moment. Compare rows of one table only, and take no \
                      difference for real that is within the scatter.";

/// Writes results as text. A reader that has gone away, such as `head`, is no error.
#[derive(Debug)]
pub struct Terminal<W> {
    out: W,
}

impl<W: Write> Terminal<W> {
    /// A sink that writes to `out`.
    pub fn new(out: W) -> Self {
        Terminal { out }
    }

    /// Writes `text` as it is.
    ///
    /// # Errors
    ///
    /// If it cannot be written, although there is somebody to read it.
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        match self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }
}

impl<W: Write> Sink for Terminal<W> {
    fn begin(&mut self, preamble: &Preamble) -> io::Result<()> {
        let environment = &preamble.environment;
        let load = environment.load_average.map_or("unknown".to_owned(), |load| format!("{load:.2}"));
        let mut text = format!(
            "{}{}{}",
            titled("program", &format!("executor-performance {}, {} build", environment.version, environment.build)),
            titled("command", &environment.command),
            titled(
                "machine",
                &format!(
                    "{}, {} cores, {}, load average {load}",
                    environment.cpu, environment.cores, environment.system
                )
            ),
        );
        for (title, line) in &preamble.description {
            text += &titled(title, line);
        }
        self.write(&format!("{text}\n"))
    }

    fn end(&mut self, preamble: &Preamble, records: &[Record], remark: &str) -> io::Result<()> {
        let mut text = tables(preamble.metrics, records);
        for record in records {
            if let Err(why) = &record.outcome {
                text += &wrapped(&format!("FAILED: {} {why}", record.executor), 0);
                text.push('\n');
            }
        }
        self.write(&format!("{text}{}{}", wrapped(remark, 0), wrapped(CAVEAT, 0)))
    }
}

/// A column of a table.
struct Column {
    /// Its title, in as many lines as all titles have, and a cell for each record.
    lines: Vec<String>,
    /// As wide as its widest line.
    width: usize,
}

impl Column {
    fn new(title: [&str; 2], cells: impl Iterator<Item = String>) -> Self {
        let lines: Vec<String> = title.map(str::to_owned).into_iter().chain(cells).collect();
        let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        Column { lines, width }
    }
}

/// All figures of the records that have some, in as many tables as the width asks for, each with the names at the left.
fn tables(metrics: &[Metric], records: &[Record]) -> String {
    let measured: Vec<&Record> = records.iter().filter(|record| record.outcome.is_ok()).collect();
    if measured.is_empty() {
        return String::new();
    }
    let names = Column::new(["executor", ""], measured.iter().map(|record| record.executor.to_owned()));
    let (mut text, mut columns, mut width) = (String::new(), Vec::new(), names.width);
    for column in columns_of(metrics, &measured) {
        if width + GAP + column.width > WIDTH {
            text += &table(&names, &columns);
            columns.clear();
            width = names.width;
        }
        width += GAP + column.width;
        columns.push(column);
    }
    text + &table(&names, &columns)
}

/// Names to the left, figures to the right.
fn table(names: &Column, columns: &[Column]) -> String {
    let mut text = String::new();
    for (index, name) in names.lines.iter().enumerate() {
        let mut line = format!("{name:width$}", width = names.width);
        for Column { lines, width } in columns {
            line += &format!("{:GAP$}{:>width$}", "", lines[index]);
        }
        text += line.trim_end();
        text.push('\n');
    }
    text.push('\n');
    text
}

/// The comparison with the best stands after the first figure, which is what is compared.
fn columns_of(metrics: &[Metric], records: &[&Record]) -> Vec<Column> {
    let figure = |record: &Record, index: usize| record.outcome.as_ref().ok().and_then(|figures| figures[index]);
    let mut columns: Vec<Column> = metrics
        .iter()
        .enumerate()
        .map(|(index, metric)| {
            let scaled = |record: &&Record| figure(record, index).map(|figure| figure * metric.scale);
            Column::new(metric.title, cells(records.iter().map(scaled).collect()))
        })
        .collect();
    let slowdowns = cells(records.iter().map(|record| record.slowdown.map(|slowdown| slowdown.value)).collect());
    columns.insert(1, Column::new(["slower", "x best"], slowdowns));
    let intervals = records.iter().map(|record| {
        record.slowdown.map_or("-".to_owned(), |slowdown| format!("{:.2}-{:.2}", slowdown.low, slowdown.high))
    });
    columns.insert(2, Column::new(["95%", "interval"], intervals));
    columns
}

/// The figures of a column, all with as many decimals as the smallest needs for three digits, but at most four.
fn cells(figures: Vec<Option<f64>>) -> impl Iterator<Item = String> {
    let smallest = figures.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let whole = figures.iter().flatten().all(|figure| figure.fract() == 0.0);
    let decimals = [100.0, 10.0, 1.0, 0.1].iter().position(|limit| smallest >= *limit).unwrap_or(4);
    let decimals = if whole { 0 } else { decimals };
    figures.into_iter().map(move |figure| figure.map_or("-".to_owned(), |figure| format!("{figure:.decimals$}")))
}

fn titled(title: &str, text: &str) -> String {
    let text = wrapped(text, INDENT);
    format!("{title:INDENT$}{}", &text[INDENT..])
}

/// The words of `text` in lines that fit, each indented.
fn wrapped(text: &str, indent: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if indent + line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{environment::Environment, stats::Ratio};
    use std::time::SystemTime;

    const METRICS: &[Metric] = &[
        Metric { column: "rate", decimals: 0, title: ["median", "M jobs/s"], scale: 1e-6, more_is_better: true },
        Metric { column: "count", decimals: 0, title: ["count", ""], scale: 1.0, more_is_better: true },
        Metric { column: "missing", decimals: 0, title: ["missing", "ns"], scale: 1.0, more_is_better: true },
    ];

    fn record(executor: &'static str, rate: f64, count: f64) -> Record {
        let value = 30e6 / rate;
        let slowdown = Some(Ratio { value, low: value - 0.25, high: value + 0.5 });
        Record { executor, samples: 5, outcome: Ok(vec![Some(rate), Some(count), None]), slowdown }
    }

    fn failed() -> Record {
        Record { executor: "broken", samples: 0, outcome: Err("stalled".to_owned()), slowdown: None }
    }

    #[test]
    fn a_table_has_units_and_a_line_for_each_executor() {
        let records = [record("channel", 12.5e6, 5.0), failed(), record("workstealing", 30e6, 12.0)];
        let expected = "\
executor        median  slower        95%  count  missing
              M jobs/s  x best   interval              ns
channel           12.5    2.40  2.15-2.90      5        -
workstealing      30.0    1.00  0.75-1.50     12        -

";
        assert_eq!(tables(METRICS, &records), expected);
    }

    #[test]
    fn a_wide_table_goes_on_below_itself() {
        let metrics = [METRICS[0]; 7];
        let records = [Record { outcome: Ok(vec![Some(1e6); 7]), ..record("workstealing-spin-counted", 1e6, 1.0) }];
        let text = tables(&metrics, &records);
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert_eq!(text.matches("workstealing-spin-counted").count(), 2);
        assert_eq!(text.matches("median").count(), 7);
    }

    #[test]
    fn decimals_are_those_that_the_smallest_figure_needs() {
        let column = |figures: &[f64]| cells(figures.iter().copied().map(Some).collect()).collect::<Vec<_>>();
        assert_eq!(column(&[123.4, 20_000.0]), ["123", "20000"]);
        assert_eq!(column(&[4.924, 32.04]), ["4.92", "32.04"]);
        assert_eq!(column(&[0.0721, 381.0234]), ["0.0721", "381.0234"]);
        assert_eq!(column(&[1.0, 2.0]), ["1", "2"]);
    }

    fn preamble() -> Preamble {
        Preamble {
            time: SystemTime::now(),
            environment: Environment { command: "x ".repeat(100), ..Environment::now() },
            experiment: "some",
            settings: Vec::new(),
            description: vec![("load", "heavy ".repeat(30))],
            metrics: METRICS,
        }
    }

    #[test]
    fn everything_fits_into_the_width_and_failures_are_told() {
        let mut text = Vec::new();
        let mut terminal = Terminal::new(&mut text);
        terminal.begin(&preamble()).expect("memory");
        terminal.end(&preamble(), &[failed()], "Stopped, as all failed.").expect("memory");
        let text = String::from_utf8(text).expect("text");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.contains("\nFAILED: broken stalled\n"), "{text}");
    }

    #[test]
    fn a_reader_that_has_gone_is_no_error_but_a_full_disk_is() {
        struct Broken(ErrorKind);

        impl Write for Broken {
            fn write(&mut self, _text: &[u8]) -> io::Result<usize> {
                Err(self.0.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }

        assert!(Terminal::new(Broken(ErrorKind::BrokenPipe)).begin(&preamble()).is_ok());
        assert!(Terminal::new(Broken(ErrorKind::StorageFull)).begin(&preamble()).is_err());
    }
}
