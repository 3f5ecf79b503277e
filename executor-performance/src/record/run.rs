use super::{Column, Row, Settings, Value};
use crate::{advice::Need, experiment::Experiment, machine::Surroundings, workload::CHAINS_COUNTED_DOWN};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    time::{Duration, SystemTime},
};

/// One experiment with one choice of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The experiment's name.
    pub experiment: String,
    /// When it began: date and time of day in UTC, as in RFC 3339.
    pub began_utc: String,
    /// How long it took.
    pub seconds: f64,
    /// Settings that were asked for.
    pub settings: Settings,
    /// Settings that were chosen to fit into the budget.
    pub fitted: Settings,
    /// All settings, for people: titles and lines.
    pub description: Vec<(String, String)>,
    /// Kinds of figures. The first is that by which executors are compared.
    pub columns: Vec<Column>,
    /// Whether, with twice as many threads, the first figure should be twice as good.
    pub scales: bool,
    /// What else went on meanwhile.
    pub surroundings: Surroundings,
    /// What makes the figures doubtful.
    pub warnings: Vec<String>,
    /// Why it ended. Missing if it goes on, or has ended abruptly.
    pub stop: Option<Stop>,
    /// What was measured of each executor, in the order in which they were asked for.
    pub rows: Vec<Row>,
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// In a word.
    pub reason: Reason,
    /// In a sentence.
    pub remark: String,
}

