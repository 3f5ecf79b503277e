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

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Need::Priorities => "priorities",
            Need::Subpools => "subpools",
            Need::Bound => "bound subpools",
        })
    }
}
