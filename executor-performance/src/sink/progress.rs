//! A progress bar on stderr, if that is a terminal.

use crate::sampler::Watcher;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// Shows how much of the budget is spent. Drawn between samples only, never by a thread of its own, so that it does not
/// take part in what it shows.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    rounds: usize,
    precision: String,
}

impl Progress {
    /// A bar as long as `budget`.
    pub fn new(budget: Duration) -> Self {
        let style = ProgressStyle::with_template("[{bar:20}] {pos} of {len} s  {wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ");
        let bar = ProgressBar::new(budget.as_secs_f64().ceil() as u64).with_style(style);
        Progress { bar, rounds: 0, precision: String::new() }
    }

    /// Shows that something goes on which is not sampling.
    pub fn doing(&self, what: &str) {
        self.bar.set_message(what.to_owned());
        self.bar.tick();
    }

    /// Hides the bar while something else is written to the terminal.
    pub fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }

    /// Removes the bar.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watcher for Progress {
    fn sampling(&mut self, executor: &str) {
        self.doing(&format!("round {}: {executor}{}", self.rounds + 1, self.precision));
    }

    fn round_ended(&mut self, elapsed: Duration, error: f64) {
        self.rounds += 1;
        self.bar.set_position(elapsed.as_secs());
        self.precision = if error.is_finite() { format!(", RSE {:.1} %", error * 100.0) } else { String::new() };
    }
}