/// Why a run ended, in the word that records have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The samples are precise enough.
    Precise,
    /// The samples are, but processes differ, and there was no time for more of them.
    Processes,
    /// The time was up.
    Budget,
    /// There were as many samples as allowed.
    Enough,
    /// No executor was left.
    NothingLeft,
    /// It was interrupted.
    Interrupted,
    /// A word of a later version.
    #[serde(untagged)]
    Other(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The setting that all runs of a recommendation have, and no others: how long each job takes.
const JOB_TIME: &str = "job_time_ns";

/// The setting that says what the executor that is to be recommended has to be able to do.
const NEEDS: &str = "needs";

/// The title of the line that says what a run of a recommendation is of: a name, and after a colon what that is.
const WORKLOAD: &str = "workload";

/// The time, as records have it.
pub(crate) fn utc_now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

impl Run {
    /// A run of `experiment` that begins now.
    pub fn beginning<X: Experiment>(experiment: &X) -> Self {
        let settings = experiment.settings();
        let named = |fitted| {
            let settings = settings.iter().filter(|setting| setting.fitted == fitted);
            settings.map(|setting| (setting.column.to_owned(), setting.value.clone())).collect()
        };
        Run {
            experiment: experiment.name().to_owned(),
            began_utc: utc_now(),
            seconds: 0.0,
            settings: named(false),
            fitted: named(true),
            description: experiment.description().into_iter().map(|(title, line)| (title.to_owned(), line)).collect(),
            columns: experiment.metrics().iter().map(Column::from).collect(),
            scales: experiment.scales(),
            surroundings: Surroundings::default(),
            warnings: Vec::new(),
            stop: None,
            rows: Vec::new(),
        }
    }

    /// The number that the setting called `name` has.
    pub fn number(&self, name: &str) -> Option<u64> {
        number(&self.settings, name)
    }

    /// The number that was chosen for the setting called `name`.
    pub(crate) fn fitted_number(&self, name: &str) -> Option<u64> {
        number(&self.fitted, name)
    }

    /// How many chains a sample has, or each burst of it; a task of `futures` is one. None if it has none, or always
    /// the same number.
    pub(crate) fn chains(&self) -> Option<u64> {
        if let Some(operations) = self.fitted_number("operations_per_sample") {
            // Tasks that yield are always few. One task more spawns the others.
            let yields = self.settings.get("workload") == Some(&Value::Text("yield".to_owned()));
            return (!yields).then_some(operations.saturating_add(1));
        }
        let (jobs, hops) = match self.fitted_number("jobs_per_sample") {
            Some(jobs) => {
                let hops = ["sampled_amplification", "sampled_hops_per_chain"];
                (jobs, hops.iter().find_map(|name| self.fitted_number(name)))
            }
            // Nothing is left out of a burst.
            None => (self.number("jobs_per_burst")?, self.number("amplification")),
        };
        Some(jobs / hops.unwrap_or(0).saturating_add(1))
    }

    /// Whether the end of each chain is counted, which takes time of short jobs. None as for [`chains`](Self::chains).
    pub(crate) fn counts_chains(&self) -> Option<bool> {
        self.chains().map(|chains| chains < CHAINS_COUNTED_DOWN)
    }

    /// The same as a run of a recommendation: of that `workload`, with jobs that take `job_time`, to find an executor
    /// that meets all `needs`.
    #[must_use]
    pub(crate) fn for_recommendation(mut self, workload: &str, job_time: Duration, needs: &[Need]) -> Self {
        self.description.insert(0, (WORKLOAD.to_owned(), workload.to_owned()));
        self.settings.insert(JOB_TIME.to_owned(), Value::Number(job_time.as_nanos() as u64));
        // How much work takes that long is measured anew each time, and is not what was asked for.
        for units in ["pre_units", "post_units"] {
            let fitted = self.settings.shift_remove_entry(units);
            self.fitted.extend(fitted);
        }
        if !needs.is_empty() {
            let names: Vec<&str> = needs.iter().map(|need| need.name()).collect();
            self.settings.insert(NEEDS.to_owned(), Value::Text(names.join(",")));
        }
        self
    }

    /// Whether it is of a recommendation.
    pub(crate) fn is_for_recommendation(&self) -> bool {
        self.number(JOB_TIME).is_some()
    }

    /// The name of the workload that it is of, if it is of a recommendation.
    pub(crate) fn recommended_for(&self) -> Option<&str> {
        let mut lines = self.description.iter().filter(|_| self.is_for_recommendation());
        let (_, workload) = lines.find(|(title, _)| title == WORKLOAD)?;
        workload.split(':').next()
    }

    /// What the executor that is to be recommended has to be able to do.
    pub(crate) fn needs(&self) -> Vec<Need> {
        match self.settings.get(NEEDS) {
            Some(Value::Text(names)) => names.split(',').filter_map(|name| Need::from_str(name, false).ok()).collect(),
            _ => Vec::new(),
        }
    }

    /// The column by which executors are compared.
    pub fn first_column(&self) -> Option<&Column> {
        self.columns.first()
    }

    /// The column of the CPU time that goes with the first figure, unless the first figure is the CPU time.
    pub fn cpu_column(&self) -> Option<&Column> {
        self.columns.iter().skip(1).find(|column| column.name.starts_with("cpu_"))
    }
}

fn number(settings: &Settings, name: &str) -> Option<u64> {
    match settings.get(name) {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::mock::record;

    #[test]
    fn a_reason_is_the_same_word_in_records_and_in_rows() {
        let known = ["precise", "processes", "budget", "enough", "nothing-left", "interrupted"];
        for word in known.into_iter().chain(["bored"]) {
            let text = format!("\"{word}\"");
            let reason: Reason = serde_json::from_str(&text).expect(word);
            assert_eq!(matches!(reason, Reason::Other(_)), !known.contains(&word), "{reason:?}");
            assert_eq!((serde_json::to_string(&reason).expect(word), reason.to_string()), (text, word.to_owned()));
        }
    }

    #[test]
    fn the_chains_of_a_burst_are_known_though_nothing_is_left_out_of_it() {
        let mut run = record().runs.remove(2);
        run.fitted.clear();
        let counts = [(20_000, 1, Some(false)), (20_000, 3, Some(true)), (0, u64::MAX, Some(true))];
        for (jobs, amplification, counted) in counts {
            run.settings.insert("jobs_per_burst".to_owned(), Value::Number(jobs));
            run.settings.insert("amplification".to_owned(), Value::Number(amplification));
            assert_eq!(run.counts_chains(), counted, "{jobs} jobs");
        }
        run.settings.shift_remove("jobs_per_burst");
        assert_eq!(run.counts_chains(), None);
    }
}
