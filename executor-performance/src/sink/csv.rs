//! Rows for spreadsheets and scripts, appended to a file.

use super::Sink;
use crate::record::{Metric, Preamble, Record, Setting};
use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
};

/// Columns before the settings.
const CONTEXT: &[&str] =
    &["time_utc", "version", "build", "machine", "cores", "system", "load_average", "experiment", "executor", "status"];

/// A CSV file that results are appended to.
///
/// Its first line names the columns, with units. It is written if the file is new or empty; otherwise it must be the same,
/// as rows under wrong titles are worse than no rows.
#[derive(Debug)]
pub struct CsvFile {
    file: File,
    /// What has to be written before the first row.
    lead: Vec<u8>,
}

impl CsvFile {
    /// Opens or creates the file at `path` for rows with these settings and figures.
    ///
    /// # Errors
    ///
    /// If the file cannot be written or has other columns: a line that says so.
    pub fn open(path: &Path, settings: &[Setting], metrics: &[Metric]) -> Result<Self, String> {
        let complain = |why: &dyn std::fmt::Display| format!("cannot append to {}: {why}", path.display());
        let file = OpenOptions::new().append(true).create(true).open(path).map_err(|error| complain(&error))?;
        let header = line(&header(settings, metrics));
        // Devices and pipes have no contents to be looked at.
        let is_file = file.metadata().map_err(|error| complain(&error))?.is_file();
        let present = if is_file { std::fs::read(path).map_err(|error| complain(&error))? } else { Vec::new() };

        let lead = if present.is_empty() {
            header
        } else if first_record(&present) != first_record(&header) {
            return Err(complain(&"it has other columns, from another experiment or version; choose another file"));
        } else if present.ends_with(b"\n") {
            Vec::new()
        } else {
            b"\n".to_vec()
        };
        Ok(CsvFile { file, lead })
    }
}

impl Sink for CsvFile {
    fn begin(&mut self, _preamble: &Preamble) -> io::Result<()> {
        Ok(())
    }

    /// All rows are written at once, so that programs which append to the same file do not tear each other's rows.
    fn end(&mut self, preamble: &Preamble, records: &[Record], _remark: &str) -> io::Result<()> {
        let mut text = std::mem::take(&mut self.lead);
        for record in records {
            text.extend(line(&row(preamble, record)));
        }
        self.file.write_all(&text)?;
        self.file.flush()
    }
}

fn header(settings: &[Setting], metrics: &[Metric]) -> Vec<String> {
    let settings = settings.iter().map(|setting| setting.column);
    let metrics = metrics.iter().map(|metric| metric.column);
    let columns = CONTEXT.iter().copied().chain(settings).chain(["samples"]).chain(metrics);
    columns.chain(["slowdown_to_best", "slowdown_low95", "slowdown_high95", "error"]).map(str::to_owned).collect()
}

fn row(preamble: &Preamble, record: &Record) -> Vec<String> {
    let environment = &preamble.environment;
    let mut row = vec![
        humantime::format_rfc3339_seconds(preamble.time).to_string(),
        environment.version.to_owned(),
        environment.build.to_owned(),
        environment.cpu.clone(),
        environment.cores.to_string(),
        environment.system.clone(),
        environment.load_average.map(|load| load.to_string()).unwrap_or_default(),
        preamble.experiment.to_owned(),
        record.executor.to_owned(),
        if record.outcome.is_ok() { "ok" } else { "failed" }.to_owned(),
    ];
    row.extend(preamble.settings.iter().map(|setting| setting.value.clone()));
    row.push(record.samples.to_string());
    row.extend(preamble.metrics.iter().enumerate().map(|(index, metric)| {
        let figure = record.outcome.as_ref().ok().and_then(|figures| figures[index]);
        figure.map(|figure| format!("{figure:.*}", metric.decimals)).unwrap_or_default()
    }));
    let slowdown = record.slowdown.map(|slowdown| [slowdown.value, slowdown.low, slowdown.high]);
    row.extend(slowdown.map_or([const { String::new() }; 3], |numbers| numbers.map(|number| format!("{number:.3}"))));
    row.push(record.outcome.as_ref().err().cloned().unwrap_or_default());
    row
}

/// `cells` as one line of CSV.
fn line(cells: &[String]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(cells).expect("memory can be written");
    writer.into_inner().expect("memory can be flushed")
}

fn first_record(text: &[u8]) -> Option<csv::ByteRecord> {
    csv::ReaderBuilder::new().has_headers(false).from_reader(text).into_byte_records().next()?.ok()
}
