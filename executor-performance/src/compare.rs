//! Two records, side by side: what has become slower?

mod change;

pub use self::change::{Change, Verdict};

use crate::{
    failure::Failure,
    record::{Record, Row, Run, Settings},
    session::Outcome,
    sink::{Terminal, error},
    stats::{Level, Ratio, Summary},
    view::{self, Column, Table},
};
use std::{collections::HashSet, io, ptr};

/// What counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    /// Differences up to this are not real, as a fraction.
    pub threshold: f64,
    /// Whether it is a failure if something has become slower.
    pub fail_on_regression: bool,
    /// Whether unlike things are compared, too.
    pub force: bool,
}

/// What has changed, run by run.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What measured before, and when.
    pub old: String,
    /// What measured now, and when.
    pub new: String,
    /// What is compared: the experiment, its first figure, its settings. And of each executor that is in both: the
    /// change.
    pub runs: Vec<(String, Vec<Change>)>,
    /// What could not be compared.
    pub left_out: Vec<String>,
    /// Differences up to this are not real, as a fraction.
    pub threshold: f64,
}

/// An executor in both records, before it is compared.
struct Pair<'a> {
    old: &'a Row,
    new: &'a Row,
    /// What it costs. None if it fails now, and did not before.
    levels: Option<(Level, Level)>,
}

impl Comparison {
    /// Of what `new` has with what `old` has.
    ///
    /// # Errors
    ///
    /// If they are too unlike: a line that says in what.
    pub fn of(old: &Record, new: &Record, terms: &Terms) -> Result<Self, String> {
        if !terms.force {
            alike(old, new, &new.runs)?;
        }
        let (mut runs, mut left_out, mut matched) = (Vec::new(), Vec::new(), Vec::new());
        for run in &new.runs {
            let Some(before) = counterpart(old, run, terms.force) else {
                left_out.push(format!("{}, which is not in the baseline", title(run)));
                continue;
            };
            let gone = before.rows.iter().filter(|old| run.rows.iter().all(|row| row.executor != old.executor));
            left_out.extend(gone.map(|old| format!("{} is in the baseline of {} only", old.executor, run.experiment)));
            matched.push((before, run));
            let rows = run.rows.iter().map(|row| (before.rows.iter().find(|old| old.executor == row.executor), row));
            let pairs: Vec<Pair<'_>> =
                rows.filter_map(|(old, row)| pair(old, row, run).map_err(|why| left_out.push(why)).ok()).collect();
            runs.push((run, pairs));
        }
        let gone = old.runs.iter().filter(|before| matched.iter().all(|(it, _)| !ptr::eq(*it, *before)));
        left_out.extend(gone.map(|before| format!("{}, which is in the baseline only", title(before))));
        let executors = |run: &Run| run.rows.iter().map(|row| row.executor.clone()).collect::<Vec<_>>();
        if !matched.iter().any(|(before, run)| in_both(before, &executors(run))) {
            return Err("nothing is in both records: nothing can be compared".to_owned());
        }
        let many = runs.iter().flat_map(|(_, pairs)| pairs).filter(|pair| pair.levels.is_some()).count();
        let changes = |(run, pairs): (&Run, Vec<Pair<'_>>)| {
            let changes = pairs.iter().map(|pair| change(pair, run, many, terms.threshold));
            let changes = changes.filter_map(|change| change.map_err(|why| left_out.push(why)).ok()).collect();
            (title(run), changes)
        };
        let mut runs: Vec<(String, Vec<Change>)> = runs.into_iter().map(changes).collect();
        runs.retain(|(_, changes)| !changes.is_empty());
        left_out.sort();
        left_out.dedup();
        Ok(Comparison { old: origin(old), new: origin(new), runs, left_out, threshold: terms.threshold })
    }

    /// Prints it, and says whether that is good.
    pub fn show(&self, terms: &Terms) -> Outcome {
        let mut terminal = Terminal::new(anstream::stdout(), false);
        match self.print(&mut terminal) {
            Ok(()) => self.outcome(terms),
            Err(why) => {
                error(&format!("the comparison could not be written: {why}"));
                Outcome::Failed
            }
        }
    }

