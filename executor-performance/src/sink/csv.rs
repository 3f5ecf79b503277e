//! Rows for spreadsheets and scripts, appended to a file.

use super::{
    Sink, Target,
    place::{Place, located},
};
use crate::{
    record::{Column, Record, Row, Run, Status},
    view::{self, decimals_for},
};
use std::{
    fmt, fs,
    io::{self, ErrorKind, Write},
};

/// Columns before the settings.
const CONTEXT: &[&str] =
    &["time_utc", "version", "build", "machine", "cores", "system", "load_average", "experiment", "executor", "status"];

/// Columns after the figures.
const COMPARISON: &[&str] = &["slowdown_to_best", "slowdown_low95", "slowdown_high95", "error"];

/// Columns after these, which were added later.
const TRUST: &[&str] = &[
    "outliers",
    "switches_per_sample",
    "peak_memory_mib",
    "other_busy_cores",
    "stolen_percent",
    "stopped",
    "git",
    "handover_p10_ns",
    "handover_p50_ns",
    "handover_p90_ns",
];

/// A CSV file that results are appended to.
///
/// Its first line names the columns, with units. It is written before anything is measured if the file is new or empty;
/// otherwise it must be the same, because rows under wrong titles are worse than no rows.
#[derive(Debug)]
pub struct CsvFile {
    target: Target,
    place: Place,
    /// What has to be written before the next row.
    text: Vec<u8>,
}

impl CsvFile {
    /// Makes sure that `target` can be written, for rows of runs like the `outlines`.
    ///
    /// # Errors
    ///
    /// If it cannot be written, has other columns, or the runs have different ones: a line that says so.
    pub fn open(target: &Target, outlines: &[Run]) -> Result<Self, String> {
        let headers: Vec<Vec<String>> = outlines.iter().map(header).collect();
        if let Some(other) = headers.iter().position(|header| *header != headers[0]) {
            return Err(format!(
                "{target} cannot hold {} and {}, which have different columns: write .json, .md or .html",
                view::experiment(&outlines[0]),
                view::experiment(&outlines[other])
            ));
        }
        let header = headers.first().map(|header| line(header)).unwrap_or_default();
        let complain = |why: &dyn fmt::Display| format!("cannot append to {target}: {why}");
        let place = Place::of(target).map_err(|error| complain(&error))?;
        let present = contents(&place).map_err(|error| complain(&error))?;
        let text = if present.is_empty() {
            header
        } else if first_record(&present) != first_record(&header) {
            return Err(complain(&"it has other columns, from another experiment or version; choose another file"));
        } else if present.ends_with(b"\n") {
            Vec::new()
        } else {
            b"\n".to_vec()
        };
        Ok(CsvFile { target: target.clone(), place, text })
    }
}

/// What is there already.
fn contents(place: &Place) -> io::Result<Vec<u8>> {
    match place {
        Place::File { path, .. } => match fs::read(path) {
            Err(why) if why.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            read => read,
        },
        Place::Stream(_) | Place::Output => Ok(Vec::new()),
    }
}

impl Sink for CsvFile {
    /// Titles are written at once, so that the file says what it should hold, whatever ends the run.
    fn start(&mut self) -> io::Result<()> {
        if self.place.is_file() { self.write() } else { Ok(()) }
    }

    fn begin(&mut self, _record: &Record) -> io::Result<()> {
        Ok(())
    }

    /// What was appended cannot be replaced by a newer state.
    fn update(&mut self, _record: &Record) -> io::Result<()> {
        Ok(())
    }

    /// All rows of a run are written at once, so that programs that append to the same file do not tear each other's
    /// rows; and as soon as the run has ended, so that nothing that happens to the next run takes them away.
    fn end(&mut self, record: &Record) -> io::Result<()> {
        self.text = self.rows(record);
        self.write()
    }

    fn finish(&mut self, _record: &Record) -> io::Result<()> {
        self.write()
    }
}

impl CsvFile {
    /// Writes what has to be written.
    fn write(&mut self) -> io::Result<()> {
        let written = self.place.out().and_then(|mut out| drain(&mut self.text, &mut out));
        written.map_err(|why| located(&self.target, &why))
    }

    /// What there is to append when the last run of `record` has ended.
    pub(super) fn rows(&mut self, record: &Record) -> Vec<u8> {
        let mut text = std::mem::take(&mut self.text);
        if let Some(run) = record.runs.last() {
            text.extend(run.rows.iter().flat_map(|row| line(&cells(record, run, row))));
        }
        text
    }
}

/// Removes what it writes from `text`, so that the rest can be written when there is room for it, and no row is torn.
fn drain(text: &mut Vec<u8>, out: &mut impl Write) -> io::Result<()> {
    while !text.is_empty() {
        match out.write(text) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => drop(text.drain(..written)),
            Err(why) if why.kind() == ErrorKind::Interrupted => {}
            Err(why) => return Err(why),
        }
    }
    out.flush()
}

fn header(run: &Run) -> Vec<String> {
    let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let mut columns = named(CONTEXT);
    columns.extend(run.settings.keys().chain(run.fitted.keys()).cloned());
    columns.push("samples".to_owned());
    columns.extend(run.columns.iter().map(|column| column.name.clone()));
    columns.extend([named(COMPARISON), named(TRUST)].concat());
    columns
}

