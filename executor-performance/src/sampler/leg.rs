use super::{
    Pace, Series, Stopped,
    pace::ENOUGH,
    series::{healthy, samples, worst_error},
};
use crate::experiment::Sample;
use std::time::Duration;

/// The rounds of one process of each executor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leg {
    /// When the first of all legs began.
    begun: Duration,
    /// When this one did.
    began: Duration,
    pub(super) process: usize,
    /// Rounds of this process.
    pub(super) rounds: usize,
    /// Samples of the earlier processes.
    pub(super) before: usize,
    /// Samples of the first process. Each process takes as many, if there is time, so that all weigh the same.
    first: usize,
}

impl Leg {
    pub(super) fn first(now: Duration) -> Self {
        Leg { begun: now, began: now, process: 0, rounds: 0, before: 0, first: 0 }
    }

    /// The order of the subjects in the next round; there are `subjects` of them.
    pub(super) fn order(&self, subjects: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..subjects).collect();
        let round = self.process + self.rounds;
        order.rotate_left(round / 2 % subjects.max(1));
        if !round.is_multiple_of(2) {
            order.reverse();
        }
        order
    }

    /// The leg after this one, when there are so many samples.
    pub(super) fn next(self, samples: usize, now: Duration) -> Self {
        let first = if self.process == 0 { samples } else { self.first };
        Leg { began: now, process: self.process + 1, rounds: 0, before: samples, first, ..self }
    }

    /// Whether this process is the last of those that were asked for, or a further one.
    pub(super) fn is_last(&self, pace: &Pace) -> bool {
        self.process + 1 >= pace.processes
    }

    /// Whether this process is one beyond those that were asked for.
    pub(super) fn is_further(&self, pace: &Pace) -> bool {
        self.process >= pace.processes
    }

    /// How many of the `samples` are of this process.
    fn taken(&self, samples: usize) -> usize {
        samples - self.before
    }

    /// How many samples of this process are wanted before their scatter counts; a further one gives no more.
    fn wanted(&self, pace: &Pace) -> usize {
        if self.is_further(pace) { self.first } else { self.first.max(ENOUGH) }
    }

    /// The part of all samples, and of the time for them, that this process and those before it may take.
    fn part(&self, pace: &Pace) -> f64 {
        ((self.process + 1) as f64 / pace.processes as f64).min(1.0)
    }

    /// Whether that many more rounds, each as long as those of this leg on average, would end after so many seconds.
    fn is_short_of_time(&self, rounds: usize, elapsed: Duration, end: f64) -> bool {
        let round = elapsed.saturating_sub(self.began).as_secs_f64() / self.rounds as f64;
        elapsed.as_secs_f64() + round * rounds as f64 > end
    }

    /// Why this process has given enough samples, if it has; or [`Stopped::ProcessesDiffer`] if it is a further one
    /// that has no time to do so.
    pub(super) fn verdict<S: Sample>(&self, pace: &Pace, series: &[Series<S>], elapsed: Duration) -> Option<Stopped> {
        if healthy(series).next().is_none() {
            return Some(Stopped::NothingLeft);
        }
        let (samples, part) = (samples(series), self.part(pace));
        let (taken, is_precise) = (self.taken(samples), || worst_error(series) <= pace.target);
        let is_full = samples as f64 >= pace.max_samples as f64 * part;
        let (begun, budget) = (self.begun.as_secs_f64(), pace.budget.as_secs_f64());
        let is_over = || self.is_short_of_time(1, elapsed, begun + (budget - begun).max(0.0) * part);
        if self.is_further(pace) {
            let is_enough = taken >= self.wanted(pace);
            let too_late = || is_over().then_some(Stopped::ProcessesDiffer);
            return if is_enough { Some(Stopped::Precise) } else { too_late() };
        }
        if taken < pace.least_samples(self.process) {
            return None;
        }
        let reason = if is_full {
            Stopped::Enough
        } else if is_over() {
            let is_least = samples <= pace.min_samples;
            if is_least && elapsed > pace.budget { Stopped::OverBudget } else { Stopped::Budget }
        } else if taken >= self.wanted(pace) && is_precise() {
            Stopped::Precise
        } else {
            return None;
        };
        Some(if is_precise() { Stopped::Precise } else { reason })
    }

    /// Why no other process follows this one, which has ended for that `reason` when there were so many `samples`. None
    /// if one does. `is_precise` says whether the errors are small enough also if processes differ.
    pub(super) fn end(
        &self,
        pace: &Pace,
        samples: usize,
        elapsed: Duration,
        reason: Stopped,
        is_precise: impl FnOnce() -> bool,
    ) -> Option<Stopped> {
        let another = pace.warm_up.saturating_add(self.first);
        match reason {
            Stopped::NothingLeft => Some(reason),
            _ if !self.is_last(pace) => None,
            Stopped::Precise if is_precise() => Some(reason),
            Stopped::Precise if samples + self.first > pace.max_samples => Some(Stopped::Enough),
            Stopped::Precise if self.is_short_of_time(another, elapsed, pace.budget.as_secs_f64()) => {
                Some(Stopped::ProcessesDiffer)
            }
            Stopped::Precise => None,
            _ => Some(reason),
        }
    }
}