    /// Whether that is good. If it is not, that is told.
    pub fn outcome(&self, terms: &Terms) -> Outcome {
        let (slower, failed) = (self.with(Verdict::Slower), self.with(Verdict::Failed));
        if !terms.fail_on_regression || (slower.is_empty() && failed.is_empty()) {
            return Outcome::Done;
        }
        for (what, executors) in [("slower than before", slower), ("fails, and did not before", failed)] {
            if !executors.is_empty() {
                error(&format!("{what}: {}", executors.join(", ")));
            }
        }
        Outcome::Regressed
    }

    /// The executors that have this verdict in some run.
    fn with(&self, verdict: Verdict) -> Vec<&str> {
        let mut executors: Vec<&str> = Vec::new();
        for change in self.runs.iter().flat_map(|(_, changes)| changes) {
            if change.verdict == verdict && !executors.contains(&change.executor.as_str()) {
                executors.push(&change.executor);
            }
        }
        executors
    }

    fn print<W: io::Write>(&self, terminal: &mut Terminal<W>) -> io::Result<()> {
        for (title, changes) in &self.runs {
            terminal.remark(&format!("compared: {title}"))?;
            terminal.write("\n")?;
            terminal.table(&table(changes))?;
        }
        self.remarks().iter().try_for_each(|line| terminal.remark(line))
    }

    /// What is to be known about the tables.
    pub fn remarks(&self) -> Vec<String> {
        let all = || self.runs.iter().flat_map(|(_, changes)| changes).filter(|change| change.cost.is_some());
        let mut remarks: Vec<String> = self.left_out.iter().map(|line| format!("Left out: {line}.")).collect();
        let intervals = match all().count() {
            0 => return remarks,
            1 => "the interval is".to_owned(),
            many => format!("all {many} intervals together are"),
        };
        remarks.push(format!(
            "Cost is how many times as much it costs now. The noise is the standard deviation of processes. A change is real if its \
             whole interval is beyond the threshold of {} %; {intervals} right with a probability of 95 %, if nothing else was \
             different when the two were measured.",
            self.threshold * 100.0,
        ));
        if all().any(|change| change.verdict == Verdict::Unsure) {
            remarks.push(
                "Unsure is what the noise may have made: raise --processes and --budget of both, or make the machine quiet."
                    .to_owned(),
            );
        }
        if all().any(|change| change.noise.is_none()) {
            remarks.push(format!(
                "(?) There was one process only, so its noise is not known: {:.0} % were presumed. Measure both with --processes 5 or more.",
                Level::presumed_noise() * 100.0
            ));
        }
        remarks
    }
}

/// What measured, and when.
fn origin(record: &Record) -> String {
    let program = &record.program;
    let mut parts = vec![format!("executor-performance {}, {} build", program.version, program.build)];
    parts.extend((!program.git.is_empty()).then(|| format!("git {}", program.git)));
    parts.extend(record.runs.first().map(|run| run.began_utc.clone()));
    parts.join(", ")
}

/// A record that others are compared with.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// The record.
    pub record: Record,
    /// How it is compared.
    pub terms: Terms,
}

impl Baseline {
    /// What has changed in `record`. None as long as it has nothing to compare.
    pub fn compared_with(&self, record: &Record) -> Option<Comparison> {
        Comparison::of(&self.record, record, &self.terms).ok()
    }
}

