//! Which workers are near each other, by a matrix of distances between cores.

use crate::{numa_utils::ProcessingUnitDistance, options::Placement};
use std::collections::BTreeMap;

/// How far apart cores are: as a pool was told, or else as the machine reports.
#[derive(Debug, Clone, Default)]
pub(crate) struct Distances(Option<ProcessingUnitDistance>);

impl From<ProcessingUnitDistance> for Distances {
    fn from(given: ProcessingUnitDistance) -> Self {
        Distances(Some(given))
    }
}

/// The workers of a pool, with their cores and the distances between these.
#[derive(Debug)]
pub(crate) struct Neighbourhood {
    workers: usize,
    /// The cores of the first workers; the others float.
    cores: Vec<usize>,
    distances: ProcessingUnitDistance,
}

impl Neighbourhood {
    /// A pool's workers, as far from each other as the machine reports.
    pub(crate) fn of_machine(workers: usize, placement: &Placement) -> Self {
        let cores = placement.cores(workers);
        let floating = cores.is_empty();
        let distances =
            if floating { ProcessingUnitDistance::empty() } else { ProcessingUnitDistance::from_topology() };
        Neighbourhood { workers, cores, distances }
    }

    pub(crate) fn with_distances(workers: usize, placement: &Placement, distances: Distances) -> Self {
        match distances {
            Distances(None) => Self::of_machine(workers, placement),
            Distances(Some(distances)) => Neighbourhood { workers, cores: placement.cores(workers), distances },
        }
    }

    /// The other workers in groups of equal distance from `seat`, the nearest first.
    pub(crate) fn circles(&self, seat: usize) -> Vec<Vec<usize>> {
        let mut circles = BTreeMap::<i32, Vec<usize>>::new();
        for other in (0..self.workers).filter(|&other| other != seat) {
            circles.entry(self.distance(seat, other)).or_default().push(other);
        }
        circles.into_values().collect()
    }

    fn distance(&self, a: usize, b: usize) -> i32 {
        match (self.cores.get(a), self.cores.get(b)) {
            (Some(&a), Some(&b)) => self.distances.get(a, b).unwrap_or(i32::MAX),
            _ => i32::MAX, // a floating worker may be anywhere
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_workers_come_first_and_floating_ones_last() {
        let distances = ProcessingUnitDistance::from_function(4, |a, b| (a as i32 - b as i32).abs());
        let workers = Neighbourhood::with_distances(5, &Placement::Cores(vec![0, 2, 1, 7]), distances.into());
        assert_eq!(workers.circles(0), [vec![2], vec![1], vec![3, 4]]);
        assert_eq!(workers.circles(2), [vec![0, 1], vec![3, 4]]);
        assert_eq!(workers.circles(4), [vec![0, 1, 2, 3]]);
        assert_eq!(workers.circles(5), [vec![0, 1, 2, 3, 4]]);
    }
}
