//! Parsers of single values. Each complaint goes behind the value and the option, which clap names.

use std::{
    num::{IntErrorKind, ParseIntError},
    str::FromStr,
    time::Duration,
};

/// Beyond this, systems run out of what a thread needs; on Linux it is memory mappings, of which a process may have
/// 65,530 and a thread takes four. The standard library aborts the process then.
const MOST_THREADS: usize = 10_000;

pub(super) fn number_of_threads(text: &str) -> Result<usize, String> {
    let number = at_least_one(text)?;
    if number <= MOST_THREADS { Ok(number) } else { Err(format!("more than {MOST_THREADS} threads are not supported")) }
}

pub(super) fn whole<N: FromStr<Err = ParseIntError>>(text: &str) -> Result<N, String> {
    text.parse().map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::InvalidDigit => "not a whole number".to_owned(),
        _ => error.to_string(),
    })
}

pub(super) fn at_least_one<N>(text: &str) -> Result<N, String>
where
    N: FromStr<Err = ParseIntError> + Default + PartialEq,
{
    let number: N = whole(text)?;
    if number == N::default() { Err("must be at least 1".to_owned()) } else { Ok(number) }
}

pub(super) fn positive(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if number.is_finite() && number > 0.0 { Ok(number) } else { Err("must be more than 0".to_owned()) }
}

/// What a time is counted in that is given without a unit.
struct Unit {
    name: &'static str,
    is: Duration,
    example: &'static str,
}

const SECONDS: Unit = Unit { name: "seconds", is: Duration::from_secs(1), example: "500ms" };
const MILLISECONDS: Unit = Unit { name: "milliseconds", is: Duration::from_millis(1), example: "2s" };
const MICROSECONDS: Unit = Unit { name: "microseconds", is: Duration::from_micros(1), example: "1ms" };

impl Unit {
    /// A time with its own unit.
    fn told(&self, text: &str) -> Result<Duration, String> {
        let Unit { name, example, .. } = self;
        humantime::parse_duration(text)
            .map_err(|_| format!("not a time: say a number of {name}, or one with a unit, such as {example}"))
    }

    /// How many of these, and nothing between: records count so.
    fn whole(&self, text: &str) -> Result<u64, String> {
        if let Ok(number) = text.parse() {
            return Ok(number);
        }
        let (time, unit) = (self.told(text)?.as_nanos(), self.is.as_nanos());
        if time % unit != 0 {
            return Err(format!("not a whole number of {}", self.name));
        }
        u64::try_from(time / unit).map_err(|_| "too long a time".to_owned())
    }

    /// How many of these.
    fn positive(&self, text: &str) -> Result<f64, String> {
        if text.parse::<f64>().is_ok() {
            return positive(text);
        }
        let time = self.told(text)?;
        if time.is_zero() { Err("must be more than 0".to_owned()) } else { Ok(time.div_duration_f64(self.is)) }
    }
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    Duration::try_from_secs_f64(SECONDS.positive(text)?).map_err(|_| "too long a time".to_owned())
}

pub(super) fn milliseconds(text: &str) -> Result<u64, String> {
    MILLISECONDS.whole(text)
}

pub(super) fn microseconds(text: &str) -> Result<u64, String> {
    MICROSECONDS.whole(text)
}

pub(super) fn parts_of_microseconds(text: &str) -> Result<f64, String> {
    MICROSECONDS.positive(text)
}

/// What `parse` makes of a text, if it is something.
pub(super) fn more_than_nothing(
    parse: fn(&str) -> Result<u64, String>,
) -> impl Fn(&str) -> Result<u64, String> + Clone {
    move |text| match parse(text)? {
        0 => Err("must be more than 0".to_owned()),
        number => Ok(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_the_unit_of_its_option_unless_it_says_another() {
        assert_eq!((milliseconds("100"), milliseconds("100ms"), milliseconds("0.1s")), (Ok(100), Ok(100), Ok(100)));
        assert_eq!((microseconds("100"), microseconds("100us"), microseconds("0.1ms")), (Ok(100), Ok(100), Ok(100)));
        assert_eq!(
            (seconds("0.5"), seconds("500ms")),
            (Ok(Duration::from_millis(500)), Ok(Duration::from_millis(500)))
        );
        assert_eq!((parts_of_microseconds("0.1"), parts_of_microseconds("100ns")), (Ok(0.1), Ok(0.1)));
        assert_eq!((milliseconds("0"), milliseconds("0ms")), (Ok(0), Ok(0)));
    }

    #[test]
    fn what_is_no_time_is_refused_with_the_remedy() {
        assert_eq!(milliseconds("0.5ms"), Err("not a whole number of milliseconds".to_owned()));
        for text in ["soon", "-1", "5 parsecs", ""] {
            assert!(
                milliseconds(text)
                    .is_err_and(|why| why.ends_with("number of milliseconds, or one with a unit, such as 2s"))
            );
        }
        assert!(seconds("1e300").is_err_and(|why| why == "too long a time"));
        for nothing in ["0", "0us"] {
            assert!(more_than_nothing(microseconds)(nothing).is_err());
            assert!(parts_of_microseconds(nothing).is_err() && seconds(nothing).is_err());
        }
    }
}
