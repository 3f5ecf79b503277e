//! How many jobs, in which shape.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A number of chains of jobs, and the number of producers that start them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    producers: usize,
    messages: u64,
    amplification: u64,
}

impl Load {
    /// So many that a load can be counted together with all that have run before it.
    const MOST_JOBS: u64 = u64::MAX / 2;

    /// A load of `producers` threads that start `messages` chains each, where the first job of a chain has
    /// `amplification` successors.
    ///
    /// `None` if there would be nothing to run, or more jobs than can be counted.
    pub fn new(producers: usize, messages: u64, amplification: u64) -> Option<Self> {
        let chains = u64::try_from(producers).ok()?.checked_mul(messages)?;
        let jobs = chains.checked_mul(amplification.checked_add(1)?)?;
        (1..=Self::MOST_JOBS).contains(&jobs).then_some(Load { producers, messages, amplification })
    }

    /// Threads that give jobs from outside.
    pub fn producers(&self) -> usize {
        self.producers
    }

    /// Chains that each producer starts.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Jobs that each chain has beyond its first.
    pub fn amplification(&self) -> u64 {
        self.amplification
    }

    /// Chains of all producers.
    pub fn chains(&self) -> u64 {
        self.producers as u64 * self.messages
    }

    /// Jobs of all chains: those from outside and those from inside.
    pub fn jobs(&self) -> u64 {
        self.chains() * (self.amplification + 1)
    }

    /// A load of the same shape, where each producer starts `messages` chains, but no more than in this one.
    pub fn with_messages(&self, messages: u64) -> Self {
        Load { messages: messages.min(self.messages), ..*self }
    }

    /// How long it takes at least on `threads` threads, if each job takes `time`.
    pub fn ideal(&self, time: Duration, threads: usize) -> Duration {
        let side_by_side = self.chains().min(threads as u64).max(1);
        // This holds even if the chains cannot be divided evenly: their jobs take turns.
        let rounds = self.jobs().div_ceil(side_by_side);
        let nanos = u128::from(rounds) * time.as_nanos();
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// A load of the same shape with about `jobs` jobs, never more than this one has.
    ///
    /// Shortens the chains first, but not below a length at which the jobs from outside are 1 % of all; then takes
    /// chains away, but leaves 16 for each of `threads`, so that no worker runs out of jobs earlier than it would have.
    /// What is left then may be more than asked for.
    pub fn shrunk_to(&self, jobs: u64, threads: usize) -> Self {
        const LONG_CHAIN: u64 = 100;
        const CHAINS_PER_THREAD: u64 = 16;
        let producers = self.producers as u64;
        let shortest = self.amplification.min(LONG_CHAIN);
        let fewest = (CHAINS_PER_THREAD * threads as u64).div_ceil(producers).min(self.messages);

        let amplification = (jobs / self.chains()).saturating_sub(1).clamp(shortest, self.amplification);
        let messages = (jobs / (amplification + 1) / producers).clamp(fewest, self.messages);
        Load { messages, amplification, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(producers: usize, messages: u64, amplification: u64) -> Load {
        Load::new(producers, messages, amplification).expect("countable")
    }

    #[test]
    fn counts_the_jobs_from_outside_and_from_inside() {
        assert_eq!(load(2, 10_000_000, 1).jobs(), 40_000_000);
        assert_eq!(load(2, 1000, 50_000).jobs(), 100_002_000);
        assert_eq!(load(3, 7, 0).jobs(), 21);
    }

    #[test]
    fn refuses_what_cannot_be_counted() {
        assert_eq!(Load::new(0, 1, 1), None);
        assert_eq!(Load::new(1, 0, 1), None);
        assert_eq!(Load::new(2, u64::MAX, 0), None);
        assert_eq!(Load::new(1, 1, u64::MAX), None);
        assert_eq!(Load::new(1, 1 << 32, 1 << 32), None);
        assert_eq!(Load::new(1, u64::MAX, 0), None);
        let most = load(1, Load::MOST_JOBS, 0);
        assert_eq!(most.jobs().checked_add(Load::MOST_JOBS), Some(u64::MAX - 1));
    }

    #[test]
    fn shrinks_short_chains_by_taking_some_away() {
        let shrunk = load(2, 10_000_000, 1).shrunk_to(400_000, 4);
        assert_eq!((shrunk.messages(), shrunk.amplification()), (100_000, 1));
    }

    #[test]
    fn shrinks_long_chains_by_shortening_them() {
        let shrunk = load(2, 1000, 50_000).shrunk_to(400_000, 4);
        assert_eq!((shrunk.messages(), shrunk.amplification()), (1000, 199));
    }

    #[test]
    fn shrinks_no_further_than_the_shape_allows() {
        let shrunk = load(2, 1000, 50_000).shrunk_to(1, 4);
        assert_eq!((shrunk.messages(), shrunk.amplification()), (32, 100));
        assert_eq!(load(2, 3, 1).shrunk_to(1, 4), load(2, 3, 1));
    }

    #[test]
    fn the_ideal_is_as_many_jobs_at_a_time_as_can_be() {
        let (time, micros) = (Duration::from_micros(100), Duration::from_micros);
        assert_eq!(load(1, 100, 0).ideal(time, 4), micros(2500));
        assert_eq!(load(1, 101, 0).ideal(time, 4), micros(2600));
        assert_eq!(load(1, 2, 9).ideal(time, 4), micros(1000));
        assert_eq!(load(1, 8, 9).ideal(time, 4), micros(2000));
        assert_eq!(load(1, 3, 9).ideal(time, 2), micros(1500));
        assert_eq!(load(1, 8, 9).ideal(Duration::ZERO, 4), Duration::ZERO);
    }

    #[test]
    fn never_grows() {
        assert_eq!(load(2, 1000, 50).shrunk_to(u64::MAX, 4), load(2, 1000, 50));
    }
}
