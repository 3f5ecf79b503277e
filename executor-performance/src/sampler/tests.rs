use super::{pace::ENOUGH, *};
use crate::{
    clock::mock::ManualClock,
    experiment::{Sample, costs},
    stats,
};
use serde::{Deserialize, Serialize};
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

const PACE: Pace =
    Pace { warm_up: 1, min_samples: 3, max_samples: 20, processes: 1, target: 0.01, budget: Duration::from_secs(100) };

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
pub(super) struct Seconds(pub(super) u64);

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
    assert!(stats::differ(&costs(&series.samples), &series.processes, 0), "{series:?}");
    assert!(series.differs && series.error() <= MOODY.target, "{series:?}");
}

#[test]
fn a_process_that_follows_gives_no_more_samples_than_the_first() {
    let (series, stopped) = moody(Pace { target: 0.02, ..MOODY }, |process| 20 + process % 3 + 10 * (process / 3 % 2));
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
fn no_budget_is_too_large() {
    let pace = Pace { budget: Duration::MAX, max_samples: 4, ..PACE };
    let (series, ..) = run(pace, &[("restless", &[1, 2])]);
    assert_eq!(series[0].samples.len(), 4);
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
