//! The work that a job does beside passing its chain on.

use std::{hint::black_box, time::Instant};

/// Units of work before and after a job gives its successor to the executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Labour {
    /// Units before.
    pub pre: u64,
    /// Units after.
    pub post: u64,
}

/// Does `units` of work and returns its result.
///
/// A unit is one addition of two `u64`, and the loop around it; about one clock cycle. Every one of them is executed:
/// the optimiser may not know the numbers that are added. Otherwise it would replace the loop by a formula. (Making the
/// numbers depend on each other is not enough: it splits a linear congruential generator into independent lanes, eight
/// steps to the cycle.)
#[inline]
pub fn labour(units: u64) -> u64 {
    let mut sum = 0_u64;
    for number in 0..units {
        sum = sum.wrapping_add(black_box(number));
    }
    black_box(sum)
}

/// What one unit costs on this machine, in nanoseconds, when `units` of them are done at a time: the best of several
/// tries, as everything that disturbs makes it dearer.
pub fn nanos_per_unit(units: u64) -> f64 {
    const TRIES: usize = 20;
    const UNITS_PER_TRY: u64 = 100_000;
    let units = units.clamp(1, UNITS_PER_TRY);
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
    fn adds_what_it_says() {
        assert_eq!(labour(0), 0);
        assert_eq!(labour(5), 10);
        assert_eq!(labour(10_001), 10_000 * 10_001 / 2);
    }
}
