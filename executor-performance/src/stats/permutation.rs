//! A permutation test.

use super::{Dice, level::by_process, mean};

/// Whether samples of one process are more alike than samples of different ones, with a probability of error of 1 %.
///
/// By a permutation test, which assumes no distribution: if processes did not matter, it would not matter either which
/// samples are grouped together. So samples are grouped at random, many times, and the test counts how often the means
/// of ranks differ as much as they do in truth. The result is the same for the same samples and `seed`.
pub fn differ(costs: &[f64], processes: &[u64], seed: u64) -> bool {
    const SHUFFLES: usize = 1000;
    const BY_CHANCE: usize = SHUFFLES / 100;
    let lengths: Vec<usize> = by_process(costs, processes).into_iter().map(<[f64]>::len).collect();
    // If each process gave only one sample, all shuffles are alike.
    if lengths.len() < 2 || lengths.iter().all(|length| *length == 1) {
        return false;
    }
    let (mut ranks, mut dice) = (ranks(costs), Dice::new(seed));
    let truth = spread(&ranks, &lengths);
    let as_much = (0..SHUFFLES).filter(|_| {
        shuffle(&mut ranks, &mut dice);
        spread(&ranks, &lengths) >= truth
    });
    as_much.take(BY_CHANCE).count() < BY_CHANCE
}

/// How far the means of groups with these `lengths` are from each other.
fn spread(ranks: &[f64], lengths: &[usize]) -> f64 {
    let middle = mean(ranks);
    let mut rest = ranks;
    let squares = lengths.iter().map(|&length| {
        let (group, others) = rest.split_at(length);
        rest = others;
        (mean(group) - middle).powi(2) * length as f64
    });
    squares.sum()
}

/// The place of each among all if they were sorted; the same for all that are equal.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = |number: &f64| {
        let (below, up_to) = (sorted.partition_point(|it| it < number), sorted.partition_point(|it| it <= number));
        (below + up_to) as f64 / 2.0
    };
    numbers.iter().map(place).collect()
}

fn shuffle(numbers: &mut [f64], dice: &mut Dice) {
    for end in (1..numbers.len()).rev() {
        numbers.swap(end, dice.below(end as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five processes of eight samples each, which scatter by 0 to 1. `apart` is the distance from one process to the
    /// next.
    fn samples(dice: &mut Dice, apart: f64) -> (Vec<f64>, Vec<u64>) {
        let processes: Vec<u64> = (0..40).map(|sample| sample / 8).collect();
        let cost = |process: &u64| 10.0 + apart * *process as f64 + dice.below(1000) as f64 / 1000.0;
        (processes.iter().map(cost).collect(), processes)
    }

    fn part_found(apart: f64) -> f64 {
        const TRIALS: usize = 100;
        let mut dice = Dice::new(5);
        let found = (0..TRIALS).filter(|trial| {
            let (costs, processes) = samples(&mut dice, apart);
            differ(&costs, &processes, *trial as u64)
        });
        found.count() as f64 / TRIALS as f64
    }

    #[test]
    fn processes_that_differ_are_found_and_others_seldom() {
        assert!(part_found(0.0) <= 0.03);
        assert!(part_found(0.3) >= 0.95);
    }

    #[test]
    fn who_gave_one_sample_or_is_alone_does_not_differ() {
        assert!(!differ(&[1.0, 2.0, 3.0], &[0, 1, 2], 0));
        assert!(!differ(&[1.0, 1.0, 9.0, 9.0], &[], 0));
        assert!(!differ(&[], &[], 0));
    }

    #[test]
    fn equal_numbers_have_equal_ranks() {
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 9.0]), [2.0, 0.5, 2.0, 3.5]);
    }
}
