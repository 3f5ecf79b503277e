//! Quicksort, of numbers that jobs share without copying them.
//!
//! # Why there is a raw pointer here
//!
//! Jobs must be `'static`: they cannot borrow a slice from a caller that waits for them. So the numbers are lent to the
//! [`Sort`] as a `'static` reference, which makes dividing them safe. They are taken back when [`Sorted`] has counted
//! as many as there are, because then no part of them exists any more. If some are missing, the numbers are never
//! freed.

use super::{Division, Problem};
use crate::failure::Failure;

/// Numbers to be sorted.
#[derive(Debug)]
pub struct Sort {
    numbers: &'static mut [u64],
    cutoff: usize,
}

/// How many numbers have been sorted. Only a [`Sort`] that is solved makes one.
#[derive(Debug)]
pub struct Sorted(usize);

impl Sort {
    /// Lets `solve` sort `numbers`, where up to `cutoff` of them are not divided. Returns them, with the other result
    /// of `solve`.
    ///
    /// # Errors
    ///
    /// If `solve` fails, or has not sorted all of them.
    pub(crate) fn lend<T>(
        numbers: Vec<u64>,
        cutoff: usize,
        solve: impl FnOnce(Sort) -> Result<(Sorted, T), Failure>,
    ) -> Result<(Vec<u64>, T), Failure> {
        let length = numbers.len();
        let lent = Box::into_raw(numbers.into_boxed_slice());
        // SAFETY: The pointer is that of a box that is alive, and is not used before the reference is gone.
        let sort = Sort { numbers: unsafe { &mut *lent }, cutoff };
        let (Sorted(sorted), rest) = solve(sort)?;
        if sorted != length {
            return Err(Failure::Wrong(format!("{sorted} of {length} numbers were sorted")));
        }
        // SAFETY: The pointer is from a box, freed nowhere else. Each number is in one part at any time, and the part
        // that counted it was consumed by that. All were counted, so there is no part any more, and so no reference.
        Ok((unsafe { Box::from_raw(lent) }.into_vec(), rest))
    }
}

impl Problem for Sort {
    type Solution = Sorted;

    /// Divides at the median, found by the standard library, so that both parts are about as large.
    fn divide(self) -> Division<Self> {
        let Sort { numbers, cutoff } = self;
        if numbers.len() <= cutoff.max(2) {
            numbers.sort_unstable();
            return Division::Solved(Sorted(numbers.len()));
        }
        let (low, _median, high) = numbers.select_nth_unstable(numbers.len() / 2);
        Division::Parts(Sort { numbers: low, cutoff }, Sort { numbers: high, cutoff })
    }

    /// The median between the parts is in its place already.
    fn join(Sorted(low): Sorted, Sorted(high): Sorted) -> Sorted {
        Sorted(low + 1 + high)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::solve_alone, *};
    use crate::stats::Dice;

    fn numbers(length: usize, limit: u64) -> Vec<u64> {
        let mut dice = Dice::new(0);
        (0..length).map(|_| dice.below(limit)).collect()
    }

    #[test]
    fn numbers_come_back_sorted() {
        for length in [0, 1, 2, 3, 4, 5, 100, 1000] {
            for cutoff in [1, 2, 10, 10_000] {
                for limit in [1, 10, u64::MAX] {
                    let (numbers, mut forks) = (numbers(length, limit), 0);
                    let solve = |sort| Ok((solve_alone(sort, &mut forks), ()));
                    let (sorted, ()) = Sort::lend(numbers.clone(), cutoff, solve).expect("all were sorted");
                    let mut expected = numbers;
                    expected.sort_unstable();
                    assert_eq!(sorted, expected);
                    assert_eq!(forks > 0, length > cutoff.max(2));
                }
            }
        }
    }

    #[test]
    fn numbers_that_were_lost_are_a_failure() {
        let lose = |sort: Sort| match sort.divide() {
            Division::Parts(low, _high) => Ok((solve_alone(low, &mut 0), ())),
            Division::Solved(sorted) => Ok((sorted, ())),
        };
        let failure = Sort::lend(numbers(100, 100), 10, lose).expect_err("half of them are missing");
        assert_eq!(failure.to_string(), "gave a wrong result: 50 of 100 numbers were sorted");
    }
}
