//! What is solved by forking and joining.

use crate::{
    failure::Failure,
    forker::Forker,
    stats::Dice,
    workload::{Burst, Fib, Forks, Sort, solve_alone},
};
use serde::{Deserialize, Serialize};
use std::{
    hint::black_box,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

/// A problem, as it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Errand {
    /// A Fibonacci number.
    Fib {
        /// Its index.
        index: u32,
        /// Numbers at lower indices are not divided. Two or more.
        cutoff: u32,
    },
    /// Random numbers that are to be sorted.
    Sort {
        /// How many.
        elements: usize,
        /// Up to this many numbers are not divided. Two or more.
        cutoff: usize,
        /// The seed of the numbers, the same for all executors.
        seed: u64,
    },
}

/// An errand that was run without an executor.
#[derive(Debug)]
pub(super) struct Alone {
    /// How many jobs it would have been: one for each fork, and the first.
    jobs: u64,
    /// The sorted numbers, if there were numbers to sort.
    sorted: Vec<u64>,
    /// How long it took.
    pub(super) time: Duration,
}

impl Errand {
    /// The names of all.
    pub const NAMES: [&str; 2] = ["fib", "sort"];

    /// Its name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Errand::Fib { .. } => Self::NAMES[0],
            Errand::Sort { .. } => Self::NAMES[1],
        }
    }

    /// What is to be done.
    pub fn summary(self) -> String {
        match self {
            Errand::Fib { index, cutoff } => format!("the number of Fibonacci at {index}; below {cutoff}, no forks"),
            Errand::Sort { elements, cutoff, .. } => {
                format!("quicksort of {elements} random numbers; up to {cutoff}, no forks")
            }
        }
    }

    /// Whether there is anything to divide.
    pub fn forks(self) -> bool {
        match self {
            Errand::Fib { index, cutoff } => index >= cutoff,
            Errand::Sort { elements, cutoff, .. } => elements > cutoff,
        }
    }

    /// How much there is to do, and how little is not divided.
    pub(super) fn size_and_cutoff(self) -> (u64, u64) {
        match self {
            Errand::Fib { index, cutoff } => (index.into(), cutoff.into()),
            Errand::Sort { elements, cutoff, .. } => (elements as u64, cutoff as u64),
        }
    }

    /// Runs it on one thread, with the same calls except those of an executor. It runs twice, and the second time
    /// counts, as with an executor. If the two take longer than twice the `patience`, the thread is left to run,
    /// because nothing in it looks at the clock.
    pub(super) fn run_alone(self, patience: Duration) -> Result<Alone, Failure> {
        let (sender, alone) = mpsc::channel();
        let run = move || sender.send(self.run_here().and_then(|_warm_up| self.run_here()));
        thread::Builder::new().name("alone".to_owned()).spawn(run).map_err(Failure::Producer)?;
        let option = match self {
            Errand::Fib { .. } => "--fib",
            Errand::Sort { .. } => "--elements",
        };
        alone.recv_timeout(patience.saturating_mul(2)).map_err(|why| match why {
            RecvTimeoutError::Timeout => Failure::TooLarge { option, patience },
            RecvTimeoutError::Disconnected => Failure::Faulty,
        })?
    }

    fn run_here(self) -> Result<Alone, Failure> {
        let mut forks = 0;
        let (sorted, time) = match self {
            Errand::Fib { index, cutoff } => {
                let began = Instant::now();
                black_box(solve_alone(black_box(Fib { index, cutoff }), &mut forks));
                (Vec::new(), began.elapsed())
            }
            Errand::Sort { elements, cutoff, seed } => Sort::lend(random(elements, seed), cutoff, |sort| {
                let began = Instant::now();
                Ok((solve_alone(sort, &mut forks), began.elapsed()))
            })?,
        };
        Ok(Alone { jobs: forks + 1, sorted, time })
    }

    /// Runs it with `forks`. The result must be right, and the same as when it ran `alone`.
    pub(super) fn run<F: Forker>(self, forks: &mut Forks<F>, alone: &Alone) -> Result<Burst, Failure> {
        match self {
            Errand::Fib { index, cutoff } => {
                let problem = Fib { index, cutoff };
                let (number, burst) = forks.solve(problem, alone.jobs)?;
                let expected = problem.expected();
                if number == expected {
                    Ok(burst)
                } else {
                    Err(Failure::Wrong(format!("fib({index}) is {expected} and not {number}")))
                }
            }
            Errand::Sort { elements, cutoff, seed } => {
                let solve = |sort| forks.solve(sort, alone.jobs);
                let (sorted, burst) = Sort::lend(random(elements, seed), cutoff, solve)?;
                if sorted.is_sorted() && sorted == alone.sorted {
                    Ok(burst)
                } else {
                    Err(Failure::Wrong("the numbers are not those that were there, in order".to_owned()))
                }
            }
        }
    }
}

fn random(elements: usize, seed: u64) -> Vec<u64> {
    let mut dice = Dice::new(seed);
    (0..elements).map(|_| dice.below(u64::MAX)).collect()
}
