//! What was measured, in the one form that all writers read and that files have: see `docs/record-format.md`.

mod column;
mod costs;
mod metric;
mod row;
mod run;
mod samples;
mod setting;
mod times;

pub use self::{
    column::Column,
    metric::{Figure, Metric},
    row::{Row, Status},
    run::{Reason, Run, Stop},
    samples::Samples,
    setting::{Setting, Settings, Value},
    times::Times,
};

pub(crate) use self::{costs::Costs, run::utc_now};

use crate::{clock::Precision, machine::Machine, program::Program};
use serde::{Deserialize, Serialize};
use std::{fs, io, path::Path};

/// The version of the format. Fields may be added without raising it; readers ignore fields that they do not know.
pub const SCHEMA: u32 = 1;

/// The most decimals that a number has.
const DECIMALS: usize = 17;

/// All runs of one command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of the format: [`SCHEMA`].
    pub schema: u32,
    /// The program that measured.
    pub program: Program,
    /// The machine.
    pub machine: Machine,
    /// How good its clock is.
    pub clock: Precision,
    /// What was measured, one for each experiment and each point of a sweep, in order.
    pub runs: Vec<Run>,
}

impl Record {
    /// A record of this program here, without runs.
    pub fn new(seed: u64) -> Self {
        Record {
            schema: SCHEMA,
            program: Program::this(seed),
            machine: Machine::now(),
            clock: Precision::measured(),
            runs: Vec::new(),
        }
    }

    /// The record as JSON text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a record has nothing that JSON has not") + "\n"
    }

    /// Reads the file at `path`, or the standard input if that is `-`.
    ///
    /// # Errors
    ///
    /// If that is no record: a line that says why.
    pub fn read(path: &Path) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Schema {
            schema: u32,
        }

        let name = path.display();
        let text = if path == Path::new("-") { io::read_to_string(io::stdin()) } else { fs::read_to_string(path) };
        let text = text.map_err(|error| format!("cannot read {name}: {error}"))?;
        let no_record = |error: serde_json::Error| {
            let incomplete = if error.is_eof() { "it is incomplete: " } else { "" };
            format!("{name} is not a record of this program: {incomplete}{error}; write one with `-o FILE.json`")
        };
        let Schema { schema } = serde_json::from_str(&text).map_err(no_record)?;
        if schema == 0 {
            return Err(format!(
                "{name} has version 0 of the format, which never existed: write one with `-o FILE.json`"
            ));
        }
        if schema > SCHEMA {
            return Err(format!(
                "{name} has version {schema} of the format, and this program knows {SCHEMA}: use a newer one"
            ));
        }
        let record: Record = serde_json::from_str(&text).map_err(no_record)?;
        match record.nonsense() {
            Some(nonsense) => Err(format!("{name} is not a record of measurements: {nonsense}")),
            None => Ok(record),
        }
    }

    /// Whether there is a sample, or an executor that failed.
    pub(crate) fn has_results(&self) -> bool {
        let told = |row: &Row| row.samples.count() > 0 || row.status() == Status::Failed;
        self.runs.iter().flat_map(|run| &run.rows).any(told)
    }

    /// What cannot have been measured, if the record has anything like that. A run that was interrupted early may be
    /// without samples, but not all runs.
    fn nonsense(&self) -> Option<String> {
        let mut rows = self.runs.iter().flat_map(|run| run.rows.iter().map(move |row| (run, row)));
        if rows.clone().all(|(_, row)| row.is_ok() && row.figures.values().all(Option::is_none)) {
            return Some("nothing was measured".to_owned());
        }
        let mut columns = self.runs.iter().flat_map(|run| &run.columns);
        if let Some(column) = columns.find(|column| column.decimals > DECIMALS) {
            return Some(format!("{} has {} decimals", column.name, column.decimals));
        }
        rows.find_map(|(run, row)| {
            let Samples { values, process, .. } = &row.samples;
            let first = run.first_column().and_then(|column| row.figure(column));
            let what = if values.iter().any(|value| !value.is_finite() || *value < 0.0) {
                "a sample that is negative or not finite"
            } else if values.is_empty() && first.is_some() {
                "figures without samples"
            } else if !process.is_empty() && process.len() != values.len() {
                "samples without processes"
            } else {
                return None;
            };
            Some(format!("{} of {} has {what}", run.experiment, row.executor))
        })
    }
}

