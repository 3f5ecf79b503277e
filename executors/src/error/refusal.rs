//! Jobs that a pool has refused.

use std::{error::Error, fmt};

/// Why a pool did not accept a job, with the job inside.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejected<F> {
    /// The pool is closed.
    Closed(F),
    /// All workers are busy, and no further job may wait for them; with a timeout, none could until it was up.
    Full(F),
}

impl<F> Rejected<F> {
    /// The job, which did not run.
    #[must_use = "dropping the job loses it; ignore the error instead if that is what you want"]
    pub fn into_job(self) -> F {
        match self {
            Rejected::Closed(job) | Rejected::Full(job) => job,
        }
    }
}

impl<F> fmt::Debug for Rejected<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rejected::Closed(_) => "Closed(..)",
            Rejected::Full(_) => "Full(..)",
        })
    }
}

impl<F> fmt::Display for Rejected<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rejected::Closed(_) => "the pool is closed and takes no more jobs",
            Rejected::Full(_) => "the pool is full: give it more workers, let more jobs wait, or try again later",
        })
    }
}

impl<F> Error for Rejected<F> {}
