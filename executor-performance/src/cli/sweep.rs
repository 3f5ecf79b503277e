//! Several values of one option.

use std::{fmt::Display, str::FromStr};

/// At least one value, in order, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep<N>(Vec<N>);

/// More than anyone can wait for.
const MOST_VALUES: u64 = 1000;

impl<N: Copy> Sweep<N> {
    /// One value.
    pub(super) fn of(value: N) -> Self {
        Sweep(vec![value])
    }

    /// The values.
    pub fn values(&self) -> &[N] {
        &self.0
    }

    /// Each of the values, or a single `None` if there is no sweep.
    pub(super) fn choices(sweep: Option<&Self>) -> Vec<Option<N>> {
        sweep.map_or(vec![None], |sweep| sweep.0.iter().copied().map(Some).collect())
    }

    /// How many [`choices`](Self::choices) there are.
    pub(super) fn number_of_choices(sweep: Option<&Self>) -> usize {
        sweep.map_or(1, |sweep| sweep.0.len())
    }
}

/// Parses a list such as `1,2,4..8`, whose single values `number` parses. Ranges include both ends.
pub(super) fn sweep<N>(text: &str, number: impl Fn(&str) -> Result<N, String>) -> Result<Sweep<N>, String>
where
    N: Copy + PartialEq + Display + FromStr,
{
    let mut values = Vec::new();
    for part in text.split(',').map(str::trim) {
        if part.is_empty() && text.contains(',') {
            return Err("a value is missing next to a comma".to_owned());
        }
        for value in range(part, text.contains(','), &number)? {
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    Ok(Sweep(values))
}

fn range<N>(part: &str, is_one_of_several: bool, number: impl Fn(&str) -> Result<N, String>) -> Result<Vec<N>, String>
where
    N: Copy + Display + FromStr,
{
    let named = |text: &str| number(text).map_err(|why| format!("`{text}`: {why}"));
    let Some((first, last)) = part.split_once("..") else {
        return Ok(vec![if is_one_of_several { named(part)? } else { number(part)? }]);
    };
    let (first, last) = (named(first)?, named(last.trim_start_matches('='))?);
    let whole = |value: N| value.to_string().parse::<u64>().map_err(|error| error.to_string());
    let (low, high) = (whole(first)?, whole(last)?);
    if low > high {
        return Err(format!("`{part}` ends before it begins: swap its ends"));
    }
    if high - low >= MOST_VALUES {
        return Err(format!("`{part}` has more than {MOST_VALUES} values: name some of them"));
    }
    (low..=high).map(|value| named(&value.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::values::at_least_one;

    fn parsed(text: &str) -> Result<Vec<u64>, String> {
        sweep(text, at_least_one::<u64>).map(|sweep| sweep.0)
    }

    #[test]
    fn lists_and_ranges_give_each_value_once_and_in_order() {
        assert_eq!(parsed("4"), Ok(vec![4]));
        assert_eq!(parsed("1,2, 8"), Ok(vec![1, 2, 8]));
        assert_eq!(parsed("1..4"), Ok(vec![1, 2, 3, 4]));
        assert_eq!(parsed("8,2..=4,3"), Ok(vec![8, 2, 3, 4]));
    }

    #[test]
    fn what_is_no_list_is_refused_with_the_remedy() {
        for (text, part) in [
            ("0", "must be at least 1"),
            ("1,0", "`0`: must be at least 1"),
            ("1,,2", "a value is missing next to a comma"),
            ("4..1", "ends before it begins"),
            ("1..x", "`x`: "),
            ("1..1000000", "more than 1000 values"),
        ] {
            let complaint = parsed(text).expect_err(text);
            assert!(complaint.contains(part), "{text}: {complaint}");
        }
    }
}