/// Refuses to compare what is unlike: programs, machines, or settings of `runs`.
///
/// # Errors
///
/// A line that says in what they differ.
pub fn alike(old: &Record, new: &Record, runs: &[Run]) -> Result<(), String> {
    let mut differences = old.machine.differences(&new.machine);
    if old.program.build != new.program.build {
        differences.push(format!("build: {} and {}", old.program.build, new.program.build));
    }
    let features = [&old.program.executors_features, &new.program.executors_features];
    // Older records do not tell.
    if features[0] != features[1] && features.iter().all(|features| !features.is_empty()) {
        differences.push(format!("features of executors: {} and {}", features[0].join(" "), features[1].join(" ")));
    }
    for run in runs {
        // Points of a sweep may be missing, but not all of them.
        let mut siblings = runs.iter().filter(|sibling| sibling.experiment == run.experiment);
        if siblings.all(|sibling| counterpart(old, sibling, false).is_none()) {
            let before = old.runs.iter().find(|before| before.experiment == run.experiment);
            differences.extend(before.map(|before| differing(&before.settings, &run.settings)).unwrap_or_default());
        }
    }
    let mut told = HashSet::new();
    differences.retain(|difference| told.insert(difference.clone()));
    if differences.is_empty() {
        return Ok(());
    }
    Err(format!(
        "these records cannot be compared ({}): measure again under the same conditions, or say --force",
        differences.join("; ")
    ))
}

/// The run of `record` with the same settings as `run`. If there is none, but only one of the same experiment, that
/// will do if it is to be `forced`.
fn counterpart<'a>(record: &'a Record, run: &Run, forced: bool) -> Option<&'a Run> {
    let candidates: Vec<&Run> = record.runs.iter().filter(|other| other.experiment == run.experiment).collect();
    let same = candidates.iter().copied().find(|other| other.settings == run.settings);
    same.or_else(|| candidates.first().copied().filter(|_| forced && candidates.len() == 1))
}

/// Refuses to compare what has nothing in common with `old`: none of the runs of a plan, each with the names of its
/// executors. Some may be `forced`.
///
/// # Errors
///
/// A line that says what there is.
pub fn overlap(old: &Record, plan: &[(Run, Vec<&str>)], forced: bool) -> Result<(), String> {
    let measured_before = |(run, executors): &(Run, Vec<&str>)| {
        counterpart(old, run, forced).is_some_and(|before| in_both(before, executors))
    };
    if plan.iter().any(measured_before) {
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
        "--baseline has nothing of what is to be measured, but {}: measure one of these, or leave it out",
        if there.is_empty() { "no run at all".to_owned() } else { there.join("; ") }
    ))
}

/// Whether one of the `executors` has a row in `before`.
fn in_both<S: AsRef<str>>(before: &Run, executors: &[S]) -> bool {
    executors.iter().any(|name| before.rows.iter().any(|row| row.executor == name.as_ref()))
}

fn differing(old: &Settings, new: &Settings) -> Vec<String> {
    let text = |settings: &Settings, name: &str| settings.get(name).map_or("none".to_owned(), ToString::to_string);
    let names = new.keys().filter(|name| old.get(*name) != new.get(*name));
    names.map(|name| format!("{name}: {} and {}", text(old, name), text(new, name))).collect()
}

fn title(run: &Run) -> String {
    let figure = run.first_column().map(|column| format!(", {}, {}", column.title, column.unit)).unwrap_or_default();
    format!("{}{figure}; {}", run.experiment, view::settings(run))
}

/// # Errors
///
/// If they cannot be compared: a line that says why.
fn pair<'a>(old: Option<&'a Row>, new: &'a Row, run: &Run) -> Result<Pair<'a>, String> {
    let old = old.ok_or_else(|| format!("{} is not in the baseline of {}", new.executor, run.experiment))?;
    let nothing = |why: &str| Err(incomparable(new, run, why));
    match (&old.error, &new.error) {
        (Some(why), _) => nothing(why),
        // That says nothing about the executor.
        (None, Some(why)) if *why == Failure::Interrupted.to_string() => nothing(why),
        (None, Some(_)) => Ok(Pair { old, new, levels: None }),
        (None, None) => match level(old, run).zip(level(new, run)) {
            None => nothing("there are no samples"),
            levels => Ok(Pair { old, new, levels }),
        },
    }
}

fn incomparable(row: &Row, run: &Run, why: &str) -> String {
    format!("{} cannot be compared in {}: {why}", row.executor, run.experiment)
}

