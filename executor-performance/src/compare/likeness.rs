//! Whether two records can be compared, and which of their runs.

use crate::record::{Record, Run, Settings};
use std::collections::HashSet;

/// Refuses to compare what is unlike: programs, machines, or settings of `runs`.
///
/// # Errors
///
/// A line that says how they differ.
pub fn alike(old: &Record, new: &Record, runs: &[Run]) -> Result<(), String> {
    match differences(old, new, runs) {
        Some(differences) => Err(format!(
            "these records cannot be compared ({differences}): measure again under the same conditions, or use --force"
        )),
        None => Ok(()),
    }
}

/// How programs, machines, or settings of `runs` differ, if they do.
pub(super) fn differences(old: &Record, new: &Record, runs: &[Run]) -> Option<String> {
    let mut differences = old.machine.differences(&new.machine);
    if old.program.build != new.program.build {
        differences.push(format!("build: {} and {}", old.program.build, new.program.build));
    }
    let features = [&old.program.executors_features, &new.program.executors_features];
    // Older records do not have them.
    if features[0] != features[1] && features.iter().all(|features| !features.is_empty()) {
        differences.push(format!("features of executors: {} and {}", features[0].join(" "), features[1].join(" ")));
    }
    for run in runs {
        // Points of a sweep may be missing, but not all of them.
        let mut siblings = runs.iter().filter(|sibling| sibling.experiment == run.experiment);
        if siblings.all(|sibling| counterpart(old, sibling, 0, false).is_none()) {
            let before = old.runs.iter().find(|before| before.experiment == run.experiment);
            differences.extend(before.map(|before| differing(before, run)).unwrap_or_default());
        }
    }
    let mut told = HashSet::new();
    differences.retain(|difference| told.insert(difference.clone()));
    (!differences.is_empty()).then(|| differences.join("; "))
}

/// The counterpart in `record` of each of the `runs`. Runs of an experiment with the same settings may differ in what
/// is no setting, such as their executors, so each has a counterpart of its own: the first of them the first, and so
/// on.
pub(super) fn counterparts<'a>(record: &'a Record, runs: &[&Run], forced: bool) -> Vec<Option<&'a Run>> {
    let nth = |index: usize| {
        let run = runs[index];
        runs[..index].iter().filter(|other| are_like(other, run) && other.settings == run.settings).count()
    };
    runs.iter().enumerate().map(|(index, run)| counterpart(record, run, nth(index), forced)).collect()
}

/// The run of `record` with the same settings as `run`, after `nth` others with these. If there is none, but exactly
/// one of the same experiment, then that one if the comparison is `forced`; but never a run whose samples are of
/// another figure, as in some older records.
fn counterpart<'a>(record: &'a Record, run: &Run, nth: usize, forced: bool) -> Option<&'a Run> {
    let candidates: Vec<&Run> = record.runs.iter().filter(|other| are_like(other, run)).collect();
    let same = candidates.iter().copied().filter(|other| other.settings == run.settings).nth(nth);
    same.or_else(|| candidates.get(nth).copied().filter(|_| forced && candidates.len() == 1))
}

/// Whether they are of one experiment, with samples of one figure.
fn are_like(one: &Run, other: &Run) -> bool {
    one.experiment == other.experiment && sampled(one) == sampled(other)
}

/// Refuses a plan that has nothing in common with `old`. The plan has runs, each with the names of its executors. If
/// the comparison is `forced`, runs with other settings will do.
///
/// # Errors
///
/// A line that says what `old` has.
pub fn overlap(old: &Record, plan: &[(Run, Vec<&str>)], forced: bool) -> Result<(), String> {
    let runs: Vec<&Run> = plan.iter().map(|(run, _)| run).collect();
    let mut planned = counterparts(old, &runs, forced).into_iter().zip(plan);
    if planned.any(|(before, (_, executors))| before.is_some_and(|before| in_both(before, executors))) {
        return Ok(());
    }
    let mut there: Vec<String> = Vec::new();
    for run in &old.runs {
        let executors: Vec<&str> = run.rows.iter().map(|row| row.executor.as_str()).collect();
        let line = format!("{} of {}", run.experiment, executors.join(", "));
        if !there.contains(&line) {
            there.push(line);
        }
    }
    Err(format!(
        "--baseline has nothing of what is to be measured; it has {}: measure one of these, or leave it out",
        if there.is_empty() { "no run at all".to_owned() } else { there.join("; ") }
    ))
}

