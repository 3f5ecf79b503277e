//! Why an elastic pool does not take a job.

use crate::error::impl_refusal;

/// Why a job was not accepted; it is inside.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal<F> {
    /// The pool is closed.
    Closed(F),
    /// All workers are busy, the queue is full, and the time to wait for that to change was up, if there was some.
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
