//! Taking samples: in turn, after warm-up, until they are precise enough or the time is up.
//!
//! Executors are sampled in rounds, one sample of each, and never one executor after the other: so whatever else the
//! machine does affects all of them. Every other round goes backwards, so that no executor always runs after the same
//! other one. Each pair of rounds begins with the next executor, so that it is not always the same executors that run
//! twice in a row where the direction changes. Each process begins one round later in this order, because it may have a
//! single sample.
//!
//! A process that has given a few samples which happen to agree would be done too early, so five are taken before their
//! scatter counts. Where the processes differ so much that only further ones can make the error as small as it should
//! be, these follow as long as there is time.

mod leg;
mod pace;
mod series;
#[cfg(test)]
mod tests;

pub use self::{pace::Pace, series::Series};

use self::{
    leg::Leg,
    series::{healthy, samples, worst_error},
};
use crate::{
    clock::Clock,
    experiment::{Subject, Turn},
    failure::Failure,
};
use std::time::Duration;

/// Why sampling stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// The error of every series is small enough.
    Precise,
    /// Another round would exceed the budget.
    Budget,
    /// The least number of samples took more than the budget.
    OverBudget,
    /// Processes of an executor differ, and there is no time for another of each.
    ProcessesDiffer,
    /// As many samples as allowed were taken.
    Enough,
    /// No executor is left.
    NothingLeft,
    /// The watcher wanted it.
    Interrupted,
}

/// Watches the sampling.
pub trait Watcher<S> {
    /// A sample of `executor` begins.
    fn sampling(&mut self, executor: &str);
    /// A round has ended. There are these `series` now, and the relative standard error of the worst is `error`.
    fn round_ended(&mut self, elapsed: Duration, error: f64, series: &[Series<S>]);
    /// Whether to take no further sample.
    fn wants_end(&self) -> bool;
}

/// Lets all `subjects` take `turn` again and again. `clock` must have started with the whole run, because the budget
/// counts from there, and shows the time that counts; the processes share what is left of it now. `seed` is for the
/// test whether they differ. An executor that has no sample in the end has failed.
pub fn sample<T: Turn>(
    pace: &Pace,
    clock: &dyn Clock,
    seed: u64,
    turn: &T,
    subjects: &[Box<dyn Subject<T>>],
    watcher: &mut dyn Watcher<T::Sample>,
) -> (Vec<Series<T::Sample>>, Stopped) {
    let none = |name| {
        let (samples, usages, processes) = (Vec::new(), Vec::new(), Vec::new());
        Series { name, samples, usages, processes, differs: false, failure: None }
    };
    let mut series: Vec<Series<T::Sample>> = subjects.iter().map(|subject| none(subject.name())).collect();
    let mut leg = Leg::first(clock.now());
    let mut round = 0;
    loop {
        let own = turn.of_round(round);
        let turn = own.as_ref().unwrap_or(turn);
        for index in leg.order(subjects.len()) {
            if watcher.wants_end() {
                // One sample of a further process would weigh as much as a whole process.
                let is_void = leg.rounds < pace.warm_up || leg.is_further(pace);
                return (interrupted(series, is_void.then_some(leg.before)), Stopped::Interrupted);
            }
            take_sample(turn, &*subjects[index], leg.process, &mut series[index], watcher);
        }
        round += 1;
        leg.rounds += 1;
        if leg.rounds <= pace.warm_up {
            series.iter_mut().for_each(|series| series.forget_beyond(leg.before));
        }
        let elapsed = clock.now();
        watcher.round_ended(elapsed, worst_error(&series), &series);
        let Some(reason) = leg.verdict(pace, &series, elapsed) else { continue };
        if reason == Stopped::Precise && leg.is_last(pace) {
            series.iter_mut().for_each(|series| series.compare_processes(seed));
        }
        let is_precise = || healthy(&series).all(|series| series.is_precise(pace.target));
        if let Some(stopped) = leg.end(pace, samples(&series), elapsed, reason, is_precise) {
            if reason == Stopped::ProcessesDiffer {
                // The further process had no time for its samples, but would weigh as much as the others.
                series.iter_mut().for_each(|series| series.forget_beyond(leg.before));
            }
            return (series, stopped);
        }
        subjects.iter().for_each(|subject| subject.renew());
        leg = leg.next(samples(&series), elapsed);
    }
}

/// Takes a sample, unless the executor has failed before.
fn take_sample<T: Turn>(
    turn: &T,
    subject: &dyn Subject<T>,
    process: usize,
    series: &mut Series<T::Sample>,
    watcher: &mut dyn Watcher<T::Sample>,
) {
    if series.failure.is_some() {
        return;
    }
    watcher.sampling(series.name);
    match subject.take_metered(turn) {
        Ok((sample, usage)) => {
            series.usages.push(usage);
            series.samples.push(sample);
            series.processes.push(process as u64);
        }
        Err(failure) => series.failure = Some(failure),
    }
}

/// The series after an interrupt. Only the first samples count, if so many are `valid`.
fn interrupted<S>(mut series: Vec<Series<S>>, valid: Option<usize>) -> Vec<Series<S>> {
    for series in &mut series {
        if let Some(valid) = valid {
            series.forget_beyond(valid);
        }
        if series.samples.is_empty() && series.failure.is_none() {
            series.failure = Some(Failure::Interrupted);
        }
    }
    series
}