/// What its samples cost.
fn level(row: &Row, run: &Run) -> Option<Level> {
    let more_is_better = run.first_column()?.more_is_better;
    let cost = |value: &f64| if more_is_better { value.recip() } else { *value };
    Level::of(&row.samples.values.iter().map(cost).collect::<Vec<f64>>(), &row.samples.process)
}

/// One of so `many`.
///
/// # Errors
///
/// If there is no ratio: a line that says so.
fn change(Pair { old, new, levels }: &Pair<'_>, run: &Run, many: usize, threshold: f64) -> Result<Change, String> {
    let scale = run.first_column().map_or(1.0, |column| column.scale);
    let median = |row: &Row| Summary::of(&row.samples.values).map(|summary| summary.median * scale);
    let none = || incomparable(new, run, "there are no samples");
    let failed = Change {
        executor: new.executor.clone(),
        old: median(old).ok_or_else(none)?,
        new: None,
        cost: None,
        noise: None,
        verdict: Verdict::Failed,
    };
    let Some((before, after)) = levels else { return Ok(failed) };
    let cost = after
        .relative_to(before, many)
        .ok_or_else(|| incomparable(new, run, "a cost is 0, or endless, so that there is no ratio"))?;
    Ok(Change {
        new: Some(median(new).ok_or_else(none)?),
        cost: Some(cost),
        noise: before.noise().zip(after.noise()).map(|(before, after)| before.max(after)),
        verdict: Verdict::of(&cost, threshold),
        ..failed
    })
}

