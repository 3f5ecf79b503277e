//! Whether two records can be compared, and which of their runs.

use crate::{
    once_each::once_each,
    record::{Record, Row, Run},
    view,
};
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
    let runs: Vec<&Run> = runs.iter().collect();
    let known = known(&runs, &counterparts(old, &runs, false));
    for (before, run) in counterparts(old, &runs, true).into_iter().zip(runs) {
        match before {
            Some(before) => differences.extend(differing_settings(before, run)),
            None if known.contains(&*run.experiment) => {}
            None => differences.extend(differing_figure(old, run)),
        }
    }
    let mut told = HashSet::new();
    differences.retain(|difference| told.insert(difference.clone()));
    (!differences.is_empty()).then(|| differences.join("; "))
}

/// The counterpart in `record` of each of the `runs`: the run with the same settings. Runs of an experiment with the
/// same settings may differ in what is no setting, such as their executors, so each has a counterpart of its own: the
/// first of them the first, and so on.
///
/// If the comparison is `forced`, the runs of an experiment that has none of these settings have the most similar ones
/// of the `record` as their counterparts; but never a run whose samples are of another figure, as in some older
/// records.
pub(super) fn counterparts<'a>(record: &'a Record, runs: &[&Run], forced: bool) -> Vec<Option<&'a Run>> {
    let mut counterparts = vec![None; runs.len()];
    let mut free: Vec<&Run> = record.runs.iter().collect();
    for (run, counterpart) in runs.iter().zip(&mut counterparts) {
        *counterpart = take(&mut free, run, 0);
    }
    if !forced {
        return counterparts;
    }
    let known = known(runs, &counterparts);
    let most_settings = |runs: &mut dyn Iterator<Item = &Run>| runs.map(|run| run.settings.len()).max().unwrap_or(0);
    let most = most_settings(&mut record.runs.iter()) + most_settings(&mut runs.iter().copied());
    // The most similar of all pairs come first, so that no run takes the counterpart of one that is more like it.
    for differing in 1..=most {
        let without = runs.iter().zip(&mut counterparts).filter(|(_, counterpart)| counterpart.is_none());
        for (run, counterpart) in without.filter(|(run, _)| !known.contains(&*run.experiment)) {
            *counterpart = take(&mut free, run, differing);
        }
    }
    counterparts
}

/// The first of the `free` runs that is like `run` but for as many settings as `differing` says. It is free no more.
fn take<'a>(free: &mut Vec<&'a Run>, run: &Run, differing: usize) -> Option<&'a Run> {
    let is_it = |other: &&Run| are_like(other, run) && names_of_differing(other, run).count() == differing;
    free.iter().position(is_it).map(|index| free.remove(index))
}

/// The experiments of those `runs` that have a counterpart. Their other runs are points of a sweep, of which some may
/// be missing, but not all.
fn known<'a>(runs: &[&'a Run], counterparts: &[Option<&Run>]) -> HashSet<&'a str> {
    let with = runs.iter().zip(counterparts).filter(|(_, counterpart)| counterpart.is_some());
    with.map(|(run, _)| &*run.experiment).collect()
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
    if planned.any(|(before, (_, executors))| before.is_some_and(|before| has_figures_of(before, executors))) {
        return Ok(());
    }
    Err(match contents(old) {
        None => {
            "--baseline has no figures, as all that it measured failed: name another file, or leave it out".to_owned()
        }
        Some(there) => format!(
            "--baseline has no figures of what is to be measured, but of {there}: measure one of these, or leave it out"
        ),
    })
}

/// The experiments and executors of which `record` has figures, if there are any.
pub(super) fn contents(record: &Record) -> Option<String> {
    let line = |run: &Run| {
        let executors: Vec<&str> = with_figures(run).map(|row| row.executor.as_str()).collect();
        (!executors.is_empty()).then(|| format!("{} of {}", view::experiment(run), executors.join(", ")))
    };
    let there = once_each(record.runs.iter().filter_map(line));
    (!there.is_empty()).then(|| there.join("; "))
}

/// Whether one of the `executors` has figures in `before`: a row that failed can be compared with nothing.
fn has_figures_of(before: &Run, executors: &[&str]) -> bool {
    with_figures(before).any(|row| executors.contains(&row.executor.as_str()))
}

fn with_figures(run: &Run) -> impl Iterator<Item = &Row> {
    run.rows.iter().filter(|row| row.is_ok())
}

/// Whether an executor has a row in both.
pub(super) fn in_both(before: &Run, run: &Run) -> bool {
    run.rows.iter().any(|row| before.rows.iter().any(|old| old.executor == row.executor))
}

