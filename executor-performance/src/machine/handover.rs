//! What it takes to hand a cache line from one core to another.
//!
//! Most of what threads pay for a common queue is that. It is not the same for all pairs of cores, and on a virtual
//! machine not even for one pair: while its cores are on cores of the host that share no cache, all that threads do
//! together may cost several times as much, and nothing else shows it.

use super::rally;
use crate::stats::quantile;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Nanoseconds in which a cache line came from the first core that this process may use to the last, as far as looks
/// between rounds tell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Handover {
    /// A tenth of the looks found no more.
    pub p10_ns: f64,
    /// Half of them.
    pub p50_ns: f64,
    /// Nine tenths.
    pub p90_ns: f64,
}

/// So many times as much is no longer the same.
const DIFFERENT: f64 = 2.0;

impl Handover {
    fn of(mut looks: Vec<f64>) -> Option<Self> {
        looks.sort_by(f64::total_cmp);
        let at = |part| quantile(&looks, part);
        (!looks.is_empty()).then(|| Handover { p10_ns: at(0.1), p50_ns: at(0.5), p90_ns: at(0.9) })
    }

    /// Whether the machine was another one, or another pair of cores, than when the `other` was found.
    pub fn is_unlike(&self, other: &Handover) -> bool {
        are_different(self.p50_ns, other.p50_ns)
    }

    /// What makes measurements doubtful that were taken meanwhile.
    pub(super) fn doubt(&self) -> Option<String> {
        are_different(self.p10_ns, self.p90_ns).then(|| {
            format!(
                "a cache line took {:.0} to {:.0} ns from core to core: this was not the same machine throughout, as when \
                 a host moves a virtual one's cores; repeat it",
                self.p10_ns, self.p90_ns
            )
        })
    }
}

fn are_different(first: f64, second: f64) -> bool {
    first.max(second) > DIFFERENT * first.min(second)
}

/// Looks again and again, but never so often that it would count.
#[derive(Debug)]
pub(super) struct Looks {
    found: Vec<f64>,
    /// When to look next.
    next: Instant,
}

impl Looks {
    /// The pause is so many times as long as a look.
    const PAUSE: u32 = 100;

    pub(super) fn new() -> Self {
        Looks { found: Vec::new(), next: Instant::now() }
    }

    /// Looks, if it is time to.
    pub(super) fn look(&mut self) {
        let begin = Instant::now();
        if begin >= self.next {
            self.found.extend(rally::handover_ns());
            self.next = Instant::now() + Self::PAUSE * begin.elapsed();
        }
    }

    pub(super) fn found(&self) -> Option<Handover> {
        Handover::of(self.found.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_looks_that_differ_are_no_doubt_and_many_are() {
        let of = |far: usize| {
            let looks = (0..20).map(|look| if look < far { 190.0 } else { 30.0 }).collect();
            Handover::of(looks).expect("looks")
        };
        assert_eq!(of(1), Handover { p10_ns: 30.0, p50_ns: 30.0, p90_ns: 30.0 });
        assert_eq!(of(1).doubt(), None);
        let doubt = of(5).doubt().expect("a quarter");
        assert!(doubt.contains("30 to 190 ns"), "{doubt}");
        assert_eq!(of(20).doubt(), None, "always the same, though it is slow");
        assert_eq!(Handover::of(Vec::new()), None);
    }

    #[test]
    fn looks_take_a_hundredth_of_the_time() {
        let mut looks = Looks::new();
        let begin = Instant::now();
        looks.look();
        let took = begin.elapsed();
        looks.look();
        assert!(looks.found.len() <= 1 && looks.next >= begin + took, "{looks:?}");
    }
}