#[cfg(test)]
pub(crate) mod mock {
    use super::*;
    use crate::machine::{Handover, Surroundings, mock::machine};
    use indexmap::IndexMap;
    use std::time::Duration;

    /// A record that was never measured: two runs of throughput with one and two threads, and one of latency, always
    /// the same.
    pub(crate) fn record() -> Record {
        let program = Program {
            version: "0.0.0".to_owned(),
            build: "release".to_owned(),
            target: "x86_64-unknown-linux-gnu".to_owned(),
            rustc: "rustc 1.88.0".to_owned(),
            git: "0123456789ab".to_owned(),
            features: Vec::new(),
            executors_features: vec!["workstealing-exec".to_owned()],
            crates: vec!["threadpool 1.8.1".to_owned()],
            command: "executor-performance -t 1,2 throughput".to_owned(),
            seed: 0,
        };
        let clock = Precision { step_ns: 10.0, reading_ns: 25.0 };
        let runs = vec![throughput(1, 1.0), throughput(2, 1.75), latency()];
        Record { schema: SCHEMA, program, machine: machine(), clock, runs }
    }

    fn run(experiment: &str, settings: Settings, columns: Vec<Column>, rows: Vec<Row>) -> Run {
        Run {
            experiment: experiment.to_owned(),
            began_utc: "2026-01-02T03:04:05Z".to_owned(),
            seconds: 12.5,
            description: vec![("load".to_owned(), "2 x 100 jobs".to_owned())],
            settings,
            fitted: [("jobs_per_sample".to_owned(), Value::Number(200))].into_iter().collect(),
            columns,
            scales: experiment == "throughput",
            surroundings: Surroundings {
                handover: Some(Handover { looks: 20, p10_ns: 48.0, p50_ns: 50.0, p90_ns: 55.0 }),
                ..Surroundings::default()
            },
            warnings: Vec::new(),
            stop: Some(Stop { reason: Reason::Precise, remark: "Stopped after 12.5 s, as it was enough.".to_owned() }),
            rows,
        }
    }

    fn settings(threads: u64) -> Settings {
        [("threads".to_owned(), Value::Number(threads)), ("producers".to_owned(), Value::Number(2))]
            .into_iter()
            .collect()
    }

    fn column(name: &str, title: &str, unit: &str, scale: f64, more_is_better: bool) -> Column {
        let (name, title, unit) = (name.to_owned(), title.to_owned(), unit.to_owned());
        Column { name, title, unit, decimals: 3, scale, more_is_better }
    }

    fn row(executor: &str, values: &[f64], figures: IndexMap<String, Option<f64>>) -> Row {
        let usage = crate::usage::Usage {
            wall: Duration::from_millis(100),
            cpu: Some(Duration::from_millis(150)),
            voluntary_switches: Some(40),
            involuntary_switches: Some(2),
            peak_kib: Some(10_240),
        };
        Row::new(executor, Ok(figures), Samples::new(values.to_vec(), &vec![usage; values.len()]), None)
    }

    fn throughput(threads: u64, factor: f64) -> Run {
        let columns = vec![
            column("median_jobs_per_s", "median", "M jobs/s", 1e-6, true),
            column("cpu_ns_per_job", "CPU", "ns/job", 1.0, false),
        ];
        let executor = |name: &str, rate: f64| {
            let values = [0.98, 1.0, 1.03, 0.99, 1.01, 1.0, 1.5].map(|noise| rate * factor * noise * 1e6);
            let figures = [(&columns[0].name, rate * factor * 1e6), (&columns[1].name, 900.0 / rate)];
            row(name, &values, figures.into_iter().map(|(name, figure)| (name.clone(), Some(figure))).collect())
        };
        let mut rows = vec![executor("channel", 12.0), executor("workstealing", 30.0)];
        rows[0].slowdown = Some(crate::stats::Ratio { value: 2.5, low: 2.4, high: 2.6 });
        rows[1].slowdown = Some(crate::stats::Ratio { value: 1.0, low: 1.0, high: 1.0 });
        rows.push(Row::new("broken", Err("stalled: 1 of 2 jobs ran".to_owned()), Samples::default(), None));
        run("throughput", settings(threads), columns.clone(), rows)
    }