fn cells(record: &Record, run: &Run, row: &Row) -> Vec<String> {
    let Record { program, machine, .. } = record;
    let number = |number: Option<f64>, decimals: usize| number.map(|it| format!("{it:.decimals$}")).unwrap_or_default();
    let mut cells = vec![
        run.began_utc.clone(),
        program.version.clone(),
        program.build.clone(),
        machine.processor.name.clone(),
        machine.processor.cores.to_string(),
        format!("{} {}", machine.system.name, machine.system.kernel),
        machine.load_average.map(|load| load.to_string()).unwrap_or_default(),
        run.experiment.clone(),
        row.executor.clone(),
        match row.status() {
            Status::Measured => "ok",
            Status::Failed => "failed",
            Status::NotMeasured => "unmeasured",
        }
        .to_owned(),
    ];
    cells.extend(run.settings.values().chain(run.fitted.values()).map(ToString::to_string));
    cells.push(row.samples.count().to_string());
    cells.extend(run.columns.iter().map(|column| row.figure(column).map(|it| figure(it, column)).unwrap_or_default()));
    let three = |numbers: Option<[f64; 3]>, decimals| {
        numbers.map_or([None; 3], |numbers| numbers.map(Some)).map(|it| number(it, decimals))
    };
    cells.extend(three(row.slowdown.map(|slowdown| [slowdown.value, slowdown.low, slowdown.high]), 3));
    cells.push(row.error.clone().unwrap_or_default());
    cells.extend([
        row.outliers.count().to_string(),
        number(row.samples.switches(), 1),
        number(row.samples.peak_mib(), 1),
        number(run.surroundings.other_cores, 2),
        number(run.surroundings.stolen_percent, 2),
        run.stop.as_ref().map(|stop| stop.reason.to_string()).unwrap_or_default(),
        program.git.clone(),
    ]);
    cells.extend(three(run.surroundings.handover.map(|way| [way.p10_ns, way.p50_ns, way.p90_ns]), 1));
    cells
}

/// `value` as it stands in `column`. A column without decimals is of counts, or of large numbers: any other has four
/// digits there, because a rate of some jobs per second would be left with one.
fn figure(value: f64, column: &Column) -> String {
    const DIGITS: u8 = 4;
    let lacks_digits = column.decimals == 0 && value.fract() != 0.0;
    let decimals = if lacks_digits { decimals_for(DIGITS, value) } else { column.decimals };
    format!("{value:.decimals$}")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{failure::Failure, record::mock::record};

    #[test]
    fn a_row_for_each_executor_of_each_run() {
        let mut record = record();
        record.runs.truncate(2);
        let (first, mut file) = (
            Record { runs: record.runs[..1].to_vec(), ..record.clone() },
            CsvFile::open(&Target::Output, &record.runs).expect("the same columns"),
        );
        let text = [file.rows(&first), file.rows(&record)].concat();
        insta::assert_snapshot!(String::from_utf8(text).expect("text"));
    }

    #[test]
    fn small_rates_keep_their_digits_and_large_ones_and_counts_are_whole() {
        let whole = Column { decimals: 0, ..record().runs[0].columns[0].clone() };
        let written = [0.012_346, 1.5, 49.7512, 731.28, 1999.6, 12_345_678.9, 3.0, 0.0].map(|it| figure(it, &whole));
        assert_eq!(written, ["0.01235", "1.500", "49.75", "731.3", "2000", "12345679", "3", "0"]);
        assert_eq!(figure(0.05, &Column { decimals: 3, ..whole }), "0.050");
    }

    #[test]
    fn what_was_not_measured_has_not_failed() {
        let record = record();
        let run = &record.runs[0];
        let status = |error: Option<&str>| {
            let row = Row { error: error.map(str::to_owned), ..run.rows[0].clone() };
            let place = header(run).iter().position(|column| column == "status").expect("there is one");
            cells(&record, run, &row)[place].clone()
        };
        let unmeasured = Failure::Interrupted.to_string();
        assert_eq!([None, Some("crashed"), Some(&*unmeasured)].map(status), ["ok", "failed", "unmeasured"]);
    }

    #[test]
    fn what_could_not_be_written_is_written_when_there_is_room() {
        /// Has this much room.
        struct Disk(Vec<u8>, usize);

        impl Write for Disk {
            fn write(&mut self, text: &[u8]) -> io::Result<usize> {
                let room = text.len().min(self.1);
                self.1 -= room;
                self.0.extend(&text[..room]);
                if room == 0 { Err(ErrorKind::StorageFull.into()) } else { Ok(room) }
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }

        let (mut text, mut disk) = (b"a,b\n1,2\n".to_vec(), Disk(Vec::new(), 5));
        assert_eq!(drain(&mut text, &mut disk).map_err(|why| why.kind()), Err(ErrorKind::StorageFull));
        disk.1 = 100;
        text.extend(b"3,4\n");
        drain(&mut text, &mut disk).expect("there is room");
        assert_eq!(String::from_utf8(disk.0).expect("text"), "a,b\n1,2\n3,4\n");
    }

    #[test]
    fn titles_are_there_before_any_row() {
        let path = std::env::temp_dir().join(format!("csv-titles-{}.csv", std::process::id()));
        let outlines = &record().runs[..1];
        let start = || CsvFile::open(&Target::File(path.clone()), outlines).expect("it can be written").start();
        start().expect("titles");
        let text = std::fs::read_to_string(&path).expect("a file");
        assert!(text.starts_with("time_utc,") && text.ends_with('\n') && text.lines().count() == 1, "{text}");
        start().expect("nothing more");
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), text);
        std::fs::remove_file(&path).expect("removed");
    }

    #[test]
    fn runs_with_different_columns_have_no_place_in_one_file() {
        let mut runs = record().runs;
        runs[2].experiment = "open-latency".to_owned();
        let complaint = CsvFile::open(&Target::Output, &runs).expect_err("throughput and latency");
        assert!(
            complaint.contains("throughput and latency --rate,") && complaint.contains("write .json"),
            "{complaint}"
        );
    }
}
