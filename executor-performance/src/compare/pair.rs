//! One executor, in both records.

use super::{Change, Verdict, named};
use crate::{
    record::{Row, Run, Status},
    stats::{Level, median},
};

/// An executor in both records, before it is compared.
pub(super) struct Pair<'a> {
    old: &'a Row,
    new: &'a Row,
    /// What it costs in both. None if it fails now, and did not before.
    pub(super) levels: Option<(Level, Level)>,
}

impl<'a> Pair<'a> {
    /// # Errors
    ///
    /// If they cannot be compared: a line that says why.
    pub(super) fn of(old: Option<&'a Row>, new: &'a Row, run: &Run) -> Result<Self, String> {
        let old = old.ok_or_else(|| format!("{} is not in the baseline of {}", new.executor, named(run)))?;
        let nothing = |why: &str| Err(incomparable(new, run, why));
        match (&old.error, &new.error) {
            (Some(why), _) => nothing(why),
            (None, Some(why)) if new.status() == Status::NotMeasured => nothing(why),
            (None, Some(_)) => Ok(Pair { old, new, levels: None }),
            (None, None) => match old.costs(run).zip(new.costs(run)) {
                None => nothing("there are no samples"),
                Some((before, after)) => Ok(Pair { old, new, levels: Some((before.level(), after.level())) }),
            },
        }
    }

    /// How it has changed, as one of `many` comparisons.
    ///
    /// # Errors
    ///
    /// If there is no ratio: a line that says so.
    pub(super) fn change(&self, run: &Run, many: usize, threshold: f64) -> Result<Change, String> {
        let Pair { old, new, levels } = self;
        let scale = run.first_column().map_or(1.0, |column| column.scale);
        let median = |row: &Row| (row.samples.count() > 0).then(|| median(&row.samples.values) * scale);
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
            .ok_or_else(|| incomparable(new, run, "a cost is 0 or infinite, so there is no ratio"))?;
        Ok(Change {
            new: Some(median(new).ok_or_else(none)?),
            cost: Some(cost),
            noise: before.noise().zip(after.noise()).map(|(before, after)| before.max(after)),
            verdict: Verdict::of(&cost, threshold),
            ..failed
        })
    }
}

fn incomparable(row: &Row, run: &Run, why: &str) -> String {
    format!("{} cannot be compared in {}: {why}", row.executor, named(run))
}
