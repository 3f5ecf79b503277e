/// Maps values to positions.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    kind: Kind,
    low: f64,
    high: f64,
    /// Values that are marked, with their labels.
    pub ticks: Vec<(f64, String)>,
    /// What the values are.
    pub label: String,
}

/// How values become positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The same distance for the same difference.
    Linear,
    /// The same distance for the same ratio.
    Log,
}

impl Axis {
    /// An axis for all `values`: from 0 if it is linear, otherwise from a round number that is not above the smallest.
    pub fn around(kind: Kind, values: impl IntoIterator<Item = f64>, label: &str) -> Self {
        let usable = |value: &f64| value.is_finite() && (kind == Kind::Linear || *value > 0.0);
        let values: Vec<f64> = values.into_iter().filter(usable).collect();
        let (least, most) = (
            values.iter().copied().fold(f64::INFINITY, f64::min),
            values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        );
        let (least, most) = if least.is_finite() { (least, most) } else { (1.0, 1.0) };
        match kind {
            Kind::Linear => {
                let step = step(if most > 0.0 { most } else { 1.0 } / 5.0);
                let steps = (most / step).ceil().max(1.0);
                let ticks = (0..=steps as u32).map(|tick| f64::from(tick) * step);
                Self::marked(kind, 0.0, steps * step, ticks, label)
            }
            Kind::Log => {
                let (low, high) = (round_numbers(least).0, round_numbers(most * 1.000_001).1);
                let mut marks: Vec<f64> = std::iter::successors(Some(low), |mark| Some(round_numbers(mark * 1.01).1))
                    .take_while(|mark| *mark <= high * 1.001)
                    .collect();
                if marks.len() > 8 {
                    marks.retain(|mark| (mark.log10() - mark.log10().round()).abs() < 1e-9);
                }
                Self::marked(kind, low, high, marks, label)
            }
        }
    }

    /// An axis for these `places`, which are in order. They are marked as far as there is room; the ends are always
    /// marked.
    pub fn at(kind: Kind, places: &[f64], label: &str) -> Self {
        /// As a fraction of the axis.
        const ROOM: f64 = 0.045;
        let (low, high) = (places.first().copied().unwrap_or(0.0), places.last().copied().unwrap_or(1.0));
        let mut axis = Self::marked(kind, low, high, places.iter().copied(), label);
        let at = axis.clone();
        let mut last = 0.0;
        axis.ticks.retain(|&(mark, _)| {
            let place = at.place(mark, 0.0, 1.0);
            let has_room = place - last >= ROOM && 1.0 - place >= ROOM || mark == low || mark == high;
            last = if has_room { place } else { last };
            has_room
        });
        axis
    }

    fn marked(kind: Kind, low: f64, high: f64, marks: impl IntoIterator<Item = f64>, label: &str) -> Self {
        let ticks = marks.into_iter().map(|mark| (mark, written(mark))).collect();
        Axis { kind, low, high, ticks, label: label.to_owned() }
    }

    /// An axis for ratios, marked as changes in percent. It includes 1.
    pub fn of_changes(ratios: impl IntoIterator<Item = f64>) -> Self {
        /// If the ratios differ by more than this, factors are easier to read.
        const WIDE: f64 = 4.0;
        let (least, most) = ratios.into_iter().fold((1.0, 1.0), |(least, most), it| (it.min(least), it.max(most)));
        if most > WIDE * least {
            let mut axis = Self::around(Kind::Log, [least, most], "");
            axis.ticks.iter_mut().for_each(|(_, label)| *label += " x");
            return axis;
        }
        let step = step(((most - least) / 6.0).max(0.01));
        let (below, above) = (((1.0 - least) / step).ceil() as i32, ((most - 1.0) / step).ceil() as i32);
        let place = |steps: i32| 1.0 + f64::from(steps) * step;
        let label = |steps: i32| match steps {
            0 => "0 %".to_owned(),
            _ => format!("{:+.0} %", f64::from(steps) * step * 100.0),
        };
        let ticks = (-below..=above).map(|steps| (place(steps), label(steps))).collect();
        Axis { kind: Kind::Linear, low: place(-below), high: place(above), ticks, label: String::new() }
    }

    /// An axis for percentiles, up to `most`. The percentile p is at 1 / (1 - p), so 90 % is at 10.
    pub fn of_percentiles(most: f64) -> Self {
        const NAMES: [(f64, &str); 7] = [
            (1.0, "0 %"),
            (2.0, "50 %"),
            (10.0, "90 %"),
            (100.0, "99 %"),
            (1e3, "99.9 %"),
            (1e4, "99.99 %"),
            (1e5, "99.999 %"),
        ];
        let ticks = NAMES.iter().filter(|(mark, _)| *mark <= most).map(|(mark, name)| (*mark, (*name).to_owned()));
        Axis { kind: Kind::Log, low: 1.0, high: most.max(2.0), ticks: ticks.collect(), label: "percentile".to_owned() }
    }

