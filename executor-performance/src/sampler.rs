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

use crate::{
    clock::Clock,
    experiment::{Sample, Subject, Turn, costs, relative_error},
    failure::Failure,
    stats,
    usage::Usage,
};
use std::time::Duration;

/// How much is sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Rounds of each process that are discarded.
    pub warm_up: usize,
    /// The minimum number of samples.
    pub min_samples: usize,
    /// The maximum number of samples.
    pub max_samples: usize,
    /// Processes of each executor, one after the other; not more than `min_samples`. More follow if these differ and
    /// there is time.
    pub processes: usize,
    /// The relative standard error that is small enough, as a fraction.
    pub target: f64,
    /// Time after which no round is to end, once there are `min_samples`.
    pub budget: Duration,
}

impl Pace {
    /// After this many samples, intervals are usually small.
    const GOOD_SAMPLES: usize = 10;

    /// For this many processes more than were asked for there should be time, if these differ.
    const SPARE: usize = 2;

    /// Of fewer processes it is not known how much they differ.
    const SEVERAL: usize = 3;

    /// The longest time that a round may take if the minimum number of rounds is to fit into the budget.
    pub fn longest_round(&self) -> Duration {
        self.share(self.least_rounds())
    }

    /// The time that a round should take if that can be chosen.
    pub fn good_round(&self) -> Duration {
        let rounds = if self.processes < Self::SEVERAL {
            self.warm_up_rounds().saturating_add(Self::GOOD_SAMPLES)
        } else {
            (self.processes.saturating_add(Self::SPARE)).saturating_mul(self.warm_up.saturating_add(ENOUGH))
        };
        self.share(rounds.clamp(self.least_rounds(), self.warm_up_rounds().saturating_add(self.max_samples)))
    }

    /// A tenth of the budget is for what is not sampling: trying out, building, shutting down.
    fn share(&self, rounds: usize) -> Duration {
        self.budget.mul_f64(0.9 / rounds as f64)
    }

    /// The minimum number of samples of this process: those of all processes add up to `min_samples`, and are as equal
    /// as possible.
    fn least_samples(&self, process: usize) -> usize {
        let of_the_first = |processes| self.min_samples.saturating_mul(processes).div_ceil(self.processes);
        of_the_first(process + 1) - of_the_first(process)
    }

    /// Rounds that are discarded, of all processes.
    fn warm_up_rounds(&self) -> usize {
        self.warm_up.saturating_mul(self.processes)
    }

    /// The budget, for people.
    pub fn budget_in_seconds(&self) -> f64 {
        // Milliseconds are more than enough: parts of a budget are no round numbers.
        (self.budget.as_secs_f64() * 1e3).round() / 1e3
    }

    /// The minimum number of rounds, of all processes.
    pub fn least_rounds(&self) -> usize {
        self.warm_up_rounds().saturating_add(self.min_samples)
    }
}

/// Fewer samples of a process may agree by chance.
const ENOUGH: usize = 5;

/// The samples of one executor.
#[derive(Debug)]
pub struct Series<S> {
    /// The executor's name.
    pub name: &'static str,
    /// The samples, in order, without the warm-up.
    pub samples: Vec<S>,
    /// What the process used for each.
    pub usages: Vec<Usage>,
    /// Which process gave each: the first is 0.
    pub processes: Vec<u64>,
    /// Whether it has been seen that these differ. Then a test that no longer finds it ends nothing.
    pub differs: bool,
    /// Why there are no more, if the executor failed.
    pub failure: Option<Failure>,
}

impl<S: Sample> Series<S> {
    /// The relative standard error of the samples so far, as a fraction.
    pub fn relative_error(&self) -> f64 {
        relative_error(&self.samples)
    }

    /// Looks whether the processes differ. `seed` is for that test.
    fn compare_processes(&mut self, seed: u64) {
        self.differs = self.differs || stats::differ(&costs(&self.samples), &self.processes, seed);
    }

    /// Whether the error is at most `target`, which is that of processes if these differ.
    fn is_precise(&self, target: f64) -> bool {
        let error = stats::error(&costs(&self.samples), &self.processes, self.differs);
        // Of nothing but zeros it is not a number.
        error.is_nan() || error <= target
    }
}

