//! Solving problems on an executor, whose jobs fork and join.
//!
//! A job that forks must reach the executor. So each has a [`Site`], which has the executor [on loan](super::lent).
//! Only the jobs of one problem have its sites, and each job is done with its site before it gives its solution to the
//! job that waits for that. So when the problem is solved, there are no sites left.

use super::{
    lent::{Lent, Loan},
    problem::Problem,
    relay::Burst,
};
use crate::{
    clock::{cpu_time, difference},
    failure::Failure,
    forker::Forker,
};
use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{self, RecvTimeoutError},
    time::{Duration, Instant},
};

/// Solves problems on one executor.
pub struct Forks<F> {
    forker: Lent<F>,
    /// Whether sites may exist.
    in_use: bool,
    patience: Duration,
}

/// Where a problem is being solved.
pub struct Site<F>(Loan<F>);

impl<F: Forker> Forks<F> {
    /// Lets `forker` solve problems. A problem that is not solved within `patience` counts as one that never will be.
    pub fn new(forker: F, patience: Duration) -> Self {
        Forks { forker: Lent::new(forker), in_use: false, patience }
    }

    /// Gives `problem` to the executor and waits for the solution. That takes `jobs` jobs in all.
    ///
    /// # Errors
    ///
    /// If there is none. Then the forks must not be used any more.
    pub fn solve<P: Problem>(&mut self, problem: P, jobs: u64) -> Result<(P::Solution, Burst), Failure> {
        assert!(!self.in_use, "forks that failed cannot be used again");
        self.in_use = true;
        let solved = self.try_solve(problem, jobs);
        if solved.is_ok() {
            self.in_use = false;
        } else {
            // Lets workers end that would disturb what is measured next.
            self.forker.get().shutdown_async();
        }
        solved
    }

    fn try_solve<P: Problem>(&self, problem: P, jobs: u64) -> Result<(P::Solution, Burst), Failure> {
        let (sender, solutions) = mpsc::channel();
        let (cpu, started) = (cpu_time(), Instant::now());
        // If it comes too late, the receiver is gone.
        let done = move |solution| drop(sender.send((solution, Instant::now())));
        let site = Site(self.forker.loan());
        catch_unwind(AssertUnwindSafe(|| F::solve(site, Box::new(problem), done))).map_err(|_| Failure::Submission)?;
        let submitting = started.elapsed();
        let (solution, ended) = solutions.recv_timeout(self.patience).map_err(|why| match why {
            RecvTimeoutError::Timeout => Failure::Unsolved { patience: self.patience },
            RecvTimeoutError::Disconnected => Failure::Wrong("none, as a job was lost".to_owned()),
        })?;
        let (wall, cpu) = (ended.duration_since(started), difference(cpu_time(), cpu));
        Ok((solution, Burst { jobs, started, submitting, wall, cpu, idle: Duration::ZERO, idle_cpu: None }))
    }

    /// Shuts the executor down.
    ///
    /// # Errors
    ///
    /// If it does not shut down.
    pub fn finish(self) -> Result<(), Failure> {
        assert!(!self.in_use, "forks that failed cannot be finished");
        // SAFETY: Only sites have loans, and there are none, because all problems were solved. What jobs did with their
        // sites happened before: each gave its solution to the job that waited for it, and the last one its own to
        // `try_solve` through a channel.
        let forker = unsafe { self.forker.take_back() };
        forker.shutdown().map_err(Failure::Shutdown)
    }
}

impl<F> Site<F> {
    /// The executor.
    pub fn executor(&self) -> &F {
        // SAFETY: The executor is taken back only after all problems were solved, and the job that has this site works
        // on one.
        unsafe { self.0.get() }
    }
}

impl<F> Clone for Site<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Site<F> {}

impl<F> fmt::Debug for Forks<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forks").field("in_use", &self.in_use).finish_non_exhaustive()
    }
}

impl<F> fmt::Debug for Site<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Division, Fib, Sort};
    use executors::{crossbeam_channel_pool, crossbeam_workstealing_pool};
    use std::thread;

    const LONG: Duration = Duration::from_secs(60);

    fn solves<F: Forker>(forker: F) {
        let mut forks = Forks::new(forker, LONG);
        for cutoff in [2, 5, 100] {
            let problem = Fib { index: 15, cutoff };
            assert_eq!(forks.solve(problem, 1).expect("solved").0, 610);
        }
        let numbers = (0..10_000).rev().collect();
        let (sorted, _) = Sort::lend(numbers, 10, |sort| forks.solve(sort, 1)).expect("sorted");
        assert!(sorted.into_iter().eq(0..10_000));
        forks.finish().expect("shut down");
    }

    #[test]
    fn solves_problems_with_one_thread_and_with_more() {
        for threads in [1, 3] {
            solves(crossbeam_channel_pool::ThreadPool::new(threads));
            solves(crossbeam_workstealing_pool::small_pool(threads));
        }
    }

    /// Has no solution.
    struct Hopeless(fn());

    impl Problem for Hopeless {
        type Solution = ();

        fn divide(self) -> Division<Self> {
            (self.0)();
            Division::Solved(())
        }

        fn join((): (), (): ()) {}
    }

    #[test]
    fn a_job_that_is_lost_is_a_failure_and_not_a_number() {
        let mut forks = Forks::new(crossbeam_channel_pool::ThreadPool::new(1), LONG);
        let failure = forks.solve(Hopeless(|| panic!("as the test wants it")), 1).expect_err("it panics");
        assert!(matches!(failure, Failure::Wrong(_)), "{failure}");
    }

    #[test]
    fn a_problem_that_takes_too_long_is_given_up() {
        let mut forks = Forks::new(crossbeam_channel_pool::ThreadPool::new(1), Duration::from_millis(1));
        let failure = forks.solve(Hopeless(|| thread::sleep(Duration::from_millis(200))), 1).expect_err("it sleeps");
        assert!(matches!(failure, Failure::Unsolved { .. }), "{failure}");
    }
}
