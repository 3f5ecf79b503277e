//! Two records, side by side: what has become slower?

mod change;

pub use self::change::{Change, Verdict};

use crate::{
    record::{Record, Row, Run, Settings},
    session::Outcome,
    sink::{Terminal, error},
    stats::{Ratio, Summary},
    view::{Column, Table},
};
use std::{collections::HashSet, io};

/// What counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    /// Differences up to this are not real, as a fraction.
    pub threshold: f64,
    /// Whether it is a failure if something has become slower.
    pub fail_on_regression: bool,
    /// Whether unlike things are compared, too.
    pub force: bool,
    /// What the bootstrap begins with.
    pub seed: u64,
}

/// What has changed, run by run.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What is compared: the experiment, its first figure, its settings. And of each executor that is in both: the change.
    pub runs: Vec<(String, Vec<Change>)>,
    /// What could not be compared.
    pub left_out: Vec<String>,
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
        let (mut runs, mut left_out) = (Vec::new(), Vec::new());
        for run in &new.runs {
            let Some(before) = counterpart(old, run, terms.force) else {
                left_out.push(format!("{}, which is not in the baseline", title(run)));
                continue;
            };
            let pairs = run.rows.iter().map(|row| (before.rows.iter().find(|old| old.executor == row.executor), row));
            let changes: Vec<Change> =
                pairs.filter_map(|(old, row)| change(old, row, run, terms, &mut left_out)).collect();
            if !changes.is_empty() {
                runs.push((title(run), changes));
            }
        }
        left_out.sort();
        left_out.dedup();
        if runs.is_empty() {
            Err("nothing is in both records: nothing can be compared".to_owned())
        } else {
            Ok(Comparison { runs, left_out })
        }
    }

    /// Prints it, and says whether that is good.
    pub fn show(&self, terms: &Terms) -> Outcome {
        let mut terminal = Terminal::new(anstream::stdout(), false);
        match self.print(&mut terminal, terms) {
            Ok(()) => self.outcome(terms),
            Err(why) => {
                error(&format!("the comparison could not be written: {why}"));
                Outcome::Failed
            }
        }
    }

    fn outcome(&self, terms: &Terms) -> Outcome {
        let slower = self.slower();
        if slower.is_empty() || !terms.fail_on_regression {
            return Outcome::Done;
        }
        error(&format!("slower than before: {}", slower.join(", ")));
        Outcome::Regressed
    }

    /// The executors that have become slower.
    fn slower(&self) -> Vec<&str> {
        let mut slower: Vec<&str> = Vec::new();
        for change in self.runs.iter().flat_map(|(_, changes)| changes) {
            if change.verdict == Verdict::Slower && !slower.contains(&change.executor.as_str()) {
                slower.push(&change.executor);
            }
        }
        slower
    }

    fn print<W: io::Write>(&self, terminal: &mut Terminal<W>, terms: &Terms) -> io::Result<()> {
        for (title, changes) in &self.runs {
            terminal.remark(&format!("compared: {title}"))?;
            terminal.write("\n")?;
            terminal.table(&table(changes))?;
        }
        for line in &self.left_out {
            terminal.remark(&format!("Left out: {line}."))?;
        }
        terminal.remark(&format!(
            "Cost is how many times as much it costs now; a change is real if its whole 95 % interval is beyond the noise \
             threshold of {} %.",
            terms.threshold * 100.0
        ))
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

/// The run of `record` with the same settings as `run`. If there is none, but only one of the same experiment, that will do
/// if it is to be `forced`.
fn counterpart<'a>(record: &'a Record, run: &Run, forced: bool) -> Option<&'a Run> {
    let candidates: Vec<&Run> = record.runs.iter().filter(|other| other.experiment == run.experiment).collect();
    let same = candidates.iter().copied().find(|other| other.settings == run.settings);
    same.or_else(|| candidates.first().copied().filter(|_| forced && candidates.len() == 1))
}

fn differing(old: &Settings, new: &Settings) -> Vec<String> {
    let text = |settings: &Settings, name: &str| settings.get(name).map_or("none".to_owned(), ToString::to_string);
    let names = new.keys().filter(|name| old.get(*name) != new.get(*name));
    names.map(|name| format!("{name}: {} and {}", text(old, name), text(new, name))).collect()
}

