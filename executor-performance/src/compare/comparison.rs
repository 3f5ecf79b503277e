//! The comparison of two records, run by run.

use super::{
    Change, Terms, Verdict, alike,
    likeness::{contents, counterparts, differences, in_both},
    named,
    pair::Pair,
    warnings::{doubts, unlikeness},
};
use crate::{
    once_each::once_each,
    record::{Record, Run},
    stats::Level,
    view,
};
use std::ptr;

/// What has changed, run by run.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The program that measured before, and when.
    pub old: String,
    /// The program that measured now, and when.
    pub new: String,
    /// The runs that are in both records, each with at least one change.
    pub runs: Vec<ComparedRun>,
    /// What makes the figures of either record doubtful, and how the two records are unlike.
    pub warnings: Vec<String>,
    /// What could not be compared.
    pub left_out: Vec<String>,
    /// Differences up to this do not count as real, as a fraction.
    pub threshold: f64,
}

/// A run that is in both records.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRun {
    /// The experiment, its first figure, its settings.
    pub title: String,
    /// How each executor that is in both has changed.
    pub changes: Vec<Change>,
}

impl Comparison {
    /// Compares `new` with `old`.
    ///
    /// # Errors
    ///
    /// If they are too unlike: a line that says how they differ.
    pub fn of(old: &Record, new: &Record, terms: &Terms) -> Result<Self, String> {
        let forced = if terms.force {
            let differences = differences(old, new, &new.runs);
            differences.map(|differences| {
                format!("Warning: compared by --force, although the records differ ({differences}).")
            })
        } else {
            alike(old, new, &new.runs)?;
            None
        };
        let mut left_out = Vec::new();
        let matched = matched_runs(old, new, terms.force, &mut left_out)?;
        let paired: Vec<(&Run, Vec<Pair<'_>>)> =
            matched.iter().map(|(before, run)| (*run, pairs(before, run, &mut left_out))).collect();
        let compared = paired.iter().flat_map(|(_, pairs)| pairs).filter(|pair| pair.levels.is_some()).count();
        let mut runs = Vec::new();
        for (run, pairs) in paired {
            let changes = pairs.iter().map(|pair| pair.change(run, compared, terms.threshold));
            let changes: Vec<Change> = changes.filter_map(|change| noted(change, &mut left_out)).collect();
            if !changes.is_empty() {
                runs.push(ComparedRun { title: title(run), changes });
            }
        }
        left_out.sort();
        left_out.dedup();
        let warnings = [doubts(old, new), forced.into_iter().collect(), unlikeness(old, new, &matched)].concat();
        Ok(Comparison { old: origin(old), new: origin(new), runs, warnings, left_out, threshold: terms.threshold })
    }

    /// What is worse than before, if that counts as a failure by the `terms`.
    ///
    /// # Errors
    ///
    /// If it would count, but nothing could be compared: a line that says why.
    pub fn judged(&self, terms: &Terms) -> Result<Vec<String>, String> {
        match terms.fail_on_regression {
            false => Ok(Vec::new()),
            true if self.runs.is_empty() => Err(format!(
                "nothing can be compared ({}): measure again, or leave out --fail-on-regression",
                self.left_out.join("; ")
            )),
            true => Ok(self.regressions()),
        }
    }

    /// What is worse than before: a line for each kind of regression, with its executors.
    pub fn regressions(&self) -> Vec<String> {
        let worse = [("slower than before", Verdict::Slower), ("fails, and did not before", Verdict::Failed)];
        let executors = worse.map(|(what, verdict)| (what, self.with(verdict)));
        let some = executors.iter().filter(|(_, executors)| !executors.is_empty());
        some.map(|(what, executors)| format!("{what}: {}", executors.join(", "))).collect()
    }

    /// The executors that have this verdict in some run.
    fn with(&self, verdict: Verdict) -> Vec<&str> {
        once_each(self.changes().filter(|change| change.verdict == verdict).map(|change| change.executor.as_str()))
    }

    /// How all executors have changed in all runs.
    pub(super) fn changes(&self) -> impl Iterator<Item = &Change> {
        self.runs.iter().flat_map(|run| &run.changes)
    }

    /// Remarks on the tables: warnings, what was left out, and explanations.
    pub fn remarks(&self) -> Vec<String> {
        let all = || self.changes().filter(|change| change.cost.is_some());
        let left_out = self.left_out.iter().map(|line| format!("Left out: {line}."));
        let mut remarks: Vec<String> = self.warnings.iter().cloned().chain(left_out).collect();
        let intervals = match all().count() {
            0 => return remarks,
            1 => "the interval is".to_owned(),
            many => format!("all {many} intervals together are"),
        };
        remarks.push(format!(
            "Cost is how many times as much it costs now. The noise is the standard deviation of processes. A change is real if its \
             whole interval is beyond the threshold of {} %; {intervals} right with a probability of 95 %, if nothing else was \
             different when the two were measured.",
            view::percent(self.threshold),
        ));
        remarks.push(
            "Medians are those of all samples, and the cost is a mean over processes, so it may differ from their ratio."
                .to_owned(),
        );
        if all().any(|change| change.verdict == Verdict::Unsure) {
            remarks.push(
                "Unsure is what may be due to noise: raise --processes and --budget of both, or make the machine quiet."
                    .to_owned(),
            );
        }
        if all().any(|change| change.noise.is_none()) {
            remarks.push(format!(
                "(?) There was only one process, so its noise is not known: {:.0} % was presumed. Measure both with --processes 5 or more.",
                Level::presumed_noise() * 100.0
            ));
        }
        remarks
    }
}

/// The runs of `new` that are also in `old`: pairs of the old run and the new one. Runs that are in only one of the
/// records are added to `left_out`.
///
/// # Errors
///
/// If no executor is in both: a line that says so.
fn matched_runs<'a>(
    old: &'a Record,
    new: &'a Record,
    force: bool,
    left_out: &mut Vec<String>,
) -> Result<Vec<(&'a Run, &'a Run)>, String> {
    let mut matched = Vec::new();
    let runs: Vec<&Run> = new.runs.iter().collect();
    for (before, run) in counterparts(old, &runs, force).into_iter().zip(runs) {
        match before {
            Some(before) => matched.push((before, run)),
            None => left_out.push(format!("{}, which is not in the baseline", title(run))),
        }
    }
    let gone = old.runs.iter().filter(|before| matched.iter().all(|(it, _)| !ptr::eq(*it, *before)));
    left_out.extend(gone.map(|before| format!("{}, which is in the baseline only", title(before))));
    if matched.iter().any(|(before, run)| in_both(before, run)) {
        Ok(matched)
    } else {
        let told = |record| contents(record).map_or("no figures".to_owned(), |there| format!("figures of {there}"));
        Err(format!(
            "nothing is in both records: the old one has {}, and the new one {}: measure again what is in one of them",
            told(old),
            told(new)
        ))
    }
}

