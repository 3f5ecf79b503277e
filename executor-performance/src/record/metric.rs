/// A kind of figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    /// Its name for machines, with the unit.
    pub column: &'static str,
    /// How many decimals are written in that unit.
    pub decimals: usize,
    /// Its name for people: what it is, and the unit, in which it is [`scale`](Self::scale) times as large.
    pub title: [&'static str; 2],
    /// How many units for people are one unit for machines.
    pub scale: f64,
    /// Whether more is better.
    pub more_is_better: bool,
}

impl Metric {
    /// The figure of this kind that has `value`; `None` if the samples have none.
    pub const fn figure(self, value: Option<f64>) -> Figure {
        Figure { metric: self, value }
    }
}

/// What samples say about one metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// What it is a figure of.
    pub metric: Metric,
    /// In the unit for machines; `None` if the samples have none.
    pub value: Option<f64>,
}
