//! A Fibonacci number by its definition: nothing but forks, unless there is a cutoff.

use super::{Division, Problem};

/// The Fibonacci number at an index.
#[derive(Debug, Clone, Copy)]
pub struct Fib {
    /// The index.
    pub index: u32,
    /// Numbers at lower indices are not divided. Two or more.
    pub cutoff: u32,
}

impl Fib {
    /// The highest index of a number that 64 bits can hold.
    pub const LAST: u32 = 93;

    /// The number, calculated in a way that is not measured.
    pub fn expected(&self) -> u64 {
        (0..self.index).fold((0_u64, 1_u64), |(this, next), _| (next, this.wrapping_add(next))).0
    }
}

impl Problem for Fib {
    type Solution = u64;

    #[inline]
    fn divide(self) -> Division<Self> {
        let Fib { index, cutoff } = self;
        if index < cutoff {
            Division::Solved(if index < 2 { u64::from(index) } else { fib(index) })
        } else {
            Division::Parts(Fib { index: index - 1, cutoff }, Fib { index: index - 2, cutoff })
        }
    }

    #[inline]
    fn join(one: u64, other: u64) -> u64 {
        one + other
    }
}

/// Not inlined, so that all executors call the same copy.
#[inline(never)]
fn fib(index: u32) -> u64 {
    if index < 2 { u64::from(index) } else { fib(index - 1) + fib(index - 2) }
}

#[cfg(test)]
mod tests {
    use super::{super::solve_alone, *};

    #[test]
    fn solutions_are_as_expected_wherever_it_is_cut_off() {
        for cutoff in [2, 3, 7, 100] {
            for (index, expected) in [(0, 0), (1, 1), (2, 1), (3, 2), (10, 55), (20, 6765)] {
                let (problem, mut forks) = (Fib { index, cutoff }, 0);
                assert_eq!((solve_alone(problem, &mut forks), problem.expected()), (expected, expected));
                assert_eq!(forks > 0, index >= cutoff, "{problem:?}");
            }
        }
        assert_eq!(Fib { index: Fib::LAST, cutoff: 2 }.expected(), 12_200_160_415_121_876_738);
    }

    #[test]
    fn there_is_a_fork_for_each_number_that_is_not_cut_off() {
        let mut forks = 0;
        solve_alone(Fib { index: 10, cutoff: 2 }, &mut forks);
        assert_eq!(forks, 88);
    }
}
