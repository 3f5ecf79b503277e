//! The twin of `near.rs` for builds without the feature `numa-aware`: all workers are equally near.

use crate::options::Placement;

#[derive(Debug, Clone, Default)]
pub(crate) struct Distances(());

/// The workers of a pool.
#[derive(Debug)]
pub(crate) struct Neighbourhood {
    workers: usize,
}

impl Neighbourhood {
    pub(crate) fn of_machine(workers: usize, _placement: &Placement) -> Self {
        Neighbourhood { workers }
    }

    pub(crate) fn with_distances(workers: usize, placement: &Placement, _distances: Distances) -> Self {
        Self::of_machine(workers, placement)
    }

    /// The other workers, as one group if there are any.
    pub(crate) fn circles(&self, seat: usize) -> Vec<Vec<usize>> {
        let others: Vec<_> = (0..seat.min(self.workers)).chain(seat + 1..self.workers).collect();
        if others.is_empty() { Vec::new() } else { vec![others] }
    }
}
