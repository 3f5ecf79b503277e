//! Why nothing is run.

use super::{
    definition::{definition, owners_of, takes_list},
    recommend::Workload,
};
use crate::registry;
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
            _ => {
                Refusal::Wrong(of_another_build(&error).or_else(|| of_another_command(&error)).unwrap_or_else(|| {
                    one_line(&error.render().to_string(), is_of_executors(&error)) + &remedy(&error)
                }))
            }
        }
    }
}

impl Refusal {
    /// The same, for what the configuration file at `path` says.
    pub(super) fn within(self, path: &Path) -> Self {
        match self {
            Refusal::Wrong(complaint) => Refusal::Wrong(format!("{}: {complaint}", path.display())),
            Refusal::Shown(error) => Refusal::Wrong(format!("{}: {error}", path.display())),
        }
    }
}

/// A hint for a workload that was given without its option, and for an option that was given twice.
fn remedy(error: &clap::Error) -> String {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return String::new() };
    match error.get(ContextKind::PriorArg) {
        Some(ContextValue::String(prior)) if prior == word => {
            let option = word.split(' ').next().unwrap_or(word);
            let listed = takes_list(&definition(), option);
            if listed { "; give one value, or one list, such as 1,2,3" } else { "; leave out one of them" }.to_owned()
        }
        _ if is_of_recommend(error) && Workload::from_str(word, true).is_ok() => format!("; use --workload {word}"),
        _ => String::new(),
    }
}

/// Whether it is about the arguments of `recommend`. Other experiments have other workloads.
fn is_of_recommend(error: &clap::Error) -> bool {
    let usage = error.get(ContextKind::Usage);
    matches!(usage, Some(ContextValue::StyledStr(usage)) if usage.to_string().contains(" recommend "))
}

/// What to say of an executor that is not in this build of the program.
fn of_another_build(error: &clap::Error) -> Option<String> {
    match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(name)) if is_of_executors(error) => registry::remedy(name)
            .map(|remedy| format!("--executor {name} is not in this build of executor-performance: {remedy}")),
        _ => None,
    }
}

/// What to say of an option that only some commands have, but not where it stands. A similar one is not meant.
fn of_another_command(error: &clap::Error) -> Option<String> {
    match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(option))) => {
            let owners = owners_of(&definition(), option)?;
            Some(format!(
                "{option} is an option of {owners}, not of every command: put it after that command, or \
                 into its [[run]] in a file"
            ))
        }
        _ => None,
    }
}

/// Whether it is about names of executors, of which there are too many for a line.
fn is_of_executors(error: &clap::Error) -> bool {
    let option = error.get(ContextKind::InvalidArg);
    matches!(option, Some(ContextValue::String(option)) if option.starts_with("--executor"))
}

/// The parser's message in one line, without usage and hints on further reading. The list of possible values takes the
/// place of a tip; if these are `too_many`, the tip or the command that lists them takes that of the list.
fn one_line(message: &str, too_many: bool) -> String {
    const VALUES: &str = "[possible values: ";
    const TIP: &str = "tip: ";
    let said = message.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let said: Vec<&str> = said.filter(|line| !line.is_empty() && !line.starts_with("For more information")).collect();
    let has = |prefix: &str| said.iter().any(|line| line.starts_with(prefix));
    let (tipped, listed) = (has(TIP), has(VALUES) && !too_many);
    let mut text = String::new();
    for line in &said {
        let part = match line.strip_prefix(VALUES) {
            Some(_) if too_many && tipped => continue,
            Some(_) if too_many => "`list` names all".to_owned(),
            Some(values) => format!("choose from {}", values.trim_end_matches(']')),
            None if listed && line.starts_with(TIP) => continue,
            None => line.trim_start_matches(TIP).to_owned(),
        };
        text += match text.chars().last() {
            None => "",
            Some(':') => " ",
            Some(_) => "; ",
        };
        text += &part;
    }
    text.strip_prefix("error: ").unwrap_or(&text).to_owned()
}
