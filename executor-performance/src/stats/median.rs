//! The median of some samples, and how sure that is.

use super::Interval;

/// The fraction of all resampled medians that may be beyond each end of an interval.
const EACH_SIDE: f64 = 0.025;

/// With more samples than this, the interval is that of a normal distribution: by then it is the same, and the exact
/// one would take longer and longer.
const MANY: usize = 1000;

/// As many samples are above it as below. NaN if there are no samples.
pub fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    of_sorted(&sorted)
}

pub(super) fn of_sorted(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => f64::NAN,
        count if count.is_multiple_of(2) => (sorted[count / 2 - 1] + sorted[count / 2]) / 2.0,
        count => sorted[count / 2],
    }
}

/// The 95 % interval of the median of some samples, by the ideal bootstrap. There must be at least one sample.
///
/// If as many samples as there are were drawn anew, with replacement, infinitely often, and the median was taken each
/// time, at most 2.5 % of the medians would be at each end of the interval or beyond it. This needs no random numbers,
/// because the probability of each median can be calculated. The number of different medians is limited, so 2.5 % is
/// seldom met: then the end is the next median outwards. The next one inwards would do for more samples, but of seven
/// samples such an interval has the true median in it with a probability of only 87 %.
pub(super) fn interval(sorted: &[f64]) -> Interval {
    let count = sorted.len();
    if count > MANY {
        let outside = (count as f64 / 2.0 - 0.98 * (count as f64).sqrt() - 0.5) as usize;
        return Interval { low: sorted[outside], high: sorted[count - 1 - outside] };
    }
    let mut medians = resampled(sorted);
    medians.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    medians.dedup_by(|(median, chance), (same, of_all)| {
        let equal = median == same;
        *of_all += if equal { *chance } else { 0.0 };
        equal
    });
    Interval { low: end(medians.iter()), high: end(medians.iter().rev()) }
}

/// The last of the `medians` up to which the probability is not more than is allowed on each side, or the first.
fn end<'a>(medians: impl Iterator<Item = &'a (f64, f64)>) -> f64 {
    let (mut end, mut beyond) = (f64::NAN, 0.0);
    for &(median, chance) in medians {
        beyond += chance;
        if end.is_nan() || beyond <= EACH_SIDE {
            end = median;
        }
        if beyond > EACH_SIDE {
            break;
        }
    }
    end
}

/// All medians that a draw of as many samples with replacement can have, except those that are next to impossible, each
/// with its probability.
fn resampled(sorted: &[f64]) -> Vec<(f64, f64)> {
    const NEVER: f64 = 1e-12;
    let (count, half) = (sorted.len(), sorted.len() / 2);
    // The probability that the draw number `rank`, if the draws are sorted, is at most the sample number `sample`: then
    // at least `rank` draws are.
    let at_most = |rank: usize, sample: usize| binomial_tail(count, rank, sample as f64 / count as f64);
    let is = |rank: usize, sample: usize| at_most(rank, sample) - at_most(rank, sample - 1);
    if !count.is_multiple_of(2) {
        return (1..=count).map(|sample| (sorted[sample - 1], is(half + 1, sample))).collect();
    }
    // The draws on both sides of the middle are two different samples if one half of all draws is at most the lower of
    // them, but not all of that half is below it, and the other half likewise.
    let power = |samples: usize| (samples as f64 / count as f64).powi(half as i32);
    let halves = ln_choose(count, half);
    let mut medians = Vec::new();
    for lower in 1..=count {
        let mut rest = is(half, lower);
        if rest < NEVER {
            continue;
        }
        for upper in lower + 1..=count {
            let both = (power(lower) - power(lower - 1)).ln() + (power(count - upper + 1) - power(count - upper)).ln();
            let chance = (halves + both).exp();
            if chance < NEVER {
                break;
            }
            medians.push(((sorted[lower - 1] + sorted[upper - 1]) / 2.0, chance));
            rest -= chance;
        }
        medians.push((sorted[lower - 1], rest));
    }
    medians
}

