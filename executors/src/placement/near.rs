//! Who is near whom, by a matrix of distances between cores.

use crate::numa_utils::ProcessingUnitDistance;
use std::collections::BTreeMap;

/// The workers of a pool, with their cores and the distances between these.
#[derive(Debug)]
pub(crate) struct Neighbourhood {
    cores: Vec<Option<usize>>,
    distances: ProcessingUnitDistance,
}

impl Neighbourhood {
    /// Workers on `cores`, as far from each other as the machine tells.
    pub(crate) fn of_machine(cores: Vec<Option<usize>>) -> Self {
        let pinned = cores.iter().any(Option::is_some);
        let distances = if pinned { ProcessingUnitDistance::from_topology() } else { ProcessingUnitDistance::empty() };
        Neighbourhood { cores, distances }
    }

    pub(crate) fn with_distances(cores: Vec<Option<usize>>, distances: ProcessingUnitDistance) -> Self {
        Neighbourhood { cores, distances }
    }

    /// The other workers in groups of equal distance from `seat`, the nearest first.
    pub(crate) fn circles(&self, seat: usize) -> Vec<Vec<usize>> {
        let mut circles = BTreeMap::<i32, Vec<usize>>::new();
        for other in (0..self.cores.len()).filter(|&other| other != seat) {
            circles.entry(self.distance(seat, other)).or_default().push(other);
        }
        circles.into_values().collect()
    }

    fn distance(&self, a: usize, b: usize) -> i32 {
        let core_of = |seat: usize| self.cores.get(seat).copied().flatten();
        match (core_of(a), core_of(b)) {
            (Some(a), Some(b)) => self.distances.get(a, b).unwrap_or(i32::MAX),
            _ => i32::MAX, // who floats may be anywhere
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_workers_come_first_and_floating_ones_last() {
        let distances = ProcessingUnitDistance::from_function(4, |a, b| (a as i32 - b as i32).abs());
        let workers = Neighbourhood::with_distances(vec![Some(0), Some(2), None, Some(1), Some(7)], distances);
        assert_eq!(workers.circles(0), [vec![3], vec![1], vec![2, 4]]);
        assert_eq!(workers.circles(3), [vec![0, 1], vec![2, 4]]);
        assert_eq!(workers.circles(2), [vec![0, 1, 3, 4]]);
    }
}
