//! One point of a sweep: the options of the load and the number of threads.

use crate::{registry::MOST_THREADS, workload::Load};
use std::fmt::{Arguments, Display};

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
    /// Chains from outside, where `messages` is the experiment's default.
    ///
    /// # Errors
    ///
    /// If the jobs cannot be counted, or there are too many threads.
    pub fn chains(&self, messages: u64) -> Result<Load, String> {
        const HOPS: u64 = 1;
        let (producers, messages, hops) =
            (self.producers()?, self.messages(messages), self.amplification.unwrap_or(HOPS));
        countable(
            producers,
            messages,
            hops,
            format_args!("--producers {producers} x --messages {messages} x (1 + --amplification {hops})"),
        )
    }

    /// Single jobs of one producer, where `jobs` is the experiment's default.
    ///
    /// # Errors
    ///
    /// If options are given that `experiment` does not use.
    pub fn single_jobs(&self, jobs: u64, experiment: &str) -> Result<Load, String> {
        self.no_producers(experiment)?;
        self.no_amplification(experiment)?;
        let jobs = self.messages(jobs);
        countable(1, jobs, 0, format_args!("--jobs {jobs}"))
    }

    /// Single jobs of the producers, where `jobs` for each is the experiment's default.
    ///
    /// # Errors
    ///
    /// If options are given that `experiment` does not use, or threads and producers are too many together.
    pub fn produced_jobs(&self, jobs: u64, experiment: &str) -> Result<Load, String> {
        self.no_amplification(experiment)?;
        let (producers, jobs) = (self.producers()?, self.messages(jobs));
        countable(producers, jobs, 0, format_args!("--producers {producers} x --jobs {jobs}"))
    }

    /// How many producers give jobs at a rate.
    ///
    /// # Errors
    ///
    /// If other options of the load are given, which `experiment` does not use, or threads and producers are too many
    /// together.
    pub fn sources(&self, experiment: &str) -> Result<usize, String> {
        refuse("--messages", self.messages, experiment)?;
        self.no_amplification(experiment)?;
        self.producers()
    }

    /// Refuses all options of the load, because `experiment` does not use them.
    ///
    /// # Errors
    ///
    /// If one is given.
    pub fn unused(&self, experiment: &str) -> Result<(), String> {
        self.no_producers(experiment)?;
        refuse("--messages", self.messages, experiment)?;
        self.no_amplification(experiment)
    }

    /// The first producer is not counted, as there always is one.
    fn producers(&self) -> Result<usize, String> {
        let (threads, producers) = (self.threads, self.producers.unwrap_or(1));
        if threads.saturating_add(producers) > MOST_THREADS + 1 {
            return Err(format!(
                "--threads {threads} and --producers {producers} are more than {MOST_THREADS} threads together (and the first \
                 producer): ask for fewer"
            ));
        }
        Ok(producers)
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
        Some(value) => Err(format!("{option} {value} does not apply to {experiment}: leave it out")),
        None => Ok(()),
    }
}

/// A load, which `told` describes in the options of its experiment.
pub(crate) fn countable(
    producers: usize,
    messages: u64,
    amplification: u64,
    told: Arguments<'_>,
) -> Result<Load, String> {
    Load::new(producers, messages, amplification)
        .ok_or_else(|| format!("{told} are more jobs than can be counted: ask for fewer"))
}
