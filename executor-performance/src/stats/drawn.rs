//! Intervals by the bootstrap: of the results if samples are drawn anew.

use super::Interval;

/// How many times samples are drawn anew.
const DRAWS: usize = 1000;

/// How many of these are outside the interval at each end: 2.5 %.
const OUTSIDE: usize = DRAWS / 40;

/// The interval that has 95 % of the numbers that `draw` gives, if it draws anew each time.
pub(super) fn interval(mut draw: impl FnMut() -> f64) -> Interval {
    let mut numbers: Vec<f64> = (0..DRAWS).map(|_| draw()).collect();
    numbers.sort_by(f64::total_cmp);
    Interval { low: numbers[OUTSIDE], high: numbers[DRAWS - 1 - OUTSIDE] }
}
