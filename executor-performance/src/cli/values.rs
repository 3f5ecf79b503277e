//! Parsers of single values. Each complaint goes behind the value and the option, which clap names.

use std::{fmt::Display, str::FromStr, time::Duration};

/// Beyond this, systems run out of what a thread needs; on Linux it is memory mappings, of which a process may have 65
/// 530 and a thread takes four. The standard library aborts the process then.
const MOST_THREADS: usize = 10_000;

pub(super) fn number_of_threads(text: &str) -> Result<usize, String> {
    let number = at_least_one(text)?;
    if number <= MOST_THREADS { Ok(number) } else { Err(format!("more than {MOST_THREADS} threads are not supported")) }
}

pub(super) fn at_least_one<N>(text: &str) -> Result<N, String>
where
    N: FromStr<Err: Display> + Default + PartialEq,
{
    let number: N = text.parse().map_err(|error: N::Err| error.to_string())?;
    if number == N::default() { Err("must be at least 1".to_owned()) } else { Ok(number) }
}

pub(super) fn positive(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if number.is_finite() && number > 0.0 { Ok(number) } else { Err("must be more than 0".to_owned()) }
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    Duration::try_from_secs_f64(positive(text)?).map_err(|_| "too long a time".to_owned())
}