    fn latency() -> Run {
        let columns = vec![
            column("mean_us", "mean", "ms", 1e-3, false),
            column("cpu_us_per_burst", "CPU", "us/burst", 1.0, false),
        ];
        let executor = |name: &str, micros: u64| {
            let delays =
                (1..=200_u64).map(|rank| Duration::from_nanos(micros * 1000 * (20_000 + rank * rank) / 20_000));
            let times = crate::stats::Distribution::of(delays).map(|delays| Times::of(&delays));
            let figures = [(&columns[0].name, micros as f64), (&columns[1].name, 2.0 * micros as f64)];
            let figures = figures.into_iter().map(|(name, figure)| (name.clone(), Some(figure))).collect();
            Row { times, ..row(name, &[1.0, 1.02, 0.97, 1.03, 1.0].map(|noise| micros as f64 * noise), figures) }
        };
        run("latency", settings(2), columns.clone(), vec![executor("channel", 40), executor("workstealing", 25)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn what_is_written_is_read() {
        let record = mock::record();
        let path = std::env::temp_dir().join(format!("record-{}.json", std::process::id()));
        fs::write(&path, record.to_json()).expect("written");
        let read = Record::read(&path);
        fs::remove_file(&path).expect("removed");
        assert!(read.is_ok_and(|read| read == record));
    }

    #[test]
    fn what_is_no_record_is_refused() {
        let path = std::env::temp_dir().join(format!("no-record-{}.json", std::process::id()));
        for (text, part) in [
            ("a,b", "not a record"),
            (r#"{"schema":1,"#, "it is incomplete"),
            ("{}", "not a record"),
            (r#"{"schema":99}"#, "version 99"),
            (r#"{"schema":1}"#, "not a record"),
        ] {
            fs::write(&path, text).expect("written");
            let complaint = Record::read(&path).expect_err(text);
            assert!(complaint.contains(part) && complaint.contains("no-record-"), "{complaint}");
        }
        fs::remove_file(&path).expect("removed");
        assert!(Record::read(&path).expect_err("gone").contains("cannot read"));
    }

    /// If this fails, the format has changed: consider [`SCHEMA`] and `docs/record-format.md`.
    #[test]
    fn the_format_is_as_documented() {
        let parsed = |record: &Record| -> serde_json::Value { serde_json::from_str(&record.to_json()).expect("JSON") };
        let whole = mock::record();
        let first = Record { runs: whole.runs[..1].to_vec(), ..whole.clone() };
        insta::assert_snapshot!(serde_json::to_string_pretty(&parsed(&first)).expect("JSON"));

        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/record-format.md");
        let text = fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let code = text.split('`').skip(1).step_by(2);
        let told: HashSet<&str> =
            code.flat_map(|code| code.split(|it: char| !it.is_ascii_alphanumeric() && it != '_')).collect();
        // The other runs have values where the first has null.
        for key in keys(&parsed(&whole)) {
            assert!(told.contains(key.as_str()), "`{key}` is not in {}", path.display());
        }
    }

    /// The names of all fields, but not those of settings and figures, which differ from experiment to experiment.
    fn keys(json: &serde_json::Value) -> Vec<String> {
        match json {
            serde_json::Value::Array(all) => all.iter().flat_map(keys).collect(),
            serde_json::Value::Object(fields) => {
                let of = |(key, value): (&String, &serde_json::Value)| {
                    let named = ["settings", "fitted", "figures"].contains(&key.as_str());
                    let inside = if named { Vec::new() } else { keys(value) };
                    [vec![key.clone()], inside].concat()
                };
                fields.iter().flat_map(of).collect()
            }
            _ => Vec::new(),
        }
    }
}
