use crate::{once_each::once_each, record::Record};

/// The colour of each executor, the same in all charts of a record.
#[derive(Debug, Clone)]
pub struct Palette {
    names: Vec<String>,
}

/// The colours of the light scheme. [`STYLE`](super::STYLE) has those of the dark one.
const COLORS: [&str; 10] =
    ["#0969da", "#bc4c00", "#1a7f37", "#8250df", "#cf222e", "#0a7a83", "#9a6700", "#bf3989", "#57606a", "#4d7c0f"];

/// The lines of executors that share a colour.
const DASHES: [&str; 4] = ["", "6 3", "2 3", "9 3 2 3"];

/// The markers of the points of executors that share a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    Circle,
    Square,
    Diamond,
    Triangle,
}

const MARKERS: [Marker; DASHES.len()] = [Marker::Circle, Marker::Square, Marker::Diamond, Marker::Triangle];

impl Palette {
    /// A palette for all executors of `record`.
    pub fn of(record: &Record) -> Self {
        let names = once_each(record.runs.iter().flat_map(|run| &run.rows).map(|row| &row.executor));
        Palette { names: names.into_iter().cloned().collect() }
    }

    /// The style that gives the `property` (`fill` or `stroke`) the colour of `executor`.
    pub(super) fn painted(&self, property: &str, executor: &str) -> String {
        let color = self.place(executor) % COLORS.len();
        format!("{property}:{};{property}:var(--c{color})", COLORS[color])
    }

    /// The dashes of its lines.
    pub(super) fn dashes(&self, executor: &str) -> &'static str {
        DASHES[self.place(executor) / COLORS.len() % DASHES.len()]
    }

    /// The marker of its points.
    pub(super) fn marker(&self, executor: &str) -> Marker {
        MARKERS[self.place(executor) / COLORS.len() % MARKERS.len()]
    }

    fn place(&self, executor: &str) -> usize {
        self.names.iter().position(|name| name == executor).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::ENTRIES;
    use std::collections::HashSet;

    #[test]
    fn all_executors_that_there_are_can_be_told_apart() {
        let palette = Palette { names: ENTRIES.iter().map(|entry| entry.name.to_owned()).collect() };
        let mut lines = HashSet::new();
        let mut points = HashSet::new();
        for name in &palette.names {
            assert!(lines.insert((palette.painted("stroke", name), palette.dashes(name))), "{name}");
            assert!(points.insert((palette.painted("fill", name), format!("{:?}", palette.marker(name)))), "{name}");
        }
    }
}
