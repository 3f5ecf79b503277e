//! Features that a user may need from an executor.

use clap::ValueEnum;
use std::fmt;

/// A feature that not every executor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Need {
    /// Urgent jobs overtake others.
    Priorities,
    /// At most a given number of some jobs run at a time.
    Subpools,
    /// Some jobs all run on one thread.
    Bound,
}

impl Need {
    /// Its name on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Need::Priorities => "priorities",
            Need::Subpools => "subpools",
            Need::Bound => "bound",
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Need::Bound => "bound subpools",
            other => other.name(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_what_the_command_line_accepts() {
        for need in Need::value_variants() {
            assert_eq!(Need::from_str(need.name(), false), Ok(*need));
        }
    }
}
