use super::Metric;
use serde::{Deserialize, Serialize};

/// A kind of figure, as records have it: a [`Metric`] that may come from elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Its name for machines, with the unit.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// The unit for people, in which it is `scale` times as large.
    pub unit: String,
    /// How many decimals are written in the unit for machines.
    pub decimals: usize,
    /// How many units for people are one unit for machines.
    pub scale: f64,
    /// Whether more is better.
    pub more_is_better: bool,
}

impl From<&Metric> for Column {
    fn from(metric: &Metric) -> Self {
        let Metric { column, decimals, title: [title, unit], scale, more_is_better } = *metric;
        Column {
            name: column.to_owned(),
            title: title.to_owned(),
            unit: unit.to_owned(),
            decimals,
            scale,
            more_is_better,
        }
    }
}
