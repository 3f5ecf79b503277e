//! What one may need of an executor.

use clap::ValueEnum;
use std::fmt;

/// What not every executor can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Need {
    /// Urgent jobs overtake others.
    Priorities,
    /// Of some jobs only so many run at a time.
    Subpools,
    /// Some jobs all run on the same thread.
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
