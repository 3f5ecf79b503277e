//! Parsers of single values. Each complaint is shown after the value and the option, which clap names.

use crate::registry::MOST_THREADS;
use std::{
    num::{IntErrorKind, ParseIntError},
    str::FromStr,
    time::Duration,
};

pub(super) fn number_of_threads(text: &str) -> Result<usize, String> {
    let too_many = || format!("more than {MOST_THREADS} threads are not supported");
    if is_overflow::<usize>(text) {
        return Err(too_many());
    }
    let number = at_least_one(text)?;
    if number <= MOST_THREADS { Ok(number) } else { Err(too_many()) }
}

fn is_overflow<N: FromStr<Err = ParseIntError>>(text: &str) -> bool {
    text.parse::<N>().is_err_and(|error| *error.kind() == IntErrorKind::PosOverflow)
}

pub(super) fn whole<N: FromStr<Err = ParseIntError>>(text: &str) -> Result<N, String> {
    from(0, text)
}

pub(super) fn at_least_one<N>(text: &str) -> Result<N, String>
where
    N: FromStr<Err = ParseIntError> + Default + PartialEq,
{
    let number: N = from(1, text)?;
    if number == N::default() { Err("must be at least 1".to_owned()) } else { Ok(number) }
}

/// A number, or a complaint. That it is at least `least` is for the caller to check; complaints say so.
fn from<N: FromStr<Err = ParseIntError>>(least: u64, text: &str) -> Result<N, String> {
    text.parse().map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => format!("too large: no number may have more than {} bits", 8 * size_of::<N>()),
        IntErrorKind::Empty => format!("a number is missing: give a whole number of at least {least}"),
        _ if text.strip_prefix('-').is_some_and(|digits| digits.parse::<u64>().is_ok()) => {
            format!("must be at least {least}")
        }
        _ => match text.parse::<f64>() {
            Ok(number) if number.fract() == 0.0 && (0.0..1e15).contains(&number) => {
                format!("not written with digits only: write {number:.0}")
            }
            _ => format!("not a whole number: give one of at least {least}"),
        },
    })
}

/// A number from `low` to `high`.
pub(super) fn between(low: u32, high: u32) -> impl Fn(&str) -> Result<u32, String> + Clone {
    move |text| {
        if is_overflow::<u32>(text) {
            return Err(format!("must be at most {high}"));
        }
        match from(u64::from(low), text)? {
            number if number < low => Err(format!("must be at least {low}")),
            number if number > high => Err(format!("must be at most {high}")),
            number => Ok(number),
        }
    }
}

pub(super) fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number == f64::INFINITY => Err("too large: give a finite number".to_owned()),
        Ok(number) if number > 0.0 => Ok(number),
        Ok(number) if !number.is_nan() => Err("must be more than 0".to_owned()),
        _ => Err("not a number".to_owned()),
    }
}

/// A difference, in percent. No executor is so much slower than before.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    const MOST: f64 = 1000.0;
    match positive(text)? {
        number if number > MOST => Err(format!("must be at most {MOST}")),
        number => Ok(number),
    }
}

/// The unit of a time that is given without one.
struct Unit {
    name: &'static str,
    symbol: &'static str,
    is: Duration,
    example: &'static str,
}

const SECONDS: Unit = Unit { name: "seconds", symbol: "s", is: Duration::from_secs(1), example: "500ms" };
const MILLISECONDS: Unit = Unit { name: "milliseconds", symbol: "ms", is: Duration::from_millis(1), example: "2s" };
const MICROSECONDS: Unit = Unit { name: "microseconds", symbol: "us", is: Duration::from_micros(1), example: "1ms" };

impl Unit {
    /// A time that is given with a unit.
    fn told(&self, text: &str) -> Result<Duration, String> {
        let Unit { name, example, .. } = self;
        humantime::parse_duration(text)
            .map_err(|_| format!("not a time: give a number of {name}, or a time with a unit, such as {example}"))
    }

