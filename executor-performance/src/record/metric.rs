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
    /// Of which less is better: in the same unit for machines, which deserves three decimals, and for people.
    pub const fn new(column: &'static str, title: [&'static str; 2]) -> Self {
        Metric { column, decimals: 3, title, scale: 1.0, more_is_better: false }
    }

    /// The same with that many decimals.
    pub const fn with_decimals(self, decimals: usize) -> Self {
        Metric { decimals, ..self }
    }

    /// The same with `scale` times as large a figure for people.
    pub const fn scaled(self, scale: f64) -> Self {
        Metric { scale, ..self }
    }

    /// The same, but more is better.
    pub const fn more_is_better(self) -> Self {
        Metric { more_is_better: true, ..self }
    }

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
