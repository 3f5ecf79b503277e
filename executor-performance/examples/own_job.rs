//! Which executor suits a job of one's own?
//!
//! Here it is one that sorts the words of a text. Two of three jobs are submitted by the job before, as when one
//! request leads to others. Copy this file into a program of yours, and let `job` do what your jobs do.
//!
//! `cargo run --release -p executor-performance --example own_job -- [SECONDS]`

use executor_performance::advice::Advice;
use std::{env, error::Error, hint::black_box, time::Duration};

const TEXT: &str = "the quick brown fox jumps over the lazy dog and runs away before it wakes up";

fn job() {
    // The optimiser does not know what is in a black box, so it can leave nothing out.
    let mut words: Vec<&str> = black_box(TEXT).split(' ').collect();
    words.sort_unstable();
    black_box(words);
}

/// Measures for about as long as `budget`.
pub(crate) fn advice(budget: Duration) -> Result<Advice, String> {
    executor_performance::measure(job).successors(2).budget(budget).recommend()
}

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = env::args().nth(1).map_or(Ok(20.0), |seconds| seconds.parse())?;
    print!("{}", advice(Duration::try_from_secs_f64(seconds)?)?);
    Ok(())
}