/// The executors of `run`, each with its row in `before`. Those that are in only one of the two are added to
/// `left_out`.
fn pairs<'a>(before: &'a Run, run: &'a Run, left_out: &mut Vec<String>) -> Vec<Pair<'a>> {
    let gone = before.rows.iter().filter(|old| run.rows.iter().all(|row| row.executor != old.executor));
    left_out.extend(gone.map(|old| format!("{} is only in the baseline of {}", old.executor, named(run))));
    let rows = run.rows.iter().map(|row| (before.rows.iter().find(|old| old.executor == row.executor), row));
    rows.filter_map(|(old, row)| noted(Pair::of(old, row, run), left_out)).collect()
}

/// What was found. If nothing was, the reason is added to `left_out`.
fn noted<T>(found: Result<T, String>, left_out: &mut Vec<String>) -> Option<T> {
    found.map_err(|why| left_out.push(why)).ok()
}

/// The program that measured, and when.
fn origin(record: &Record) -> String {
    let program = &record.program;
    let mut parts = vec![format!("executor-performance {}, {} build", program.version, program.build)];
    parts.extend((!program.git.is_empty()).then(|| format!("git {}", program.git)));
    parts.extend(record.runs.first().map(|run| run.began_utc.clone()));
    parts.join(", ")
}

