//! Taking samples: in turn, after warm-up, until they are precise enough or the time is up.
//!
//! Executors are sampled in rounds, one sample of each, and never one executor after the other: whatever else the machine
//! does then falls on all of them. Every other round goes backwards, so that no executor always runs in another's wake.

use crate::{
    clock::Clock,
    experiment::{Sample, Subject, Turn, relative_error},
    failure::Failure,
    usage::Usage,
};
use std::time::Duration;

/// How much is sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Rounds that are thrown away.
    pub warm_up: usize,
    /// Samples that are taken in any case.
    pub min_samples: usize,
    /// Samples that are never exceeded.
    pub max_samples: usize,
    /// The relative standard error that is small enough, as a fraction.
    pub target: f64,
    /// Time after which no round begins, once there are `min_samples`.
    pub budget: Duration,
}

impl Pace {
    /// Rounds by which intervals are usually small.
    const GOOD_ROUNDS: usize = 10;

    /// The longest that a round may take so that the budget suffices for what is done in any case.
    pub fn longest_round(&self) -> Duration {
        self.share(self.min_samples)
    }

    /// The time that a round should take if that can be chosen.
    pub fn good_round(&self) -> Duration {
        self.share(Self::GOOD_ROUNDS.clamp(self.min_samples, self.max_samples))
    }

    /// A tenth of the budget is for what is not sampling: trying out, building, shutting down.
    fn share(&self, samples: usize) -> Duration {
        self.budget.mul_f64(0.9 / (self.warm_up + samples) as f64)
    }
}

/// The samples of one executor.
#[derive(Debug)]
pub struct Series<S> {
    /// The executor's name.
    pub name: &'static str,
    /// What it gave, in order, without the warm-up.
    pub samples: Vec<S>,
    /// What the process used for each.
    pub usages: Vec<Usage>,
    /// Why there are no more.
    pub failure: Option<Failure>,
}

impl<S: Sample> Series<S> {
    /// The relative standard error of the samples so far, as a fraction.
    pub fn relative_error(&self) -> f64 {
        relative_error(&self.samples)
    }
}

impl<S> Series<S> {
    fn forget(&mut self) {
        self.samples.clear();
        self.usages.clear();
    }
}

/// Why sampling stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// The error of every series is small enough.
    Precise,
    /// The budget is spent.
    Budget,
    /// As many samples as allowed were taken.
    Enough,
    /// Every executor failed.
    NothingLeft,
    /// The watcher wanted it.
    Interrupted,
}

/// Is told what goes on.
pub trait Watcher<S> {
    /// A sample of `executor` begins.
    fn sampling(&mut self, executor: &str);
    /// A round has ended, after which there are these `series`, and the relative standard error of the worst is `error`.
    fn round_ended(&mut self, elapsed: Duration, error: f64, series: &[Series<S>]);
    /// Whether to take no further sample.
    fn wants_end(&self) -> bool;
}

/// Lets all `subjects` take `turn` again and again. `clock` must have started with the whole run, as the budget counts
/// from there. An executor of which there is no sample in the end has failed.
pub fn sample<T: Turn>(
    pace: &Pace,
    clock: &dyn Clock,
    turn: &T,
    subjects: &[Box<dyn Subject<T>>],
    watcher: &mut dyn Watcher<T::Sample>,
) -> (Vec<Series<T::Sample>>, Stopped) {
    let names = subjects.iter().map(|subject| subject.name());
    let mut series: Vec<Series<T::Sample>> =
        names.map(|name| Series { name, samples: Vec::new(), usages: Vec::new(), failure: None }).collect();
    let mut rounds = 0;
    loop {
        let began = clock.now();
        let order: Vec<usize> =
            if rounds % 2 == 0 { (0..subjects.len()).collect() } else { (0..subjects.len()).rev().collect() };
        for index in order {
            if watcher.wants_end() {
                return (interrupted(series, rounds < pace.warm_up), Stopped::Interrupted);
            }
            take_sample(turn, &*subjects[index], &mut series[index], watcher);
        }
        rounds += 1;
        if rounds <= pace.warm_up {
            series.iter_mut().for_each(Series::forget);
        }
        let elapsed = clock.now();
        watcher.round_ended(elapsed, worst_error(&series), &series);
        if let Some(stopped) = verdict(pace, &series, elapsed, elapsed.saturating_sub(began)) {
            return (series, stopped);
        }
    }
}