    /// The position of `value`, if the low end is at `from` and the high end at `to`.
    pub(super) fn place(&self, value: f64, from: f64, to: f64) -> f64 {
        let on = |value: f64| if self.kind == Kind::Log { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let (low, high) = (on(self.low), on(self.high));
        let part = if high > low { (on(value) - low) / (high - low) } else { 0.5 };
        from + part.clamp(0.0, 1.0) * (to - from)
    }
}

/// The smallest 1, 2 or 5 times a power of ten that is at least `least`.
fn step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|digit| digit * power)
        .into_iter()
        .find(|step| *step >= least * 0.999_999)
        .unwrap_or(power * 10.0)
}

/// The nearest 1, 2 or 5 times a power of ten that is not above `value`, and the nearest that is not below.
fn round_numbers(value: f64) -> (f64, f64) {
    let power = 10_f64.powf(value.log10().floor());
    let numbers = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power);
    let below = numbers.iter().rev().copied().find(|number| *number <= value * 1.000_001).unwrap_or(power);
    let above = numbers.iter().copied().find(|number| *number >= value * 0.999_999).unwrap_or(power * 10.0);
    (below, above)
}

/// With as few digits as tell it from its neighbours.
fn written(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor();
    if magnitude >= 6.0 {
        // Not all digits: the last ones of a mark that was computed may be wrong.
        let text = format!("{value:.14e}");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{power}", trimmed(digits));
    }
    let decimals = (1.0 - magnitude).clamp(0.0, 6.0) as usize;
    trimmed(&format!("{value:.decimals$}")).to_owned()
}

/// A number without zeros at the end of its decimals.
fn trimmed(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn a_linear_axis_begins_with_nothing_and_ends_with_a_round_number() {
        assert_eq!(labels(&Axis::around(Kind::Linear, [3.0, 52.5], "")), ["0", "20", "40", "60"]);
        assert_eq!(labels(&Axis::around(Kind::Linear, [0.011], "")), ["0", "0.005", "0.01", "0.015"]);
        assert_eq!(Axis::around(Kind::Linear, [], "").ticks.len(), 6);
    }

    #[test]
    fn a_logarithmic_axis_has_round_numbers_around_the_values() {
        assert_eq!(labels(&Axis::around(Kind::Log, [25.0, 900.0], "")), ["20", "50", "100", "200", "500", "1000"]);
        assert_eq!(labels(&Axis::around(Kind::Log, [1.0, 40_000.0], "")), ["1", "10", "100", "1000", "10000"]);
    }

    #[test]
    fn places_are_marked_as_far_as_there_is_room() {
        let axis = Axis::at(Kind::Log, &[1.0, 2.0, 4.0, 14.0, 15.0, 16.0], "threads");
        assert_eq!(labels(&axis), ["1", "2", "4", "14", "16"]);
        let places: Vec<f64> = (1..=64).map(f64::from).collect();
        let (linear, log) = (Axis::at(Kind::Linear, &places, ""), Axis::at(Kind::Log, &places, ""));
        for axis in [&linear, &log] {
            assert_eq!((labels(axis)[0], labels(axis)[axis.ticks.len() - 1]), ("1", "64"));
            assert!((10..=23).contains(&axis.ticks.len()), "{axis:?}");
        }
    }

    #[test]
    fn large_numbers_have_as_many_digits_as_they_need() {
        let places = [1_000_000.0, 1_500_000.0, 2_500_000.0, 12_345_678.0];
        assert_eq!(labels(&Axis::at(Kind::Log, &places, "messages")), ["1e6", "1.5e6", "2.5e6", "1.2345678e7"]);
        let places = [1_000_001.0, 1_000_002.0];
        assert_eq!(labels(&Axis::at(Kind::Linear, &places, "messages")), ["1.000001e6", "1.000002e6"]);
        let computed = Axis::around(Kind::Log, [1e23, 5e23], "");
        assert!(labels(&computed).iter().all(|label| label.len() == "1e23".len()), "{computed:?}");
    }

    #[test]
    fn changes_are_marked_in_percent_or_as_factors() {
        assert_eq!(labels(&Axis::of_changes([0.91, 1.07])), ["-10 %", "-5 %", "0 %", "+5 %", "+10 %"]);
        assert_eq!(labels(&Axis::of_changes([0.99, 12.0])), ["0.5 x", "1 x", "2 x", "5 x", "10 x", "20 x"]);
    }

    #[test]
    fn places_are_between_the_ends() {
        let axis = Axis::around(Kind::Log, [1.0, 100.0], "");
        assert_eq!(
            (axis.place(1.0, 300.0, 0.0), axis.place(10.0, 300.0, 0.0), axis.place(100.0, 300.0, 0.0)),
            (300.0, 150.0, 0.0)
        );
        let axis = Axis::at(Kind::Linear, &[1.0, 2.0, 4.0], "threads");
        assert_eq!((axis.place(1.0, 0.0, 30.0), axis.place(2.0, 0.0, 30.0)), (0.0, 10.0));
    }
}
