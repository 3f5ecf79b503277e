//! The work that a job does besides passing its chain on.

use super::Work;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    hint::black_box,
    sync::{Mutex, PoisonError},
    time::Instant,
};

/// Units of work before and after a job gives its successor to the executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Labour {
    /// Units before.
    pub pre: u64,
    /// Units after.
    pub post: u64,
}

impl Work for Labour {
    #[inline]
    fn before(&self) {
        if self.pre > 0 {
            labour(self.pre);
        }
    }

    #[inline]
    fn after(&self) {
        if self.post > 0 {
            labour(self.post);
        }
    }

    fn is_nothing(&self) -> bool {
        *self == Labour::default()
    }
}

/// Does `units` of work and returns its result.
///
/// A unit is an exclusive or and an addition that depends on it, about two clock cycles, in registers. Every one of
/// them is executed: there is no formula for the result that an optimiser could use instead, and no way to compute
/// parts of it apart. (A sum becomes a formula. A linear congruential generator becomes independent lanes, eight steps
/// to the cycle. Hiding each number from the optimiser sends it through memory, and takes one cycle or two, depending
/// on where the stack happens to be.)
///
/// All executors call this one copy. When it was inlined into the job of each, the loop was compiled differently, and a
/// microsecond of work for one executor took 0.7 or 1.4 us for another: more than the executors differ.
#[inline(never)]
pub fn labour(units: u64) -> u64 {
    black_box((0..units).fold(0_u64, |result, number| (result ^ number).wrapping_add(number)))
}

const UNITS_PER_TRY: u64 = 100_000;

/// What one unit costs on this machine, in nanoseconds, when `units` of them are done at a time. Measured when it is
/// first asked for, so that all who are told of it are told the same.
pub fn nanos_per_unit(units: u64) -> f64 {
    static KNOWN: Mutex<BTreeMap<u64, f64>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(units.clamp(1, UNITS_PER_TRY)).or_insert_with_key(|units| measured_nanos_per_unit(*units))
}

/// The best of several tries, because every disturbance makes it more expensive.
fn measured_nanos_per_unit(units: u64) -> f64 {
    const TRIES: usize = 20;
    let rounds = UNITS_PER_TRY / units;
    (0..TRIES)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..rounds {
                labour(black_box(units));
            }
            start.elapsed().as_nanos() as f64 / (rounds * units) as f64
        })
        .fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_nothing_only_without_units() {
        let nothing = |pre, post| Labour { pre, post }.is_nothing();
        assert_eq!([nothing(0, 0), nothing(1, 0), nothing(0, 1)], [true, false, false]);
    }

    #[test]
    fn does_all_units() {
        let mut results: Vec<u64> = (0..1000).map(labour).collect();
        assert_eq!(results[..4], [0, 0, 2, 2]);
        results.sort_unstable();
        results.dedup();
        assert!(results.len() > 300, "the result depends on the number of units");
    }
}
