//! Queues of jobs: one of each worker's own, and one for jobs from everywhere. Their protocols are at their heads.

pub(crate) mod lanes;
pub(crate) mod ring;