/// The probability of at least `least` heads in `tosses` tosses of a coin that shows heads with the probability
/// `heads`.
fn binomial_tail(tosses: usize, least: usize, heads: f64) -> f64 {
    if heads >= 1.0 {
        return 1.0;
    }
    if heads <= 0.0 {
        return 0.0;
    }
    // From the middle outwards, probabilities become smaller, so that the first one is 0 as an f64 only if all are.
    if heads * tosses as f64 > least as f64 {
        return 1.0 - binomial_tail(tosses, tosses - least + 1, 1.0 - heads);
    }
    let odds = heads / (1.0 - heads);
    let first = ln_choose(tosses, least) + least as f64 * heads.ln() + (tosses - least) as f64 * (-heads).ln_1p();
    let next = |&(number, chance): &(usize, f64)| {
        let rest = tosses - number;
        (rest > 0).then(|| (number + 1, chance * odds * rest as f64 / (number + 1) as f64))
    };
    std::iter::successors(Some((least, first.exp())), next).map(|(_, chance)| chance).sum()
}

/// The logarithm of the number of ways to choose `some` of `all`.
fn ln_choose(all: usize, some: usize) -> f64 {
    (1..=some).map(|index| ((all - some + index) as f64 / index as f64).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Dice;

    fn numbers(count: usize) -> Vec<f64> {
        (1..=count).map(|number| number as f64).collect()
    }

    /// Of three samples, 27 draws are equally likely: their medians can be counted. Of four, 256.
    #[test]
    fn resampled_medians_are_those_of_all_draws() {
        for count in [1_usize, 2, 3, 4, 5, 6] {
            // Sums of two of them are all different.
            let samples: Vec<f64> = numbers(count).into_iter().map(f64::exp2).collect();
            let draws = count.pow(count as u32);
            let drawn = |draw: usize| {
                let picks = (0..count as u32).map(|place| samples[draw / count.pow(place) % count]);
                median(&picks.collect::<Vec<_>>())
            };
            let all: Vec<f64> = (0..draws).map(drawn).collect();
            let told = resampled(&samples);
            for (median, chance) in &told {
                let counted = all.iter().filter(|it| *it == median).count() as f64 / draws as f64;
                assert!((chance - counted).abs() < 1e-9, "{median} of {samples:?}: {chance}, not {counted}");
            }
            assert!((told.iter().map(|(_, chance)| chance).sum::<f64>() - 1.0).abs() < 1e-9, "{told:?}");
        }
    }

    #[test]
    fn chances_of_many_draws_add_up() {
        for count in [99, 100, 999, 1000] {
            let sum: f64 = resampled(&numbers(count)).iter().map(|(_, chance)| chance).sum();
            assert!((sum - 1.0).abs() < 1e-6, "{count}: {sum}");
        }
    }

    #[test]
    fn the_interval_of_many_samples_goes_on_from_that_of_fewer() {
        let width = |count: usize| {
            let Interval { low, high } = interval(&numbers(count));
            assert!((low + high - (count + 1) as f64).abs() < 1e-9, "{count}: {low} to {high}");
            high - low
        };
        assert!((width(1000) - width(1002)).abs() < 3.0 && (width(999) - width(1001)).abs() < 3.0);
        assert!((width(1_000_000) - 1960.0).abs() < 4.0);
    }

    #[test]
    fn few_samples_have_their_range_as_interval() {
        for count in [1, 2, 3, 4, 5, 7] {
            assert_eq!(interval(&numbers(count)), Interval { low: 1.0, high: count as f64 }, "{count}");
        }
    }

    /// Between 0 and 1.
    fn even(dice: &mut Dice) -> f64 {
        (dice.below(1 << 20) as f64 + 0.5) / f64::from(1 << 20)
    }

    /// Seldom disturbed, but then much.
    fn skewed(dice: &mut Dice) -> f64 {
        -even(dice).ln()
    }

    /// One or the other.
    fn two_sided(dice: &mut Dice) -> f64 {
        even(dice) + if dice.below(2) == 0 { 1.0 } else { 2.0 }
    }

    /// `docs/methodology.md` says so.
    #[test]
    fn the_true_median_is_in_it_nineteen_times_of_twenty() {
        type World = fn(&mut Dice) -> f64;
        const TRIALS: usize = 1000;
        let worlds: [(f64, World); 2] = [(2.0_f64.ln(), skewed), (2.0, two_sided)];
        let mut dice = Dice::new(1);
        for (truth, sample) in worlds {
            for count in [5, 6, 7, 8, 9, 10, 20, 50] {
                let hits = (0..TRIALS).filter(|_| {
                    let mut samples: Vec<f64> = (0..count).map(|_| sample(&mut dice)).collect();
                    samples.sort_by(f64::total_cmp);
                    let Interval { low, high } = interval(&samples);
                    low <= truth && truth <= high
                });
                let part = hits.count() as f64 / TRIALS as f64;
                assert!((0.92..=0.999).contains(&part), "{part} of {count} samples around {truth}");
            }
        }
    }
}
