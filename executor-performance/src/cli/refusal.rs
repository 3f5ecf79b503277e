//! Why nothing is run.

use super::recommend::Workload;
use clap::{
    ValueEnum,
    error::{ContextKind, ContextValue, ErrorKind},
};
use std::path::Path;

/// Why there is nothing to run.
#[derive(Debug)]
pub enum Refusal {
    /// Help or the version was asked for, and is in here.
    Shown(clap::Error),
    /// The command line is wrong: one line that says how.
    Wrong(String),
}

impl From<clap::Error> for Refusal {
    fn from(error: clap::Error) -> Self {
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Refusal::Shown(error),
            _ => Refusal::Wrong(one_line(&error.render().to_string()) + &remedy(&error)),
        }
    }
}

impl Refusal {
    /// Of the configuration file at `path`.
    pub(super) fn within(self, path: &Path) -> Self {
        match self {
            Refusal::Wrong(complaint) => Refusal::Wrong(format!("{}: {complaint}", path.display())),
            Refusal::Shown(error) => Refusal::Wrong(format!("{}: {error}", path.display())),
        }
    }
}

/// What somebody meant who said a workload without its option.
fn remedy(error: &clap::Error) -> String {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if Workload::from_str(word, true).is_ok() => {
            format!("; say --workload {word}")
        }
        _ => String::new(),
    }
}

/// What the parser has to say, without usage and hints on further reading, in one line.
fn one_line(message: &str) -> String {
    let said = message.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let said = said.filter(|line| !line.is_empty() && !line.starts_with("For more information"));
    let line = said.collect::<Vec<_>>().join(" ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}
