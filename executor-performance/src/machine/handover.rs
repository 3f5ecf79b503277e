//! How long it takes to hand a cache line from one core to another.
//!
//! This is most of what a shared queue costs threads. It is not the same for all pairs of cores, and on a virtual
//! machine not even for one pair: now and then it takes several times as long for some seconds, probably because the
//! host has moved one of the cores to where they share no cache. Then everything that threads do together takes several
//! times as long, and nothing else shows it.

use super::rally;
use crate::stats::quantile;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// How many nanoseconds a cache line took from the first core that this process may use to the last, according to looks
/// between rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Handover {
    /// How many looks there were.
    pub looks: usize,
    /// A tenth of them found no more than this.
    pub p10_ns: f64,
    /// Half of them did.
    pub p50_ns: f64,
    /// Nine tenths of them did.
    pub p90_ns: f64,
}

/// Times that differ by more than this factor are not the same.
const DIFFERENT: f64 = 2.0;

/// With fewer looks, a single one is a tenth of them.
const MANY: usize = 11;

impl Handover {
    fn of(looks: &[f64]) -> Option<Self> {
        let mut sorted = looks.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |part| quantile(&sorted, part);
        let handover = || Handover { looks: looks.len(), p10_ns: at(0.1), p50_ns: at(0.5), p90_ns: at(0.9) };
        (!looks.is_empty()).then(handover)
    }

    /// How many times as long it took as in the `other`, or the other way round: at least 1.
    pub fn times(&self, other: &Handover) -> f64 {
        times(self.p50_ns, other.p50_ns)
    }

    /// Whether it took so much longer in one of the two that a comparison of what was measured meanwhile is doubtful.
    pub fn is_unlike(&self, other: &Handover) -> bool {
        self.times(other) > DIFFERENT
    }

    /// What makes measurements doubtful that were taken meanwhile.
    pub(super) fn doubt(&self) -> Option<String> {
        (self.looks >= MANY && times(self.p10_ns, self.p90_ns) > DIFFERENT).then(|| {
            format!(
                "a cache line took {:.0} to {:.0} ns from core to core: something changed meanwhile, on a virtual machine \
                 perhaps on which cores of the host it is, else the clock rate; repeat it",
                self.p10_ns, self.p90_ns
            )
        })
    }
}

fn times(first: f64, second: f64) -> f64 {
    first.max(second) / first.min(second)
}

/// Looks again and again, but so seldom that it does not disturb the measurement.
#[derive(Debug)]
pub(super) struct Looks {
    found: Vec<f64>,
    /// When to look next.
    next: Instant,
}

impl Looks {
    pub(super) fn new() -> Self {
        Looks { found: Vec::new(), next: Instant::now() }
    }

    /// Looks, if it is time to.
    pub(super) fn look(&mut self) {
        let begin = Instant::now();
        if begin >= self.next {
            self.found.extend(rally::handover_ns());
            self.next = Instant::now() + pause_behind(begin.elapsed());
        }
    }

    pub(super) fn handover(&self) -> Option<Handover> {
        Handover::of(&self.found)
    }
}

/// The pause after a look: all looks together take a hundredth of the time.
fn pause_behind(look: Duration) -> Duration {
    100 * look
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The handover after `looks` looks, `far` of which found cores that are far apart.
    fn of(looks: usize, far: usize) -> Handover {
        let found: Vec<f64> = (0..looks).map(|look| if look < far { 190.0 } else { 30.0 }).collect();
        Handover::of(&found).expect("looks")
    }

    #[test]
    fn a_look_that_differs_is_no_doubt_and_many_are() {
        assert_eq!(of(20, 1), Handover { looks: 20, p10_ns: 30.0, p50_ns: 30.0, p90_ns: 30.0 });
        assert_eq!(of(MANY, 1).doubt(), None);
        assert_eq!(of(6, 1).doubt(), None, "one of a few");
        let doubt = of(20, 5).doubt().expect("a quarter");
        assert!(doubt.contains("30 to 190 ns"), "{doubt}");
        assert_eq!(of(20, 20).doubt(), None, "always the same, though it is slow");
        assert_eq!(Handover::of(&[]), None);
    }

    #[test]
    fn what_took_several_times_as_long_is_unlike() {
        assert!(of(20, 20).is_unlike(&of(20, 0)) && of(20, 0).is_unlike(&of(20, 20)));
        assert!(!of(20, 1).is_unlike(&of(20, 0)));
    }

    #[test]
    fn nobody_looks_before_it_is_time() {
        assert_eq!(pause_behind(Duration::from_micros(150)), Duration::from_millis(15));
        let mut looks = Looks { next: Instant::now() + Duration::from_secs(3600), ..Looks::new() };
        looks.look();
        assert_eq!(looks.handover(), None);
    }
}
