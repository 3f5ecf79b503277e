//! Options of the commands that measure nothing.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// What applies to compare only.
#[derive(Debug, Args)]
pub struct CompareOptions {
    /// The record to compare with, written with `-o FILE.json`
    pub old: PathBuf,
    /// The record to compare
    pub new: PathBuf,
}

/// What applies to report only.
#[derive(Debug, Args)]
pub struct ReportOptions {
    /// The record, written with `-o FILE.json`; `-` is the standard input
    pub record: PathBuf,
}

/// What applies to man only.
#[derive(Debug, Args)]
pub struct ManOptions {
    /// The command whose page to print, with its options [default: that of the whole program]
    pub command: Option<String>,
}

/// What applies to completions only.
#[derive(Debug, Args)]
pub struct CompletionsOptions {
    /// The shell
    pub shell: Shell,
}
