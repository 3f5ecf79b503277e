//! The twin of `near.rs` for builds without the feature `numa-aware`: all workers are equally near.

use crate::options::Placement;

/// The workers of a pool.
#[derive(Debug)]
pub(crate) struct Neighbourhood {
    workers: usize,
}

impl Neighbourhood {
    pub(crate) fn of_machine(workers: usize, _placement: &Placement) -> Self {
        Neighbourhood { workers }
    }

    /// The other workers, as one group if there are any.
    pub(crate) fn circles(&self, seat: usize) -> Vec<Vec<usize>> {
        let others: Vec<_> = (0..seat.min(self.workers)).chain(seat + 1..self.workers).collect();
        if others.is_empty() { Vec::new() } else { vec![others] }
    }
}
