//! Short sleeps of a worker that was woken for nothing.
//!
//! A chain, in which each job submits one other to the pool, has work for one worker; but each step is a job that an
//! idle worker might take, and must take if the first one blocks. A worker that is woken for such a job mostly comes
//! too late. It then naps for a while, in which no worker is woken for jobs of this kind, and looks again. As long as
//! jobs keep ending, the naps become longer; when none does, the worker goes to sleep.

use crate::parker::Parker;
use std::time::Duration;

const SHORTEST: Duration = Duration::from_micros(50);

/// A job may wait this long at a worker that blocks, while another naps. (Twice as long if the napper looked at the
/// moment at which the job was pushed: see "Naps" in `parker/README.md`.)
const LONGEST: Duration = Duration::from_micros(500);

/// How long to nap next, if at all.
#[derive(Clone, Copy, Default)]
pub(super) struct Nap {
    duration: Option<Duration>,
    /// How many jobs of the pool, and parts of jobs, had ended before.
    ended: u64,
}

impl Nap {
    /// The next one after a rest in vain, when `ended` jobs and parts have ended.
    pub(super) fn next(self, ended: u64) -> Nap {
        let longer = self.duration.map_or(SHORTEST, |duration| (duration * 2).min(LONGEST));
        Nap { duration: (ended != self.ended).then_some(longer), ended }
    }

    /// Announces a nap or a sleep. Returns how long the nap is to be.
    pub(super) fn announce(self, parker: &impl Parker, seat: usize) -> Option<Duration> {
        match self.duration {
            Some(duration) => parker.prepare_nap(seat).then_some(duration),
            None => {
                parker.prepare_park(seat);
                None
            }
        }
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    #[test]
    fn naps_become_longer_while_jobs_end() {
        let mut nap = Nap::default();
        assert_eq!(nap.duration, None);
        let mut durations = Vec::new();
        for ended in 1..=5 {
            nap = nap.next(ended);
            durations.push(nap.duration.map(|duration| duration.as_micros()));
        }
        assert_eq!(durations, [50, 100, 200, 400, 500].map(Some));
        assert_eq!(nap.next(5).duration, None);
        assert_eq!(nap.next(5).next(6).duration, Some(SHORTEST));
    }
}