/// A row for each executor.
pub fn table(changes: &[Change]) -> Table {
    let figures = |figure: fn(&Change) -> Option<f64>| changes.iter().map(figure).collect::<Vec<_>>();
    let of_cost = |change: &Change, text: fn(Ratio) -> String| change.cost.map_or("-".to_owned(), text);
    let noise = |change: &Change| match change.noise {
        Some(noise) => format!("{:.1}", noise * 100.0),
        None => of_cost(change, |_| "(?)".to_owned()),
    };
    Table {
        columns: vec![
            Column::names(["executor", ""], changes.iter().map(|change| change.executor.clone())),
            Column::figures(["old", "median"], &figures(|change| Some(change.old))),
            Column::figures(["new", "median"], &figures(|change| change.new)),
            Column::text(
                ["cost", "x old"],
                changes.iter().map(|change| of_cost(change, |cost| format!("{:.2}", cost.value))),
            ),
            Column::text(
                ["95%", "interval"],
                changes.iter().map(|change| of_cost(change, |cost| format!("{:.2}-{:.2}", cost.low, cost.high))),
            ),
            Column::text(["noise", "%"], changes.iter().map(noise)),
            Column::names(["verdict", ""], changes.iter().map(|change| change.verdict.to_string())),
        ],
        best: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        record::{Samples, Value, mock::record},
        stats::Dice,
    };

    const TERMS: Terms = Terms { threshold: 0.05, fail_on_regression: true, force: false };

    /// The record, whose samples are of several processes each, which hardly differ.
    fn of_processes() -> Record {
        let mut record = record();
        for row in record.runs.iter_mut().flat_map(|run| &mut run.rows) {
            let Some(it) = row.estimate else { continue };
            let values = [1.0, 1.004, 0.998, 1.002, 1.001, 0.999, 1.003].map(|noise| it.median * noise);
            row.samples = Samples::new(values.to_vec(), &[]).of_processes(&[0, 1, 2, 3, 4, 5, 6]);
        }
        record
    }

    /// A record whose work-stealing pool runs that many times as many jobs.
    fn faster(factor: f64) -> Record {
        let mut record = of_processes();
        for run in record.runs.iter_mut().filter(|run| run.experiment == "throughput") {
            let values = &mut run.rows[1].samples.values;
            values.iter_mut().for_each(|value| *value *= factor);
        }
        record
    }

    fn verdicts(comparison: &Comparison) -> Vec<Verdict> {
        comparison.runs.iter().flat_map(|(_, changes)| changes).map(|change| change.verdict).collect()
    }

    #[test]
    fn a_record_is_as_fast_as_itself() {
        let comparison = Comparison::of(&of_processes(), &of_processes(), &TERMS).expect("alike");
        assert_eq!(verdicts(&comparison), [Verdict::Same; 6]);
        assert_eq!(comparison.outcome(&TERMS), Outcome::Done);
        assert!(comparison.left_out.iter().all(|line| line.contains("broken")), "{comparison:?}");
    }

    #[test]
    fn one_process_is_not_enough_to_be_sure() {
        let comparison = Comparison::of(&record(), &record(), &TERMS).expect("alike");
        assert_eq!(verdicts(&comparison), [Verdict::Unsure; 6]);
        assert!(comparison.remarks().iter().any(|line| line.contains("--processes")), "{comparison:?}");
    }

    #[test]
    fn what_is_slower_is_a_regression_only_if_that_was_asked() {
        let comparison = Comparison::of(&of_processes(), &faster(0.7), &TERMS).expect("alike");
        assert_eq!(verdicts(&comparison)[..2], [Verdict::Same, Verdict::Slower]);
        assert_eq!(comparison.outcome(&TERMS), Outcome::Regressed);
        assert_eq!(comparison.outcome(&Terms { fail_on_regression: false, ..TERMS }), Outcome::Done);
        let comparison = Comparison::of(&of_processes(), &faster(1.5), &TERMS).expect("alike");
        assert_eq!(verdicts(&comparison)[..2], [Verdict::Same, Verdict::Faster]);
        assert_eq!(comparison.outcome(&TERMS), Outcome::Done);
    }

    /// What is simulated: `cost` in the middle; processes that scatter by `between`, samples by 3 %, and a drift of as
    /// much within each process.
    #[derive(Clone, Copy)]
    struct World {
        cost: f64,
        between: f64,
        processes: u64,
        executors: usize,
    }

    impl World {
        fn record(self, dice: &mut Dice) -> Record {
            const SAMPLES: u64 = 8;
            const WITHIN: f64 = 0.03;
            let mut record = record();
            record.runs.drain(..2);
            let row = |name: usize| {
                let (mut values, mut process) = (Vec::new(), Vec::new());
                for number in 0..self.processes {
                    // Few placements that are far apart, and some noise around them.
                    let placement = if dice.below(2) == 0 { -0.7 } else { 0.7 };
                    let middle = self.between * (placement + 0.7 * normal(dice));
                    let drift = WITHIN * normal(dice);
                    for sample in 0..SAMPLES {
                        let log = middle + drift * sample as f64 / SAMPLES as f64 + WITHIN * normal(dice);
                        values.push(self.cost * log.exp());
                        process.push(number);
                    }
                }
                let samples = Samples::new(values, &[]).of_processes(&process);
                Row::new(&format!("executor-{name}"), Ok(Default::default()), samples, None)
            };
            record.runs[0].rows = (0..self.executors).map(row).collect();
            record
        }
    }

    /// About a normal number, with a standard deviation of 1.
    fn normal(dice: &mut Dice) -> f64 {
        (0..12).map(|_| dice.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0
    }

    /// In what part of many comparisons of two records of `before` and `after` some verdict is as `wanted`.
    fn part_with(before: World, after: World, wanted: fn(Verdict) -> bool) -> f64 {
        const TRIALS: usize = 200;
        let mut dice = Dice::new(1);
        let hits = (0..TRIALS).filter(|_| {
            let (old, new) = (before.record(&mut dice), after.record(&mut dice));
            verdicts(&Comparison::of(&old, &new, &TERMS).expect("alike")).into_iter().any(wanted)
        });
        hits.count() as f64 / TRIALS as f64
    }

    const QUIET: World = World { cost: 100.0, between: 0.03, processes: 5, executors: 3 };

    /// `docs/methodology.md` says so.
    #[test]
    fn what_has_not_changed_is_called_changed_in_one_comparison_of_twenty_at_most() {
        let changed = |verdict| matches!(verdict, Verdict::Slower | Verdict::Faster);
        for between in [0.0, 0.1] {
            for processes in [1, 3, 5] {
                let world = World { between, processes, ..QUIET };
                let wrong = part_with(world, world, changed);
                assert!(wrong <= 0.05, "{wrong} with {processes} processes that scatter by {between}");
            }
        }
    }

    /// The same.
    #[test]
    fn a_regression_by_a_fifth_is_found() {
        let slower = World { cost: 120.0, ..QUIET };
        let found =
            part_with(World { executors: 1, ..QUIET }, World { executors: 1, ..slower }, |it| it == Verdict::Slower);
        assert!(found >= 0.95, "{found}");
        let noisy = |world| World { between: 0.1, processes: 20, executors: 1, ..world };
        let found = part_with(noisy(QUIET), noisy(slower), |verdict| verdict == Verdict::Slower);
        assert!(found >= 0.8, "{found} on a noisy machine, with more processes");
    }

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
        let titles: Vec<String> = forced.expect("forced").runs.into_iter().map(|(title, _)| title).collect();
        // Which of two runs of throughput it should be compared with, nobody knows.
        assert!(titles.len() == 1 && titles[0].starts_with("latency"), "{titles:?}");
    }

    #[test]
    fn an_executor_that_fails_now_is_a_regression() {
        let (sound, mut broken) = (of_processes(), of_processes());
        let name = broken.runs[0].rows[1].executor.clone();
        broken.runs[0].rows[1] = Row::new(&name, Err("crashed".to_owned()), Samples::default(), None);
        let comparison = Comparison::of(&sound, &broken, &TERMS).expect("alike");
        assert_eq!(verdicts(&comparison)[..2], [Verdict::Same, Verdict::Failed]);
        assert_eq!(comparison.outcome(&TERMS), Outcome::Regressed);
        assert_eq!(comparison.outcome(&Terms { fail_on_regression: false, ..TERMS }), Outcome::Done);
        // What works now and did not before is none, and neither is what was not measured to the end.
        let comparison = Comparison::of(&broken, &sound, &TERMS).expect("alike");
        assert_eq!(comparison.outcome(&TERMS), Outcome::Done);
        broken.runs[0].rows[1].error = Some(Failure::Interrupted.to_string());
        let comparison = Comparison::of(&sound, &broken, &TERMS).expect("alike");
        assert_eq!(comparison.outcome(&TERMS), Outcome::Done);
    }

    #[test]
    fn what_costs_nothing_is_left_out_with_the_reason() {
        let mut idle = of_processes();
        idle.runs.drain(..2);
        for row in &mut idle.runs[0].rows {
            row.samples.values.iter_mut().for_each(|value| *value = 0.0);
        }
        let comparison = Comparison::of(&idle, &idle, &TERMS).expect("alike");
        assert_eq!((verdicts(&comparison), comparison.outcome(&TERMS)), (Vec::new(), Outcome::Done));
        assert_eq!(comparison.left_out.len(), 2, "{comparison:?}");
        assert!(comparison.left_out.iter().all(|line| line.contains("a cost is 0")), "{comparison:?}");
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
        for part in
            ["threads 1, producers 2, which is in the baseline only", "channel is in the baseline of throughput only"]
        {
            assert!(comparison.left_out.iter().any(|line| line.contains(part)), "{part} in {comparison:?}");
        }
        fewer.runs.clear();
        assert!(Comparison::of(&fewer, &record(), &TERMS).expect_err("nothing").contains("nothing is in both"));
    }

    #[test]
    fn a_comparison_is_a_table_for_each_run() {
        let mut text = Vec::new();
        let comparison = Comparison::of(&of_processes(), &faster(0.7), &TERMS).expect("alike");
        let mut terminal = Terminal::new(anstream::StripStream::new(&mut text), false);
        comparison.print(&mut terminal).expect("memory");
        let text = String::from_utf8(text).expect("text");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        insta::assert_snapshot!(text);
    }
}