impl<S> Series<S> {
    /// Forgets all but the first `samples` samples.
    fn forget_beyond(&mut self, samples: usize) {
        self.samples.truncate(samples);
        self.usages.truncate(samples);
        self.processes.truncate(samples);
    }
}

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

/// The rounds of one process of each executor.
#[derive(Debug, Clone, Copy)]
struct Leg {
    /// When the first of all legs began.
    begun: Duration,
    /// When this one did.
    began: Duration,
    process: usize,
    /// Rounds of this process.
    rounds: usize,
    /// Samples of the earlier processes.
    before: usize,
    /// Samples of the first process. Each process takes as many, if there is time, so that all weigh the same.
    first: usize,
}

impl Leg {
    fn first(now: Duration) -> Self {
        Leg { begun: now, began: now, process: 0, rounds: 0, before: 0, first: 0 }
    }

    /// The order of the subjects in the next round; there are `subjects` of them.
    fn order(&self, subjects: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..subjects).collect();
        let round = self.process + self.rounds;
        order.rotate_left(round / 2 % subjects.max(1));
        if !round.is_multiple_of(2) {
            order.reverse();
        }
        order
    }

    /// The leg after this one, when there are so many samples.
    fn next(self, samples: usize, now: Duration) -> Self {
        let first = if self.process == 0 { samples } else { self.first };
        Leg { began: now, process: self.process + 1, rounds: 0, before: samples, first, ..self }
    }

    /// Whether this process is the last of those that were asked for, or a further one.
    fn is_last(&self, pace: &Pace) -> bool {
        self.process + 1 >= pace.processes
    }

    /// Whether this process is one beyond those that were asked for.
    fn is_further(&self, pace: &Pace) -> bool {
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
    fn verdict<S: Sample>(&self, pace: &Pace, series: &[Series<S>], elapsed: Duration) -> Option<Stopped> {
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
    fn end(
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

/// How many samples there are of each executor that has not failed.
fn samples<S>(series: &[Series<S>]) -> usize {
    healthy(series).next().map_or(0, |series| series.samples.len())
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

fn healthy<S>(series: &[Series<S>]) -> impl Iterator<Item = &Series<S>> {
    series.iter().filter(|series| series.failure.is_none())
}

fn worst_error<S: Sample>(series: &[Series<S>]) -> f64 {
    healthy(series).map(Series::relative_error).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::mock::ManualClock;
    use serde::{Deserialize, Serialize};
    use std::{
        cell::{Cell, RefCell},
        rc::Rc,
    };

    const PACE: Pace = Pace {
        warm_up: 1,
        min_samples: 3,
        max_samples: 20,
        processes: 1,
        target: 0.01,
        budget: Duration::from_secs(100),
    };

    /// A machine on which every turn takes as many seconds as the subject's script says.
    #[derive(Debug, Default)]
    struct Machine {
        clock: ManualClock,
        order: RefCell<Vec<&'static str>>,
    }

    /// Takes the scripted seconds in turn, over and over; fails at a zero.
    #[derive(Debug)]
    struct Scripted {
        name: &'static str,
        seconds: Vec<u64>,
        turns: Cell<usize>,
        machine: Rc<Machine>,
    }

    #[derive(Debug, Serialize, Deserialize)]
    struct Seconds(u64);

    impl Sample for Seconds {
        fn cost(&self) -> f64 {
            self.0 as f64
        }
    }

    #[derive(Debug, Serialize, Deserialize)]
    struct NoTurn;

    impl Turn for NoTurn {
        type Sample = Seconds;
    }

    impl Subject<NoTurn> for Scripted {
        fn name(&self) -> &'static str {
            self.name
        }

        fn take(&self, _: &NoTurn) -> Result<Seconds, Failure> {
            let turn = self.turns.replace(self.turns.get() + 1);
            self.machine.order.borrow_mut().push(self.name);
            let seconds = self.seconds[turn % self.seconds.len()];
            self.machine.clock.advance(Duration::from_secs(seconds));
            if seconds == 0 { Err(Failure::Shutdown("as scripted".to_owned())) } else { Ok(Seconds(seconds)) }
        }

        fn renew(&self) {
            self.machine.order.borrow_mut().push("renewed");
        }
    }

    /// Wants the end after this many samples.
    struct Limit(u32);

    impl Watcher<Seconds> for Limit {
        fn sampling(&mut self, _executor: &str) {
            self.0 -= 1;
        }

        fn round_ended(&mut self, _elapsed: Duration, _error: f64, _series: &[Series<Seconds>]) {}

        fn wants_end(&self) -> bool {
            self.0 == 0
        }
    }

    fn run(pace: Pace, scripts: &[(&'static str, &[u64])]) -> (Vec<Series<Seconds>>, Stopped, Rc<Machine>) {
        run_until(u32::MAX, pace, scripts)
    }

    fn run_until(
        limit: u32,
        pace: Pace,
        scripts: &[(&'static str, &[u64])],
    ) -> (Vec<Series<Seconds>>, Stopped, Rc<Machine>) {
        let machine = Rc::<Machine>::default();
        let subjects: Vec<Box<dyn Subject<NoTurn>>> = scripts
            .iter()
            .map(|&(name, seconds)| {
                let (seconds, turns, machine) = (seconds.to_vec(), Cell::new(0), Rc::clone(&machine));
                Box::new(Scripted { name, seconds, turns, machine }) as Box<dyn Subject<NoTurn>>
            })
            .collect();
        let (series, stopped) = sample(&pace, &machine.clock, 0, &NoTurn, &subjects, &mut Limit(limit));
        (series, stopped, machine)
    }

    fn seconds(series: &Series<Seconds>) -> Vec<f64> {
        series.samples.iter().map(Sample::cost).collect()
    }

    #[test]
    fn takes_turns_back_and_forth() {
        let (_, _, machine) = run(PACE, &[("a", &[1]), ("b", &[2]), ("c", &[3])]);
        let rounds = ["a", "b", "c", "c", "b", "a", "b", "c", "a", "a", "c", "b"];
        assert_eq!(machine.order.borrow()[..12], rounds);
    }

    #[test]
    fn single_samples_of_processes_come_in_different_orders() {
        let pace = Pace { max_samples: 3, processes: 3, ..PACE };
        let (series, _, machine) = run(pace, &[("a", &[1]), ("b", &[2]), ("c", &[3])]);
        assert_eq!(series[0].processes, [0, 1, 2]);
        let order = machine.order.borrow();
        let taken: Vec<&str> = order.iter().copied().filter(|&event| event != "renewed").collect();
        let sampled: Vec<String> = taken.chunks(3).skip(1).step_by(2).map(<[&str]>::concat).collect();
        assert_eq!(sampled, ["cba", "bca", "acb"]);
    }

    #[test]
    fn throws_the_warm_up_away() {
        let (series, ..) = run(PACE, &[("a", &[9, 1, 1, 1, 1, 1])]);
        assert_eq!(seconds(&series[0]), [1.0; 5]);
        let (series, ..) = run(Pace { warm_up: 0, ..PACE }, &[("a", &[9, 9, 9, 9, 9, 1])]);
        assert_eq!(seconds(&series[0]), [9.0; 5]);
    }

    #[test]
    fn stops_when_every_series_is_precise() {
        let (series, stopped, _) = run(PACE, &[("steady", &[1]), ("steadier", &[2])]);
        assert_eq!(stopped, Stopped::Precise);
        assert_eq!(series[0].samples.len(), ENOUGH);

        let settles: &[u64] = &[5, 1, 2, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2];
        let (series, stopped, _) = run(Pace { target: 0.1, ..PACE }, &[("steady", &[1]), ("settles", settles)]);
        assert_eq!(stopped, Stopped::Precise);
        assert_eq!(series[0].samples.len(), series[1].samples.len());
        assert!(series[1].samples.len() > ENOUGH);
    }

    #[test]
    fn stops_before_the_round_that_would_break_the_budget() {
        let (series, stopped, machine) = run(PACE, &[("restless", &[5, 10]), ("nervous", &[10, 5])]);
        assert_eq!(stopped, Stopped::Budget);
        assert_eq!(machine.clock.now(), Duration::from_secs(6 * 15));
        assert_eq!(series[0].samples.len(), 5);
    }

    #[test]
    fn takes_the_least_samples_whatever_the_budget() {
        let (series, stopped, _) = run(Pace { budget: Duration::from_secs(1), ..PACE }, &[("restless", &[50, 100])]);
        assert_eq!(stopped, Stopped::OverBudget);
        assert_eq!(series[0].samples.len(), PACE.min_samples);
    }

    #[test]
    fn stops_when_enough() {
        let (series, stopped, _) = run(Pace { max_samples: 4, ..PACE }, &[("restless", &[1, 2])]);
        assert_eq!((series[0].samples.len(), stopped), (4, Stopped::Enough));
    }

    #[test]
    fn goes_on_without_an_executor_that_fails() {
        let (series, stopped, machine) = run(PACE, &[("a", &[1]), ("fails", &[1, 1, 0])]);
        assert_eq!(stopped, Stopped::Precise);
        assert_eq!(series[0].samples.len(), ENOUGH);
        assert!(series[1].failure.is_some());
        assert_eq!(machine.order.borrow().iter().filter(|name| **name == "fails").count(), 3);
    }

    #[test]
    fn keeps_what_there_is_when_it_is_interrupted() {
        let (series, stopped, _) = run_until(5, PACE, &[("a", &[1]), ("b", &[2])]);
        assert_eq!(stopped, Stopped::Interrupted);
        assert_eq!(series.iter().map(|series| (series.samples.len(), series.usages.len())).max(), Some((2, 2)));
        assert!(series.iter().all(|series| series.failure.is_none()));

        let (series, stopped, _) = run_until(1, PACE, &[("a", &[1]), ("b", &[2])]);
        assert_eq!(stopped, Stopped::Interrupted);
        assert!(series.iter().all(|series| matches!(series.failure, Some(Failure::Interrupted))));
    }

    #[test]
    fn stops_when_all_fail() {
        let (_, stopped, _) = run(PACE, &[("a", &[0]), ("b", &[0])]);
        assert_eq!(stopped, Stopped::NothingLeft);
    }

    #[test]
    fn every_process_warms_up_and_gives_as_many_samples() {
        let pace = Pace { min_samples: 4, max_samples: 4, processes: 2, ..PACE };
        let (series, stopped, machine) = run(pace, &[("a", &[9, 1, 1, 8, 1, 1]), ("fails", &[1, 1, 0])]);
        assert_eq!(stopped, Stopped::Precise);
        assert_eq!(seconds(&series[0]), [1.0; 4]);
        assert_eq!(series[0].processes, [0, 0, 1, 1]);
        assert!(machine.order.borrow().iter().filter(|name| **name == "renewed").count() == 2, "{machine:?}");
    }

    #[test]
    fn processes_among_which_samples_cannot_be_divided_evenly_give_no_more() {
        for (least, most, expected) in [(5, 5, [0, 0, 1, 1, 2]), (4, 5, [0, 0, 1, 1, 2]), (3, 5, [0, 0, 1, 1, 2])] {
            let pace = Pace { min_samples: least, max_samples: most, processes: 3, ..PACE };
            let (series, stopped, _) = run(pace, &[("restless", &[1, 2])]);
            assert_eq!((&series[0].processes[..], stopped), (&expected[..], Stopped::Enough), "{least}, {most}");
        }
        let (series, ..) = run(Pace { min_samples: 4, processes: 3, target: 1.0, ..PACE }, &[("steady", &[1])]);
        assert_eq!(samples_of_processes(&series[0]), [ENOUGH; 3], "all weigh the same if there is time");
    }

    fn samples_of_processes(series: &Series<Seconds>) -> Vec<usize> {
        series.processes.chunk_by(|a, b| a == b).map(<[u64]>::len).collect()
    }

    #[test]
    fn a_few_samples_that_happen_to_agree_do_not_end_the_first_process() {
        let script: Vec<u64> = [4, 4, 4].into_iter().chain((0..97).map(|sample| 1 + sample % 8)).collect();
        let pace = Pace { warm_up: 0, processes: 3, target: 0.2, budget: Duration::from_secs(1000), ..PACE };
        let (series, ..) = run(pace, &[("by chance", &script)]);
        assert!(samples_of_processes(&series[0]).iter().all(|count| *count >= ENOUGH), "{series:?}");
    }

    /// Each process of one executor gives five samples that agree, as `mood` says; the other one is steady.
    fn moody(pace: Pace, mood: fn(u64) -> u64) -> (Series<Seconds>, Stopped) {
        let script: Vec<u64> = (0..5 * 40).map(|sample| mood(sample / 5)).collect();
        let (mut series, stopped, _) = run(pace, &[("moody", &script), ("steady", &[1])]);
        (series.remove(0), stopped)
    }

    /// The first is unlike the others.
    fn first_is_worst(process: u64) -> u64 {
        if process == 0 { 30 } else { 20 + process % 2 }
    }

    const MOODY: Pace =
        Pace { warm_up: 0, max_samples: 200, processes: 3, target: 0.1, budget: Duration::from_secs(10_000), ..PACE };

    #[test]
    fn processes_follow_until_they_are_precise_too() {
        let (series, stopped) = moody(MOODY, first_is_worst);
        let processes = samples_of_processes(&series);
        assert_eq!(stopped, Stopped::Precise);
        assert!(processes.len() > 3 && processes.iter().all(|count| *count == ENOUGH), "{processes:?}");
        let (costs, error) = (costs(&series.samples), |costs: &[f64]| stats::error(costs, &series.processes, true));
        assert!(stats::differ(&costs, &series.processes, 0) && error(&costs) <= MOODY.target, "{series:?}");
    }

    #[test]
    fn a_process_that_follows_gives_no_more_samples_than_the_first() {
        let (series, stopped) =
            moody(Pace { target: 0.02, ..MOODY }, |process| 20 + process % 3 + 10 * (process / 3 % 2));
        let processes = samples_of_processes(&series);
        assert_eq!((processes.len(), stopped), (40, Stopped::Enough));
        assert!(processes.iter().all(|count| *count == ENOUGH), "{processes:?}");
    }

    #[test]
    fn no_process_follows_that_would_exceed_the_budget() {
        let (series, stopped) = moody(Pace { budget: Duration::from_secs(470), ..MOODY }, first_is_worst);
        assert_eq!((samples_of_processes(&series), stopped), (vec![ENOUGH; 3], Stopped::ProcessesDiffer));
    }

    #[test]
    fn a_process_that_follows_and_has_no_time_does_not_count() {
        let pace = Pace { budget: Duration::from_secs(900), ..MOODY };
        let (series, stopped) = moody(pace, |process| if process < 3 { first_is_worst(process) } else { 200 });
        assert_eq!((samples_of_processes(&series), stopped), (vec![ENOUGH; 3], Stopped::ProcessesDiffer));
    }

    #[test]
    fn no_process_follows_beyond_the_most_samples() {
        let (series, stopped) = moody(Pace { max_samples: 17, ..MOODY }, first_is_worst);
        assert_eq!((samples_of_processes(&series), stopped), (vec![ENOUGH; 3], Stopped::Enough));
    }

    #[test]
    fn two_processes_do_not_tell_how_much_others_differ() {
        let (series, stopped) = moody(Pace { processes: 2, ..MOODY }, first_is_worst);
        assert_eq!((samples_of_processes(&series), stopped), (vec![ENOUGH; 2], Stopped::Precise));
    }

    #[test]
    fn processes_follow_though_an_executor_fails() {
        let script: Vec<u64> = (0..5 * 40).map(|sample| first_is_worst(sample / 5)).collect();
        let fails: Vec<u64> = (0..17).map(|sample| u64::from(sample < 16)).collect();
        let (series, stopped, _) = run(MOODY, &[("fails", &fails), ("moody", &script)]);
        assert_eq!(stopped, Stopped::Precise);
        assert!(series[0].failure.is_some());
        assert_eq!(samples_of_processes(&series[1]), [ENOUGH; 4]);
    }

    #[test]
    fn rounds_that_were_fitted_leave_time_for_enough_samples_and_for_further_processes() {
        let pace = Pace { warm_up: 1, processes: 5, target: 0.02, ..MOODY };
        let round = pace.good_round().as_secs();
        let (series, stopped, machine) = run(pace, &[("fitted", &[round])]);
        assert_eq!((samples_of_processes(&series[0]), stopped), (vec![ENOUGH; 5], Stopped::Precise));
        let left = pace.budget - machine.clock.now();
        assert!(left >= 2 * machine.clock.now() / 5, "{left:?} for two more processes");
    }

    #[test]
    fn processes_that_have_differed_are_not_precise_because_a_test_does_not_find_it_any_more() {
        let samples = [10, 10, 12, 12].map(Seconds).into_iter().collect();
        let (name, usages, processes) = ("moody", Vec::new(), vec![0, 1, 2, 3]);
        let mut series = Series { name, samples, usages, processes, differs: false, failure: None };
        series.compare_processes(0);
        assert!(!series.differs && series.is_precise(0.053));
        series.differs = true;
        series.compare_processes(0);
        assert!(series.differs && !series.is_precise(0.0525));
    }

    #[test]
    fn an_interrupt_of_a_further_process_keeps_what_was_before() {
        let script: Vec<u64> = (0..5 * 40).map(|sample| first_is_worst(sample / 5)).collect();
        let (series, stopped, _) = run_until(17, MOODY, &[("moody", &script)]);
        assert_eq!((samples_of_processes(&series[0]), stopped), (vec![ENOUGH; 3], Stopped::Interrupted));
    }

    #[test]
    fn what_is_precise_when_the_time_is_over_is_precise() {
        let pace = Pace { target: 0.3, budget: Duration::from_secs(9), ..PACE };
        let (series, stopped, _) = run(pace, &[("steady", &[2])]);
        assert_eq!((series[0].samples.len(), stopped), (3, Stopped::Precise));
    }

    #[test]
    fn what_passed_before_is_for_no_process() {
        let machine = Rc::<Machine>::default();
        machine.clock.advance(Duration::from_secs(60));
        let script =
            Scripted { name: "restless", seconds: vec![1, 2], turns: Cell::default(), machine: Rc::clone(&machine) };
        let pace = Pace { warm_up: 0, min_samples: 2, max_samples: 100, processes: 2, ..PACE };
        let subjects: Vec<Box<dyn Subject<NoTurn>>> = vec![Box::new(script)];
        let (series, stopped) = sample(&pace, &machine.clock, 0, &NoTurn, &subjects, &mut Limit(u32::MAX));
        assert_eq!(stopped, Stopped::Budget);
        let processes = samples_of_processes(&series[0]);
        assert!(processes[0].abs_diff(processes[1]) <= 2, "{processes:?}");
    }

    #[test]
    fn no_number_is_too_large() {
        let pace = Pace { budget: Duration::MAX, max_samples: 4, ..PACE };
        let (series, ..) = run(pace, &[("restless", &[1, 2])]);
        assert_eq!(series[0].samples.len(), 4);
        let pace = Pace { warm_up: usize::MAX, processes: 3, min_samples: usize::MAX, ..pace };
        assert_eq!(pace.least_rounds(), usize::MAX);
        assert!(pace.longest_round() < PACE.longest_round());
    }

    #[test]
    fn processes_share_the_budget() {
        let pace = Pace { warm_up: 0, min_samples: 2, processes: 2, ..PACE };
        let (series, stopped, machine) = run(pace, &[("restless", &[10, 5])]);
        assert_eq!(stopped, Stopped::Budget);
        assert!(machine.clock.now() <= PACE.budget && series[0].samples.len() > 10);
        let first = series[0].processes.iter().filter(|process| **process == 0).count();
        assert!((6..=7).contains(&first), "{series:?}");
    }

    #[test]
    fn an_interrupt_in_a_later_warm_up_keeps_what_was_before() {
        let pace = Pace { warm_up: 1, min_samples: 2, processes: 2, target: 1.0, ..PACE };
        let (series, stopped, _) = run_until(5, Pace { max_samples: 2, ..pace }, &[("a", &[1]), ("b", &[1])]);
        assert_eq!((stopped, series[0].samples.len(), series[1].samples.len()), (Stopped::Interrupted, 1, 1));
    }

    #[test]
    fn shares_the_budget_among_the_rounds() {
        let pace = Pace {
            warm_up: 1,
            min_samples: 5,
            max_samples: 100,
            processes: 1,
            target: 0.01,
            budget: Duration::from_secs(60),
        };
        assert_eq!(pace.longest_round(), Duration::from_secs(9));
        assert!(pace.good_round() < pace.longest_round());
        assert_eq!(Pace { min_samples: 50, ..pace }.good_round(), Pace { min_samples: 50, ..pace }.longest_round());
    }
}