fn title(run: &Run) -> String {
    let figure = run.first_column().map(|column| format!(", {}, {}", column.title, column.unit)).unwrap_or_default();
    format!("{}{figure}; {}", view::experiment(run), view::settings(run))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compare::mock::{TERMS, faster, of_processes, verdicts},
        failure::Failure,
        record::{Row, Samples, mock::record},
    };
    use std::{io, time::Duration};

    #[test]
    fn a_record_is_as_fast_as_itself() {
        let comparison = Comparison::of(&of_processes(), &of_processes(), &TERMS).expect("alike");
        assert_eq!(verdicts(&comparison), [Verdict::Same; 6]);
        assert!(comparison.regressions().is_empty(), "{comparison:?}");
        assert!(comparison.left_out.iter().all(|line| line.contains("broken")), "{comparison:?}");
    }

    #[test]
    fn what_is_compared_by_force_says_what_is_unlike() {
        let (terms, mut other) = (Terms { force: true, ..TERMS }, record());
        let warned = |new: &Record| {
            let comparison = Comparison::of(&record(), new, &terms).expect("forced");
            comparison.warnings.into_iter().find(|warning| warning.contains("--force"))
        };
        assert_eq!(warned(&other), None);
        other.program.build = "debug".to_owned();
        assert!(warned(&other).is_some_and(|warning| warning.contains("build: release and debug")));
    }

    #[test]
    fn one_process_is_not_enough_to_be_sure() {
        let comparison = Comparison::of(&record(), &record(), &TERMS).expect("alike");
        assert_eq!(verdicts(&comparison), [Verdict::Unsure; 6]);
        assert!(comparison.remarks().iter().any(|line| line.contains("--processes")), "{comparison:?}");
    }

    #[test]
    fn what_is_slower_is_a_regression() {
        let comparison = Comparison::of(&of_processes(), &faster(0.7), &TERMS).expect("alike");
        assert_eq!(verdicts(&comparison)[..2], [Verdict::Same, Verdict::Slower]);
        assert_eq!(comparison.regressions(), ["slower than before: workstealing"]);
        let comparison = Comparison::of(&of_processes(), &faster(1.5), &TERMS).expect("alike");
        assert_eq!(verdicts(&comparison)[..2], [Verdict::Same, Verdict::Faster]);
        assert!(comparison.regressions().is_empty(), "{comparison:?}");
    }

    #[test]
    fn an_executor_that_fails_now_is_a_regression() {
        let (sound, mut broken) = (of_processes(), of_processes());
        let name = broken.runs[0].rows[1].executor.clone();
        broken.runs[0].rows[1] = Row::new(&name, Err("crashed".to_owned()), Samples::default(), None);
        let comparison = Comparison::of(&sound, &broken, &TERMS).expect("alike");
        assert_eq!(verdicts(&comparison)[..2], [Verdict::Same, Verdict::Failed]);
        assert_eq!(comparison.regressions(), [format!("fails, and did not before: {name}")]);
        // An executor that works now and did not before is no regression, and neither is one that was not measured to
        // the end.
        let comparison = Comparison::of(&broken, &sound, &TERMS).expect("alike");
        assert!(comparison.regressions().is_empty(), "{comparison:?}");
        let too_large = Failure::TooLarge { option: "--fib", patience: Duration::from_secs(1) };
        for excuse in [Failure::Interrupted, Failure::Producer(io::Error::other("no memory")), too_large] {
            broken.runs[0].rows[1].error = Some(excuse.to_string());
            let comparison = Comparison::of(&sound, &broken, &TERMS).expect("alike");
            assert!(comparison.regressions().is_empty(), "{comparison:?}");
            assert!(comparison.left_out.iter().any(|line| line.contains(&name)), "{comparison:?}");
        }
    }

    /// They may differ in what is no setting, such as the executors.
    #[test]
    fn runs_with_the_same_settings_are_compared_in_their_order() {
        let twice = |last: f64| {
            let mut record = faster(1.0);
            record.runs.truncate(1);
            record.runs.extend(faster(last).runs.into_iter().take(1));
            record.runs[0].rows.truncate(1);
            record.runs[1].rows.remove(0);
            record
        };
        let slower = &twice(0.5).runs[1].rows[0].executor;
        let comparison = Comparison::of(&twice(1.0), &twice(0.5), &TERMS).expect("alike");
        assert_eq!(comparison.regressions(), [format!("slower than before: {slower}")]);
        assert!(comparison.left_out.iter().all(|line| !line.contains("baseline")), "{comparison:?}");

        // The same executors once more have nothing to be compared with, not even by force.
        let (mut once, mut again) = (of_processes(), of_processes());
        once.runs.truncate(1);
        again.runs = [&once.runs[..], &once.runs[..]].concat();
        for force in [false, true] {
            let comparison = Comparison::of(&once, &again, &Terms { force, ..TERMS }).expect("alike");
            assert_eq!(comparison.runs.len(), 1, "{comparison:?}");
            assert!(comparison.left_out.iter().any(|line| line.contains("not in the baseline")), "{comparison:?}");
        }
    }

    #[test]
    fn what_costs_nothing_is_left_out_with_the_reason() {
        let mut idle = of_processes();
        idle.runs.drain(..2);
        for row in &mut idle.runs[0].rows {
            row.samples.values.iter_mut().for_each(|value| *value = 0.0);
        }
        let comparison = Comparison::of(&idle, &idle, &TERMS).expect("alike");
        assert!(verdicts(&comparison).is_empty() && comparison.regressions().is_empty(), "{comparison:?}");
        assert_eq!(comparison.left_out.len(), 2, "{comparison:?}");
        assert!(comparison.left_out.iter().all(|line| line.contains("a cost is 0")), "{comparison:?}");
    }

    #[test]
    fn where_nothing_was_compared_there_is_no_judgement() {
        let mut broken = of_processes();
        for row in broken.runs.iter_mut().flat_map(|run| &mut run.rows) {
            *row = Row::new(&row.executor, Err("stalled".to_owned()), Samples::default(), None);
        }
        let comparison = Comparison::of(&broken, &of_processes(), &TERMS).expect("alike");
        let complaint = comparison.judged(&TERMS).expect_err("all have failed");
        for part in [
            "nothing can be compared (",
            "channel cannot be compared in throughput with threads 1, producers 2: stalled; ",
        ] {
            assert!(complaint.contains(part), "{part} in {complaint}");
        }
        assert_eq!(comparison.judged(&Terms { fail_on_regression: false, ..TERMS }), Ok(Vec::new()));

        // That all fail now is a judgement.
        let comparison = Comparison::of(&of_processes(), &broken, &TERMS).expect("alike");
        assert_eq!(comparison.judged(&TERMS).map(|regressions| regressions.len()), Ok(1));
    }

    #[test]
    fn one_sample_that_costs_nothing_gives_no_ratio() {
        let mut other = of_processes();
        other.runs.drain(..2);
        let old = other.clone();
        other.runs[0].rows[0].samples.values[0] = 0.0;
        let comparison = Comparison::of(&old, &other, &TERMS).expect("alike");
        assert_eq!(verdicts(&comparison), [Verdict::Same], "{comparison:?}");
        assert!(comparison.left_out.iter().any(|line| line.contains("a cost is 0")), "{comparison:?}");
    }

    #[test]
    fn what_is_in_one_record_only_is_told() {
        let mut fewer = record();
        fewer.runs.remove(0);
        fewer.runs[0].rows.remove(0);
        let comparison = Comparison::of(&fewer, &record(), &TERMS).expect("points of a sweep may be missing");
        assert!(comparison.left_out.iter().any(|line| line.contains("threads 1")), "{comparison:?}");
        assert!(
            comparison.left_out.iter().any(|line| line.contains("channel is not in the baseline")),
            "{comparison:?}"
        );
        let comparison = Comparison::of(&record(), &fewer, &TERMS).expect("points of a sweep may be missing");
        for part in [
            "threads 1, producers 2, which is in the baseline only",
            "channel is only in the baseline of throughput with threads 2, producers 2",
        ] {
            assert!(comparison.left_out.iter().any(|line| line.contains(part)), "{part} in {comparison:?}");
        }
        fewer.runs.clear();
        let complaint = Comparison::of(&fewer, &record(), &TERMS).expect_err("nothing");
        for part in ["nothing is in both", "the old one has no figures", "the new one figures of throughput of channel"]
        {
            assert!(complaint.contains(part), "{part} in {complaint}");
        }
    }
}