/// Whether one of the `executors` has a row in `before`.
pub(super) fn in_both<S: AsRef<str>>(before: &Run, executors: &[S]) -> bool {
    executors.iter().any(|name| before.rows.iter().any(|row| row.executor == name.as_ref()))
}

/// The name of the figure that its samples are of.
fn sampled(run: &Run) -> &str {
    run.first_column().map_or("nothing", |column| &column.name)
}

fn differing(before: &Run, after: &Run) -> Vec<String> {
    let (old, new) = (&before.settings, &after.settings);
    let text = |settings: &Settings, name: &str| settings.get(name).map_or("none".to_owned(), ToString::to_string);
    let names = new.keys().filter(|name| old.get(*name) != new.get(*name));
    let of_settings = names.map(|name| format!("{name}: {} and {}", text(old, name), text(new, name)));
    let figures = [sampled(before), sampled(after)];
    let of_figures = (figures[0] != figures[1]).then(|| format!("first figure: {} and {}", figures[0], figures[1]));
    of_figures.into_iter().chain(of_settings).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compare::{Comparison, Terms, mock::TERMS},
        record::{Value, mock::record},
    };

    #[test]
    fn unlike_records_are_compared_only_by_force() {
        let mut other = record();
        other.machine.processor.name = "Another".to_owned();
        other.program.build = "debug".to_owned();
        other.runs.iter_mut().for_each(|run| {
            run.settings.insert("producers".to_owned(), Value::Number(8));
        });
        let complaint = Comparison::of(&record(), &other, &TERMS).expect_err("unlike");
        for part in ["Another", "release and debug", "producers: 2 and 8", "--force"] {
            assert!(complaint.contains(part), "{part} in {complaint}");
        }
        let forced = Comparison::of(&record(), &other, &Terms { force: true, ..TERMS });
        let titles: Vec<String> = forced.expect("forced").runs.into_iter().map(|run| run.title).collect();
        // It is not known which of two runs of throughput it should be compared with.
        assert!(titles.len() == 1 && titles[0].starts_with("latency"), "{titles:?}");
    }

    #[test]
    fn samples_of_different_figures_are_never_compared() {
        let mut older = record();
        older.runs.drain(..2);
        let newer = older.clone();
        older.runs[0].columns.swap(0, 1);
        let complaint = Comparison::of(&older, &newer, &TERMS).expect_err("medians and percentiles");
        assert!(complaint.contains("first figure: ") && complaint.contains(" and "), "{complaint}");
        let complaint = Comparison::of(&older, &newer, &Terms { force: true, ..TERMS }).expect_err("neither by force");
        assert!(complaint.contains("nothing is in both"), "{complaint}");
    }

    #[test]
    fn a_plan_has_something_in_common_with_its_baseline() {
        let record = record();
        let planned = |executor: &'static str| vec![(record.runs[0].clone(), vec![executor])];
        assert_eq!(overlap(&record, &planned("channel"), false), Ok(()));
        let complaint = overlap(&record, &planned("elastic"), false).expect_err("not in it");
        assert!(complaint.contains("latency of channel, workstealing"), "{complaint}");
        let mut other = planned("channel");
        other[0].0.experiment = "idle".to_owned();
        assert!(overlap(&record, &other, true).is_err());
    }

    #[test]
    fn the_second_run_of_some_settings_is_planned_after_the_first() {
        let mut old = record();
        old.runs.truncate(1);
        old.runs.push(old.runs[0].clone());
        old.runs[1].rows.iter_mut().for_each(|row| row.executor = "elastic".to_owned());
        let planned = |executor: &'static str| (old.runs[0].clone(), vec![executor]);
        assert_eq!(overlap(&old, &[planned("burst"), planned("elastic")], false), Ok(()));
        assert!(overlap(&old, &[planned("elastic"), planned("burst")], false).is_err());
    }
}
