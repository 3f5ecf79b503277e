//! Where results go. A sink reads records and knows nothing of how they came about.

mod csv;
mod destination;
mod document;
#[cfg(test)]
mod every_experiment;
mod html;
mod markdown;
mod paint;
mod place;
mod progress;
mod svg;
mod talk;
mod terminal;
#[cfg(test)]
mod tests;

pub use self::{
    csv::CsvFile,
    destination::{Destination, Format, Target},
    document::Document,
    progress::Progress,
    talk::{Voice, error, warning},
    terminal::Terminal,
};

use crate::{
    compare::{Baseline, Comparison},
    record::{Record, Run},
};
use std::{io, rc::Rc};

/// Takes results. The run that a call is about is always the last of the record.
pub trait Sink {
    /// All sinks are open, so nothing is refused any more.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    fn start(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// A run begins.
    ///
    /// # Errors
    ///
    /// If that cannot be written.
    fn begin(&mut self, record: &Record) -> io::Result<()>;

    /// The run goes on, and there are results so far.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    fn update(&mut self, record: &Record) -> io::Result<()>;

    /// The run has ended.
    ///
    /// # Errors
    ///
    /// If its results cannot be written.
    fn end(&mut self, record: &Record) -> io::Result<()>;

    /// All runs have ended.
    ///
    /// # Errors
    ///
    /// If that cannot be written.
    fn finish(&mut self, record: &Record) -> io::Result<()>;

    /// Takes the runs of a record that was measured before, one after the other.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    fn retell(&mut self, whole: &Record) -> io::Result<()> {
        let Record { schema, program, machine, clock, runs: _ } = whole;
        let (program, machine) = (program.clone(), machine.clone());
        let mut record = Record { schema: *schema, program, machine, clock: *clock, runs: Vec::new() };
        for run in &whole.runs {
            record.runs.push(run.clone());
            self.begin(&record)?;
            self.end(&record)?;
        }
        self.finish(whole)
    }
}

/// Opens `destination` for runs like the `outlines`. Pages compare the runs with the `baseline`, if there is one.
///
/// # Errors
///
/// If it cannot be written: a line that says why.
pub fn open(
    destination: &Destination,
    outlines: &[Run],
    baseline: Option<&Rc<Baseline>>,
) -> Result<Box<dyn Sink>, String> {
    let target = &destination.target;
    let plain = |render: fn(&Record) -> String| Document::open(target, render).map(boxed);
    let compared = |render: fn(&Record, Option<&Comparison>) -> String| {
        let baseline = baseline.cloned();
        let compare = move |record: &Record| baseline.as_ref().and_then(|baseline| baseline.compared_with(record));
        Document::open(target, move |record: &Record| render(record, compare(record).as_ref())).map(boxed)
    };
    match destination.format {
        Format::Csv => Ok(Box::new(CsvFile::open(target, outlines)?)),
        Format::Html => compared(html::page),
        Format::Json => plain(Record::to_json),
        Format::Markdown => compared(markdown::page),
        Format::Svg => compared(svg::picture),
    }
}

fn boxed<S: Sink + 'static>(sink: S) -> Box<dyn Sink> {
    Box::new(sink)
}

/// Opens `destination` for a comparison.
///
/// # Errors
///
/// If it cannot be written, or a comparison cannot be written in that format: a line that says why.
pub fn open_comparison(destination: &Destination) -> Result<Document<Comparison>, String> {
    let render = match destination.format {
        Format::Html => html::comparison_page,
        Format::Markdown => markdown::comparison_page,
        Format::Svg => svg::comparison_picture,
        Format::Csv | Format::Json => {
            return Err(format!(
                "{} cannot hold a comparison: name a file that ends with .html, .md or .svg",
                destination.target
            ));
        }
    };
    Document::open(&destination.target, render)
}
