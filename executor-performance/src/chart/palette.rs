use crate::record::Record;

/// Which executor has which colour, the same in all charts of a record.
#[derive(Debug, Clone)]
pub struct Palette {
    names: Vec<String>,
}

const COLORS: usize = 10;

/// For executors that share a colour.
const DASHES: [&str; 3] = ["", "6 3", "2 3"];

impl Palette {
    /// For all executors of `record`.
    pub fn of(record: &Record) -> Self {
        let mut names: Vec<String> = Vec::new();
        for row in record.runs.iter().flat_map(|run| &run.rows) {
            if !names.contains(&row.executor) {
                names.push(row.executor.clone());
            }
        }
        Palette { names }
    }

    /// The colour of `executor`.
    pub fn color(&self, executor: &str) -> String {
        format!("var(--c{})", self.place(executor) % COLORS)
    }

    /// The dashes of its lines.
    pub(super) fn dashes(&self, executor: &str) -> &'static str {
        DASHES[self.place(executor) / COLORS % DASHES.len()]
    }

    fn place(&self, executor: &str) -> usize {
        self.names.iter().position(|name| name == executor).unwrap_or(0)
    }
}
