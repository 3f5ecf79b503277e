//! A progress bar on stderr, if that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// Shows how much of the budget of all runs is spent. It is drawn only between samples, never by a thread of its own,
/// so that it does not disturb the measurement.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    /// The budget of all runs.
    whole: Duration,
    /// The budget of the runs that have ended.
    before: Duration,
    rounds: usize,
    precision: String,
}

impl Progress {
    /// A bar for the budget of all runs, the `whole`; hidden if it has to be `quiet`.
    pub fn new(whole: Duration, quiet: bool) -> Self {
        Self::on(if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }, whole)
    }

    fn on(target: ProgressDrawTarget, whole: Duration) -> Self {
        let style = ProgressStyle::with_template("[{bar:20}] {prefix}  {wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ");
        let bar = ProgressBar::with_draw_target(Some(whole.as_millis() as u64), target).with_style(style);
        let progress = Progress { bar, whole, before: Duration::ZERO, rounds: 0, precision: String::new() };
        progress.elapsed(Duration::ZERO);
        progress
    }

    /// Shows what is going on.
    pub fn doing(&self, what: &str) {
        self.bar.set_message(what.to_owned());
        self.bar.tick();
    }

    /// A sample of `executor` begins.
    pub fn sampling(&self, executor: &str) {
        self.doing(&format!("round {}: {executor}{}", self.rounds + 1, self.precision));
    }

    /// A round of the current run has ended.
    pub fn round_ended(&mut self, elapsed: Duration, error: f64) {
        self.rounds += 1;
        self.elapsed(elapsed);
        self.precision = if error.is_finite() { format!(", RSE {:.1} %", error * 100.0) } else { String::new() };
    }

    /// The current run, which had the `budget`, has ended.
    pub fn run_ended(&mut self, budget: Duration) {
        self.before = self.before.saturating_add(budget);
        (self.rounds, self.precision) = (0, String::new());
        self.elapsed(Duration::ZERO);
    }

    fn elapsed(&self, elapsed: Duration) {
        let spent = self.before.saturating_add(elapsed).min(self.whole);
        self.bar.set_position(spent.as_millis() as u64);
        self.bar.set_prefix(format!("{:.0} s of budget left", (self.whole - spent).as_secs_f64().ceil()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::InMemoryTerm;

    #[test]
    fn the_bar_says_what_goes_on_and_how_much_budget_is_left() {
        let terminal = InMemoryTerm::new(5, 80);
        let mut seen = String::new();
        let mut look = |what: &str| seen += &format!("{what}:\n{}\n", terminal.contents());
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let mut progress = Progress::on(target, Duration::from_secs(20));
        progress.doing("trying out how long a sample takes");
        look("before the first sample");
        progress.sampling("channel");
        look("the first sample");
        progress.round_ended(Duration::from_millis(2500), f64::NAN);
        progress.sampling("workstealing");
        look("after a round");
        progress.round_ended(Duration::from_secs(7), 0.0234);
        progress.sampling("channel");
        look("when there is a precision");
        progress.aside(|| look("while something else is written"));
        progress.run_ended(Duration::from_secs(10));
        progress.sampling("channel");
        look("the next run");
        progress.round_ended(Duration::from_secs(11), 0.01);
        progress.sampling("channel");
        look("beyond the budget");
        progress.clear();
        look("in the end");
        insta::assert_snapshot!(seen);
    }
}