/// An executor that has failed once is left alone.
fn take_sample<T: Turn>(
    turn: &T,
    subject: &dyn Subject<T>,
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
        }
        Err(failure) => series.failure = Some(failure),
    }
}

/// What there is when no more is wanted, where samples of the warm-up do not count.
fn interrupted<S>(mut series: Vec<Series<S>>, warming_up: bool) -> Vec<Series<S>> {
    for series in &mut series {
        if warming_up {
            series.forget();
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

fn verdict<S: Sample>(pace: &Pace, series: &[Series<S>], elapsed: Duration, round: Duration) -> Option<Stopped> {
    let Some(samples) = healthy(series).next().map(|series| series.samples.len()) else {
        return Some(Stopped::NothingLeft);
    };
    if samples < pace.min_samples {
        None
    } else if worst_error(series) <= pace.target {
        Some(Stopped::Precise)
    } else if samples >= pace.max_samples {
        Some(Stopped::Enough)
    } else if elapsed + round > pace.budget {
        Some(Stopped::Budget)
    } else {
        None
    }
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

    const PACE: Pace =
        Pace { warm_up: 1, min_samples: 3, max_samples: 20, target: 0.01, budget: Duration::from_secs(100) };

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
    }

    /// Wants the end after so many samples.
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
        let (series, stopped) = sample(&pace, &machine.clock, &NoTurn, &subjects, &mut Limit(limit));
        (series, stopped, machine)
    }

    fn seconds(series: &Series<Seconds>) -> Vec<f64> {
        series.samples.iter().map(Sample::cost).collect()
    }

    #[test]
    fn takes_turns_back_and_forth() {
        let (_, _, machine) = run(PACE, &[("a", &[1]), ("b", &[2]), ("c", &[3])]);
        assert_eq!(machine.order.borrow()[..6], ["a", "b", "c", "c", "b", "a"]);
    }

    #[test]
    fn throws_the_warm_up_away() {
        let (series, ..) = run(PACE, &[("a", &[9, 1, 1, 1])]);
        assert_eq!(seconds(&series[0]), [1.0, 1.0, 1.0]);
        let (series, ..) = run(Pace { warm_up: 0, ..PACE }, &[("a", &[9, 9, 9, 1])]);
        assert_eq!(seconds(&series[0]), [9.0, 9.0, 9.0]);
    }

    #[test]
    fn stops_when_every_series_is_precise() {
        let (series, stopped, _) = run(PACE, &[("steady", &[1]), ("steadier", &[2])]);
        assert_eq!(stopped, Stopped::Precise);
        assert_eq!(series[0].samples.len(), PACE.min_samples);

        let settles: &[u64] = &[5, 1, 2, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2];
        let (series, stopped, _) = run(Pace { target: 0.1, ..PACE }, &[("steady", &[1]), ("settles", settles)]);
        assert_eq!(stopped, Stopped::Precise);
        assert_eq!(series[0].samples.len(), series[1].samples.len());
        assert!(series[1].samples.len() > PACE.min_samples);
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
        assert_eq!(stopped, Stopped::Budget);
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
        assert_eq!(series[0].samples.len(), PACE.min_samples);
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
    fn shares_the_budget_among_the_rounds() {
        let pace = Pace { warm_up: 1, min_samples: 5, max_samples: 100, target: 0.01, budget: Duration::from_secs(60) };
        assert_eq!(pace.longest_round(), Duration::from_secs(9));
        assert!(pace.good_round() < pace.longest_round());
        assert_eq!(Pace { min_samples: 50, ..pace }.good_round(), Pace { min_samples: 50, ..pace }.longest_round());
    }
}
