//! Problems that are divided until their parts are small, and solved from those: the work of forking and joining.

mod fib;
mod sort;

pub use self::{
    fib::Fib,
    sort::{Sort, Sorted},
};

/// A problem, or a part of one.
pub trait Problem: Send + Sized + 'static {
    /// The solution.
    type Solution: Send + 'static;

    /// Divides it in two, or solves it if it is small.
    fn divide(self) -> Division<Self>;

    /// The solution of a problem from those of its parts.
    fn join(one: Self::Solution, other: Self::Solution) -> Self::Solution;
}

/// What a problem was divided into.
#[derive(Debug)]
pub enum Division<P: Problem> {
    /// It was small.
    Solved(P::Solution),
    /// Two problems, which can be solved in any order, or side by side.
    Parts(P, P),
}

/// Solves `problem` on this thread. Counts in `forks` how often it was divided.
pub fn solve_alone<P: Problem>(problem: P, forks: &mut u64) -> P::Solution {
    match problem.divide() {
        Division::Solved(solution) => solution,
        Division::Parts(one, other) => {
            *forks += 1;
            let one = solve_alone(one, forks);
            P::join(one, solve_alone(other, forks))
        }
    }
}
