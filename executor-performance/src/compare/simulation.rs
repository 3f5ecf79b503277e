//! Whether verdicts are right as often as they claim, for records whose truth is known.

use super::{
    Comparison, Verdict,
    mock::{TERMS, verdicts},
};
use crate::{
    record::{Record, Row, Samples, mock::record},
    stats::{Dice, mock::normal},
};

/// What is simulated: a middle `cost`, processes that scatter by `between`, samples that scatter by 3 %, and a drift of
/// 3 % within each process.
#[derive(Clone, Copy)]
struct World {
    cost: f64,
    between: f64,
    processes: u64,
    executors: usize,
}

impl World {
    fn record(self, dice: &mut Dice) -> Record {
        const SAMPLES: u64 = 8;
        const WITHIN: f64 = 0.03;
        let mut record = record();
        record.runs.drain(..2);
        let row = |name: usize| {
            let (mut values, mut process) = (Vec::new(), Vec::new());
            for number in 0..self.processes {
                // Two placements that are far apart, and some noise around them.
                let placement = if dice.below(2) == 0 { -0.7 } else { 0.7 };
                let middle = self.between * (placement + 0.7 * normal(dice));
                let drift = WITHIN * normal(dice);
                for sample in 0..SAMPLES {
                    let log = middle + drift * sample as f64 / SAMPLES as f64 + WITHIN * normal(dice);
                    values.push(self.cost * log.exp());
                    process.push(number);
                }
            }
            let samples = Samples::new(values, &[]).of_processes(&process);
            Row::new(&format!("executor-{name}"), Ok(Default::default()), samples, None)
        };
        record.runs[0].rows = (0..self.executors).map(row).collect();
        record
    }
}

/// In which fraction of many comparisons of records of `before` and `after` at least one verdict is as `wanted`.
fn part_with(before: World, after: World, wanted: fn(Verdict) -> bool) -> f64 {
    const TRIALS: usize = 200;
    let mut dice = Dice::new(1);
    let hits = (0..TRIALS).filter(|_| {
        let (old, new) = (before.record(&mut dice), after.record(&mut dice));
        verdicts(&Comparison::of(&old, &new, &TERMS).expect("alike")).into_iter().any(wanted)
    });
    hits.count() as f64 / TRIALS as f64
}

const QUIET: World = World { cost: 100.0, between: 0.03, processes: 5, executors: 3 };

/// `docs/methodology.md` says so.
#[test]
fn what_has_not_changed_is_called_changed_in_one_comparison_of_twenty_at_most() {
    let changed = |verdict| matches!(verdict, Verdict::Slower | Verdict::Faster);
    for between in [0.0, 0.1] {
        for processes in [1, 3, 5] {
            let world = World { between, processes, ..QUIET };
            let wrong = part_with(world, world, changed);
            assert!(wrong <= 0.05, "{wrong} with {processes} processes that scatter by {between}");
        }
    }
}

/// `docs/methodology.md` says this, too.
#[test]
fn a_regression_by_a_fifth_is_found() {
    let slower = World { cost: 120.0, ..QUIET };
    let found =
        part_with(World { executors: 1, ..QUIET }, World { executors: 1, ..slower }, |it| it == Verdict::Slower);
    assert!(found >= 0.95, "{found}");
    let noisy = |world| World { between: 0.1, processes: 20, executors: 1, ..world };
    let found = part_with(noisy(QUIET), noisy(slower), |verdict| verdict == Verdict::Slower);
    assert!(found >= 0.8, "{found} on a noisy machine, with more processes");
}
