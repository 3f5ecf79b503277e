//! One point of a sweep: what is said of the load and the threads.

use crate::workload::Load;
use std::fmt::Display;

/// A value for each option that can be swept; none if it was not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// Worker threads.
    pub threads: usize,
    pub(super) producers: Option<usize>,
    pub(super) messages: Option<u64>,
    pub(super) amplification: Option<u64>,
}

impl Point {
    /// Chains from outside, where `messages` are the experiment's default.
    ///
    /// # Errors
    ///
    /// If the jobs cannot be counted.
    pub fn chains(&self, messages: u64) -> Result<Load, String> {
        const HOPS: u64 = 1;
        countable(self.producers(), self.messages(messages), self.amplification.unwrap_or(HOPS))
    }

    /// Single jobs of one producer, where `jobs` are the experiment's default.
    ///
    /// # Errors
    ///
    /// If more is said of them for which `experiment` has no use.
    pub fn single_jobs(&self, jobs: u64, experiment: &str) -> Result<Load, String> {
        self.no_producers(experiment)?;
        self.no_amplification(experiment)?;
        countable(1, self.messages(jobs), 0)
    }

    /// Single jobs of the producers, where `jobs` each are the experiment's default.
    ///
    /// # Errors
    ///
    /// If more is said of them for which `experiment` has no use.
    pub fn produced_jobs(&self, jobs: u64, experiment: &str) -> Result<Load, String> {
        self.no_amplification(experiment)?;
        countable(self.producers(), self.messages(jobs), 0)
    }

    /// Producers of jobs that come at a rate.
    ///
    /// # Errors
    ///
    /// If more is said of the load for which `experiment` has no use.
    pub fn sources(&self, experiment: &str) -> Result<usize, String> {
        refuse("--messages", self.messages, experiment)?;
        self.no_amplification(experiment)?;
        Ok(self.producers())
    }

    /// Refuses what is said of the load, as `experiment` has no use for it.
    ///
    /// # Errors
    ///
    /// If anything is.
    pub fn unused(&self, experiment: &str) -> Result<(), String> {
        self.no_producers(experiment)?;
        refuse("--messages", self.messages, experiment)?;
        self.no_amplification(experiment)
    }

    fn producers(&self) -> usize {
        self.producers.unwrap_or(1)
    }

    fn messages(&self, default: u64) -> u64 {
        self.messages.unwrap_or(default)
    }

    fn no_producers(&self, experiment: &str) -> Result<(), String> {
        refuse("--producers", self.producers, experiment)
    }

    fn no_amplification(&self, experiment: &str) -> Result<(), String> {
        refuse("--message-amplification", self.amplification, experiment)
    }
}

fn refuse(option: &str, value: Option<impl Display>, experiment: &str) -> Result<(), String> {
    match value {
        Some(value) => Err(format!("{option} {value} means nothing to {experiment}: leave it out")),
        None => Ok(()),
    }
}

pub(super) fn countable(producers: usize, messages: u64, amplification: u64) -> Result<Load, String> {
    Load::new(producers, messages, amplification).ok_or_else(|| {
        format!(
            "{producers} producers x {messages} messages x (1 + {amplification} amplification) are more jobs than can be \
             counted: ask for fewer"
        )
    })
}
