//! Why an elastic pool does not take a job.

use crate::error::impl_refusal;

/// Why a job was not accepted, with the job inside.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal<F> {
    /// The pool is closed.
    Closed(F),
    /// All workers are busy and the queue is full; with a timeout, there was no room until it was up.
    Full(F),
}

impl_refusal! {
    Refusal,
    /// The job, which did not run.
    into_job {
        Closed: "the pool is closed and takes no more jobs",
        Full: "all workers of the pool are busy and its queue is full: raise `max` or the queue, or try again later",
    }
}
