//! How far a mean of few numbers may be from the truth.

use std::f64::consts::FRAC_PI_2;

/// With more degrees of freedom the normal distribution is as good.
const NORMAL: f64 = 1000.0;

/// Steps of the integral.
const STEPS: u32 = 4_000;

/// The number beyond which Student's t distribution with `freedom` degrees of freedom (at least one) is with the
/// probability `tail` at each end.
///
/// With t = sqrt(freedom) tan(a), the density is a power of the cosine of a, which can be summed up.
pub(super) fn quantile(freedom: f64, tail: f64) -> f64 {
    let freedom = freedom.clamp(1.0, NORMAL);
    let step = FRAC_PI_2 / f64::from(STEPS);
    let density = |index: u32| (step * (f64::from(index) + 0.5)).cos().powf(freedom - 1.0);
    let whole: f64 = (0..STEPS).map(density).sum();
    let (wanted, mut sum) = ((1.0 - 2.0 * tail) * whole, 0.0);
    for index in 0..STEPS {
        let part = density(index);
        if sum + part >= wanted {
            return freedom.sqrt() * (step * (f64::from(index) + (wanted - sum) / part)).tan();
        }
        sum += part;
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_that_of_the_printed_tables() {
        for (freedom, tail, expected) in [
            (1.0, 0.025, 12.706),
            (2.0, 0.025, 4.303),
            (4.0, 0.025, 2.776),
            (8.0, 0.025, 2.306),
            (8.0, 0.005, 3.355),
            (30.0, 0.025, 2.042),
            (1.0, 0.0005, 636.619),
            (f64::INFINITY, 0.025, 1.962),
        ] {
            let quantile = quantile(freedom, tail);
            assert!((quantile / expected - 1.0).abs() < 1e-3, "{freedom} {tail}: {quantile}, not {expected}");
        }
    }
}
