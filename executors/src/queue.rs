//! Queues of jobs: one of each worker's own, and one for jobs from everywhere. How they are used together, and what
//! their models tell, is in `queue/README.md`.

pub(crate) mod lanes;
pub(crate) mod ring;

/// Somebody else is taking jobs there, or was faster: there may be some nevertheless.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Busy;
