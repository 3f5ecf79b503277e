//! How near the cores of a machine are to each other, so that workers steal from near ones first.
//!
//! # Examples
//!
//! A machine with two cores in each of two sockets, described by hand; [`ProcessingUnitDistance::from_topology`] asks
//! the machine itself, and pools do that unless they are given a matrix:
//!
//! ```
//! use executors::numa_utils::ProcessingUnitDistance;
//! use core_affinity::CoreId;
//!
//! let distances = ProcessingUnitDistance::from_function(4, |from, to| match (from, to) {
//!     (from, to) if from == to => 0,
//!     (from, to) if from / 2 == to / 2 => 1,
//!     _ => 10,
//! });
//! assert_eq!(distances.distance(CoreId { id: 0 }, CoreId { id: 1 }), 1);
//! assert_eq!(distances.distance(CoreId { id: 0 }, CoreId { id: 2 }), 10);
//!
//! # #[cfg(feature = "workstealing-exec")]
//! # {
//! use executors::{*, crossbeam_workstealing_pool::ThreadPool};
//!
//! // One worker on the first core, and one that floats: it is far from all others.
//! let pool = ThreadPool::with_numa_affinity(&[CoreId { id: 0 }], 1, parker::small(), distances);
//! assert_eq!(pool.submit(|| 6 * 7).wait().unwrap(), 42);
//! pool.shutdown().unwrap();
//! # }
//! ```

use crate::placement::topology;
use core_affinity::CoreId;
use std::{sync::OnceLock, thread};

/// The distances between all cores of a machine, as a square matrix indexed by core number.
///
/// Only the order of distances matters: a worker tries nearer victims before farther ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessingUnitDistance {
    rows: Box<[Box<[i32]>]>,
}

impl ProcessingUnitDistance {
    /// Uses a matrix as it is.
    ///
    /// # Panics
    ///
    /// If it is not square.
    #[must_use]
    pub fn new(distance_matrix: Box<[Box<[i32]>]>) -> Self {
        for row in &distance_matrix {
            assert_eq!(row.len(), distance_matrix.len(), "a matrix of distances must be square");
        }
        ProcessingUnitDistance { rows: distance_matrix }
    }

    /// A matrix without any core; a placeholder where no worker is pinned.
    #[must_use]
    pub fn empty() -> Self {
        ProcessingUnitDistance { rows: Box::new([]) }
    }

    /// Calls `distance(from, to)` for each pair of the cores `0..size`.
    #[must_use]
    pub fn from_function<F>(size: usize, distance: F) -> Self
    where
        F: Fn(usize, usize) -> i32,
    {
        (0..size).map(|from| (0..size).map(|to| distance(from, to)).collect::<Vec<_>>()).collect()
    }

    /// What the system reports about this machine: 0 from a core to itself, 1 to a thread of the same core, 2 to a core
    /// with the same last-level cache, and otherwise the kernel's distance between memory nodes, which is at least 10.
    /// Where the system reports nothing (anything but Linux), all cores are equally far from each other. The system is
    /// asked once in the life of the process.
    #[must_use]
    pub fn from_topology() -> Self {
        // Many files, and the answer stays the same.
        static OF_MACHINE: OnceLock<ProcessingUnitDistance> = OnceLock::new();
        let ask = || match topology::distances() {
            Some(rows) => rows.into_iter().collect(),
            None => Self::from_function(thread::available_parallelism().map_or(1, usize::from), equidistance),
        };
        OF_MACHINE.get_or_init(ask).clone()
    }

    /// The distance from `pu1` to `pu2`.
    ///
    /// # Panics
    ///
    /// If a core is outside the matrix.
    #[must_use]
    pub fn distance(&self, pu1: CoreId, pu2: CoreId) -> i32 {
        self.rows[pu1.id][pu2.id]
    }

    /// [`distance`](Self::distance), or `None` outside the matrix.
    pub(crate) fn get(&self, from: usize, to: usize) -> Option<i32> {
        self.rows.get(from)?.get(to).copied()
    }
}

/// Collects the rows of a matrix.
///
/// # Panics
///
/// If it is not square.
impl FromIterator<Vec<i32>> for ProcessingUnitDistance {
    fn from_iter<I: IntoIterator<Item = Vec<i32>>>(rows: I) -> Self {
        rows.into_iter().map(Vec::into_boxed_slice).collect()
    }
}

/// Collects the rows of a matrix.
///
/// # Panics
///
/// If it is not square.
impl FromIterator<Box<[i32]>> for ProcessingUnitDistance {
    fn from_iter<I: IntoIterator<Item = Box<[i32]>>>(rows: I) -> Self {
        ProcessingUnitDistance::new(rows.into_iter().collect())
    }
}

/// The distance function of a machine whose cores are all alike: 0 to itself, 1 to any other.
#[must_use]
pub fn equidistance(i: usize, j: usize) -> i32 {
    i32::from(i != j)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_functions_make_the_same_matrix() {
        let rows: ProcessingUnitDistance = [vec![0, 1], vec![1, 0]].into_iter().collect();
        assert_eq!(rows, ProcessingUnitDistance::from_function(2, equidistance));
        assert_eq!(rows.distance(CoreId { id: 0 }, CoreId { id: 1 }), 1);
        assert_eq!(rows.get(0, 2), None);
    }

    #[test]
    fn this_machine_has_a_square_of_distances() {
        let distances = ProcessingUnitDistance::from_topology();
        let cores = distances.rows.len();
        assert!(cores > 0);
        for (a, b) in (0..cores).flat_map(|a| (0..=a).map(move |b| (a, b))) {
            let [there, back] = [(a, b), (b, a)].map(|(a, b)| distances.distance(CoreId { id: a }, CoreId { id: b }));
            assert_eq!(there, back, "between {a} and {b}");
            assert_eq!(there > 0, a != b, "between {a} and {b}");
        }
    }

    #[test]
    fn no_rows_make_the_empty_matrix() {
        assert_eq!(
            Vec::<Vec<i32>>::new().into_iter().collect::<ProcessingUnitDistance>(),
            ProcessingUnitDistance::empty()
        );
    }

    #[test]
    #[should_panic(expected = "square")]
    fn a_ragged_matrix_is_refused() {
        let _ = [vec![0, 1], vec![1]].into_iter().collect::<ProcessingUnitDistance>();
    }
}