fn title(run: &Run) -> String {
    let figure = run.first_column().map(|column| format!(", {}, {}", column.title, column.unit)).unwrap_or_default();
    format!("{}{figure}; {}", run.experiment, crate::view::settings(run))
}

fn change(old: Option<&Row>, new: &Row, run: &Run, terms: &Terms, left_out: &mut Vec<String>) -> Option<Change> {
    let column = run.first_column()?;
    let Some(old) = old else {
        left_out.push(format!("{} is not in the baseline of {}", new.executor, run.experiment));
        return None;
    };
    if let Some(why) = new.error.as_ref().or(old.error.as_ref()) {
        left_out.push(format!("{} cannot be compared in {}: {why}", new.executor, run.experiment));
        return None;
    }
    let (before, after) = (&old.samples.values, &new.samples.values);
    let (above, below) = if column.more_is_better { (before, after) } else { (after, before) };
    let cost = Ratio::of_strangers(above, below, terms.seed)?;
    let scaled = |values: &[f64]| Summary::of(values).map(|summary| summary.median * column.scale);
    Some(Change {
        executor: new.executor.clone(),
        old: scaled(before)?,
        new: scaled(after)?,
        cost,
        verdict: Verdict::of(&cost, terms.threshold),
    })
}

fn table(changes: &[Change]) -> Table {
    let figures = |figure: fn(&Change) -> f64| changes.iter().map(|change| Some(figure(change))).collect::<Vec<_>>();
    Table {
        columns: vec![
            Column::names(["executor", ""], changes.iter().map(|change| change.executor.clone())),
            Column::figures(["old", "median"], &figures(|change| change.old)),
            Column::figures(["new", "median"], &figures(|change| change.new)),
            Column::text(["cost", "x old"], changes.iter().map(|change| format!("{:.3}", change.cost.value))),
            Column::text(
                ["95%", "interval"],
                changes.iter().map(|change| format!("{:.3}-{:.3}", change.cost.low, change.cost.high)),
            ),
            Column::names(["verdict", ""], changes.iter().map(|change| change.verdict.to_string())),
        ],
        best: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Value, mock::record};

    const TERMS: Terms = Terms { threshold: 0.05, fail_on_regression: true, force: false, seed: 0 };

    /// A record whose work-stealing pool runs that many times as many jobs.
    fn faster(factor: f64) -> Record {
        let mut record = record();
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
        let comparison = Comparison::of(&record(), &record(), &TERMS).expect("alike");
        assert_eq!(verdicts(&comparison), [Verdict::Same; 6]);
        assert_eq!(comparison.outcome(&TERMS), Outcome::Done);
        assert!(comparison.left_out.iter().all(|line| line.contains("broken")), "{comparison:?}");
    }

    #[test]
    fn what_is_slower_is_a_regression_only_if_that_was_asked() {
        let comparison = Comparison::of(&record(), &faster(0.7), &TERMS).expect("alike");
        assert_eq!(verdicts(&comparison)[..2], [Verdict::Same, Verdict::Slower]);
        assert_eq!(comparison.outcome(&TERMS), Outcome::Regressed);
        assert_eq!(comparison.outcome(&Terms { fail_on_regression: false, ..TERMS }), Outcome::Done);
        let comparison = Comparison::of(&record(), &faster(1.5), &TERMS).expect("alike");
        assert_eq!(verdicts(&comparison)[..2], [Verdict::Same, Verdict::Faster]);
        assert_eq!(comparison.outcome(&TERMS), Outcome::Done);
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
        fewer.runs.clear();
        assert!(Comparison::of(&fewer, &record(), &TERMS).expect_err("nothing").contains("nothing is in both"));
    }

    #[test]
    fn a_comparison_is_a_table_for_each_run() {
        let mut text = Vec::new();
        let comparison = Comparison::of(&record(), &faster(0.7), &TERMS).expect("alike");
        let mut terminal = Terminal::new(anstream::StripStream::new(&mut text), false);
        comparison.print(&mut terminal, &TERMS).expect("memory");
        let text = String::from_utf8(text).expect("text");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        insta::assert_snapshot!(text);
    }
}
