//! What executors are given to run, with a proof that they ran all of it.
//!
//! A [`Load`] is a number of *chains*. A producer, a thread that is not part of the executor, gives the first job of a
//! chain to the executor from outside; each job then gives its successor to the executor from inside, until the chain
//! has run its length. [`Relay`] runs loads on one executor and returns the time from the first submission to the end
//! of the last job. What each job does besides is its [`Work`].
//!
//! # The proof, and what it costs
//!
//! A measurement is worth nothing if jobs were lost or the clock stopped early, and little if the bookkeeping costs as
//! much as the executor. So nothing that every job does may write to memory that other threads write to:
//!
//! * Each thread that runs jobs counts them in a tally of its own, with a plain load and a plain store. Done over and
//!   over with nothing in between, this takes 1.3 ns a job (measured on an AMD EPYC at 3.7 GHz).
//! * With many chains ([`CHAINS_COUNTED_DOWN`] or more) only the waiting thread checks whether the end has come. It
//!   adds up the tallies and sleeps for an eighth of the time that the rest should take, again and again, so it looks
//!   about fifty times in a sample of any length, more often towards the end. It may notice the end 0.1 ms late, in
//!   samples that last many milliseconds.
//! * With few chains, where 50 us would be an error, the end of each chain counts a shared number down. The thread that
//!   takes it to zero adds up the tallies, stops the clock and wakes the waiting thread, so the time does not contain
//!   that wake-up.
//!
//! In both cases the clock stops only when the sum of the tallies is the number of jobs, all of them: the jobs from
//! outside and the jobs from inside. If the sum does not grow for a while, the jobs are lost or stuck, and the sample
//! is a [`Failure`](crate::failure::Failure) and not a number.

mod forks;
mod labour;
mod lent;
mod load;
mod meeting;
mod pastime;
mod patience;
mod problem;
mod relay;
mod schedule;
mod score;
mod stream;
mod tasks;
mod work;

pub use self::{
    forks::Forks,
    labour::{Labour, labour, nanos_per_unit},
    load::Load,
    meeting::{BoxedJob, Meeting, assemble},
    pastime::Pastime,
    patience::wait_for,
    problem::{Division, Fib, Problem, Sort, Sorted, solve_alone},
    relay::{Burst, Relay},
    schedule::poisson,
    score::CHAINS_COUNTED_DOWN,
    stream::{Stream, Streamed},
    tasks::{Tasks, Token},
    work::Work,
};
// In this crate only, so that no other can implement `Forker`, which has to keep a promise about it.
pub(crate) use self::forks::Site;
