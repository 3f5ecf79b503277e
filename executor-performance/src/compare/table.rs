//! A comparison as a table.

use super::Change;
use crate::{
    stats::Ratio,
    view::{Column, Table},
};

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
