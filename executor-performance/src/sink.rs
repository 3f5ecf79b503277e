//! Where results go. A sink reads records and knows nothing of how they came about.

mod csv;
mod destination;
mod document;
mod html;
mod markdown;
mod paint;
mod progress;
mod svg;
mod talk;
mod terminal;

pub use self::{
    csv::CsvFile,
    destination::{Destination, Format, Target},
    document::Document,
    progress::Progress,
    talk::{error, warning},
    terminal::Terminal,
};

use crate::record::{Record, Run};
use std::io;

/// Takes results. The run that is spoken of is always the last of the record.
pub trait Sink {
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
}

/// Opens `destination` for runs like those that are outlined.
///
/// # Errors
///
/// If it cannot be written: a line that says why.
pub fn open(destination: &Destination, outlines: &[Run]) -> Result<Box<dyn Sink>, String> {
    let render = match destination.format {
        Format::Csv => return Ok(Box::new(CsvFile::open(&destination.target, outlines)?)),
        Format::Html => html::page,
        Format::Json => Record::to_json,
        Format::Markdown => markdown::page,
        Format::Svg => svg::picture,
    };
    Ok(Box::new(Document::open(&destination.target, render)?))
}