/// The name of the figure that its samples are of.
fn sampled(run: &Run) -> &str {
    run.first_column().map_or("nothing", |column| &column.name)
}

/// The names of the settings that differ, or that only one of them has.
fn names_of_differing<'a>(before: &'a Run, after: &'a Run) -> impl Iterator<Item = &'a String> {
    let (old, new) = (&before.settings, &after.settings);
    let gone = old.keys().filter(|name| !new.contains_key(*name));
    new.keys().filter(|name| old.get(*name) != new.get(*name)).chain(gone)
}

fn differing_settings(before: &Run, after: &Run) -> Vec<String> {
    let text = |run: &Run, name: &str| run.settings.get(name).map_or("none".to_owned(), ToString::to_string);
    let names = names_of_differing(before, after);
    names.map(|name| format!("{name}: {} and {}", text(before, name), text(after, name))).collect()
}

/// How the figure of the samples differs, if no run of the experiment in `old` has that of `run`.
fn differing_figure(old: &Record, run: &Run) -> Option<String> {
    let mut same = old.runs.iter().filter(|before| before.experiment == run.experiment).peekable();
    let before = *same.peek()?;
    same.all(|before| sampled(before) != sampled(run))
        .then(|| format!("first figure: {} and {}", sampled(before), sampled(run)))
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
        assert_eq!(titles.len(), record().runs.len(), "{titles:?}");
    }

    #[test]
    fn runs_are_compared_by_force_with_the_most_similar_ones() {
        let setting =
            |run: &mut Run, name: &str, number| _ = run.settings.insert(name.to_owned(), Value::Number(number));
        let old = record();
        let mut new = record();
        new.runs.swap(0, 1);
        new.runs.truncate(2);
        new.runs.iter_mut().for_each(|run| setting(run, "producers", 8));
        let complaint = alike(&old, &new, &new.runs).expect_err("other producers");
        assert!(complaint.contains("(producers: 2 and 8)"), "what does not differ is not told: {complaint}");
        let runs: Vec<&Run> = new.runs.iter().collect();
        assert_eq!(counterparts(&old, &runs, false), [None, None]);
        assert_eq!(counterparts(&old, &runs, true), [Some(&old.runs[1]), Some(&old.runs[0])]);

        // Although it comes first, a run does not take the counterpart of one that is more like it.
        setting(&mut new.runs[0], "threads", 4);
        let runs: Vec<&Run> = new.runs.iter().collect();
        assert_eq!(counterparts(&old, &runs, true), [Some(&old.runs[1]), Some(&old.runs[0])]);

        // Where other points of the sweep are in both records, a point is missing and not a setting different.
        new.runs[1] = old.runs[0].clone();
        let runs: Vec<&Run> = new.runs.iter().collect();
        assert_eq!(counterparts(&old, &runs, true), [None, Some(&old.runs[0])]);
        assert_eq!(alike(&old, &new, &new.runs), Ok(()));
    }

    #[test]
    fn a_setting_that_only_one_record_has_is_a_difference() {
        let (mut with, without) = (record(), record());
        with.runs.iter_mut().for_each(|run| _ = run.settings.insert("pre_units".to_owned(), Value::Number(5)));
        for (old, new, part) in [(&with, &without, "pre_units: 5 and none"), (&without, &with, "pre_units: none and 5")]
        {
            let complaint = Comparison::of(old, new, &TERMS).expect_err("another setting");
            assert!(complaint.contains(part), "{complaint}");
        }
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
        let mut open = record.clone();
        open.runs.iter_mut().for_each(|run| run.experiment = "open-latency".to_owned());
        let complaint = overlap(&open, &planned("channel"), true).expect_err("not in it");
        assert!(complaint.contains("latency --rate of channel, workstealing"), "{complaint}");
        let mut other = planned("channel");
        other[0].0.experiment = "idle".to_owned();
        assert!(overlap(&record, &other, true).is_err());
    }

    #[test]
    fn what_failed_in_a_baseline_is_nothing_to_compare_with() {
        let mut old = record();
        let planned = vec![(old.runs[0].clone(), vec!["channel"])];
        old.runs[0].rows[0].error = Some("stalled".to_owned());
        let complaint = overlap(&old, &planned, false).expect_err("it failed there");
        assert!(complaint.contains("but of throughput of workstealing; "), "{complaint}");
        old.runs.iter_mut().flat_map(|run| &mut run.rows).for_each(|row| row.error = Some("stalled".to_owned()));
        let complaint = overlap(&old, &planned, false).expect_err("all failed there");
        assert!(complaint.contains("all that it measured failed: name another file"), "{complaint}");
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