    /// A whole number of this unit, as records have it.
    fn whole(&self, text: &str) -> Result<u64, String> {
        let Unit { name, symbol, .. } = self;
        let not_whole = |next: f64| Err(format!("not a whole number of {name}: give one, such as {next}{symbol}"));
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() && number.fract() != 0.0 => return not_whole(number.ceil().max(1.0)),
            Ok(_) => return whole(text),
            Err(_) => (),
        }
        let (time, unit) = (self.told(text)?.as_nanos(), self.is.as_nanos());
        if time % unit != 0 {
            return not_whole(time.div_ceil(unit) as f64);
        }
        u64::try_from(time / unit).map_err(|_| "too long a time".to_owned())
    }

    /// A number of this unit that is more than 0.
    fn positive(&self, text: &str) -> Result<f64, String> {
        if text.parse::<f64>().is_ok() {
            return positive(text);
        }
        let time = self.told(text)?;
        if time.is_zero() { Err("must be more than 0".to_owned()) } else { Ok(time.div_duration_f64(self.is)) }
    }
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    match Duration::try_from_secs_f64(SECONDS.positive(text)?) {
        // It is less than a nanosecond.
        Ok(Duration::ZERO) => Err("must be a nanosecond or more".to_owned()),
        Ok(time) => Ok(time),
        Err(_) => Err("too long a time".to_owned()),
    }
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

/// What `parse` makes of a text, if it is not 0.
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
    fn what_is_no_number_of_that_kind_is_refused_with_what_is_allowed() {
        for (text, of_threads, of_jobs) in [
            ("-1", "must be at least 1", "must be at least 1"),
            ("0", "must be at least 1", "must be at least 1"),
            ("1e6", "not written with digits only: write 1000000", "not written with digits only: write 1000000"),
            ("2.5", "not a whole number: give one of at least 1", "not a whole number: give one of at least 1"),
            (
                "",
                "a number is missing: give a whole number of at least 1",
                "a number is missing: give a whole number of at least 1",
            ),
            (
                "99999999999999999999",
                "more than 10000 threads are not supported",
                "too large: no number may have more than 64 bits",
            ),
        ] {
            assert_eq!(number_of_threads(text), Err(of_threads.to_owned()), "{text}");
            assert_eq!(at_least_one::<u64>(text), Err(of_jobs.to_owned()), "{text}");
        }
        assert_eq!(whole::<u64>("-1"), Err("must be at least 0".to_owned()));
        let from_two = between(2, 93);
        for (text, told) in [
            ("0", "must be at least 2"),
            ("-7", "must be at least 2"),
            ("94", "must be at most 93"),
            ("4294967296", "must be at most 93"),
            ("x", "not a whole number: give one of at least 2"),
        ] {
            assert_eq!(from_two(text), Err(told.to_owned()), "{text}");
        }
        assert_eq!((from_two("2"), from_two("93")), (Ok(2), Ok(93)));
        assert_eq!(
            (positive("nan"), positive("-1")),
            (Err("not a number".to_owned()), Err("must be more than 0".to_owned()))
        );
    }

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
        for (text, told) in [
            ("0.5ms", "not a whole number of milliseconds: give one, such as 1ms"),
            ("500us", "not a whole number of milliseconds: give one, such as 1ms"),
            ("1.5", "not a whole number of milliseconds: give one, such as 2ms"),
            ("1e3", "not written with digits only: write 1000"),
            ("-1", "must be at least 0"),
            ("99999999999999999999", "too large: no number may have more than 64 bits"),
        ] {
            assert_eq!(milliseconds(text), Err(told.to_owned()), "{text}");
        }
        for text in ["soon", "5 parsecs", ""] {
            assert!(
                milliseconds(text)
                    .is_err_and(|why| why.ends_with("number of milliseconds, or a time with a unit, such as 2s"))
            );
        }
        assert_eq!((percent("1000"), percent("1e300")), (Ok(1000.0), Err("must be at most 1000".to_owned())));
        assert!(seconds("1e300").is_err_and(|why| why == "too long a time"));
        for endless in ["inf", "1e400"] {
            assert!(seconds(endless).is_err_and(|why| why.starts_with("too large")), "{endless}");
        }
        for nothing in ["0", "0us"] {
            assert!(more_than_nothing(microseconds)(nothing).is_err());
            assert!(parts_of_microseconds(nothing).is_err() && seconds(nothing).is_err());
        }
    }
}
