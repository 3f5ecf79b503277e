//! Where results go. A sink reads records and knows nothing of how they came about.

mod csv;
mod progress;
mod talk;
mod terminal;

pub use self::{
    csv::CsvFile,
    progress::Progress,
    talk::{error, warning},
    terminal::Terminal,
};

use crate::record::{Preamble, Record};
use std::io;

/// Takes results.
pub trait Sink {
    /// Measuring begins.
    ///
    /// # Errors
    ///
    /// If that cannot be written.
    fn begin(&mut self, preamble: &Preamble) -> io::Result<()>;

    /// Measuring has ended with these `records`, for the reason given in `remark`.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    fn end(&mut self, preamble: &Preamble, records: &[Record], remark: &str) -> io::Result<()>;
}
