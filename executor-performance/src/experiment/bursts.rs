//! The turn of both experiments on chains: one or more bursts, with pauses.

use super::{Sample, Turn};
use crate::{
    failure::Failure,
    workload::{Load, Relay},
};
use executors::Executor;
use std::time::Duration;

/// Bursts of one load, one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Bursts {
    /// What each burst runs.
    pub load: Load,
    /// What is run before, unmeasured, so that every worker exists and has worked.
    pub primer: Load,
    /// How many bursts.
    pub count: u32,
    /// Idle time before each.
    pub pause: Duration,
    /// When to give up waiting for jobs.
    pub patience: Duration,
}

impl Turn for Bursts {
    fn run_on<E: Executor + Sync + 'static>(&self, executor: E) -> Result<Sample, Failure> {
        let mut relay = Relay::new(executor, self.load.labour(), self.patience);
        relay.run(&self.primer, Duration::ZERO)?;
        let bursts = (0..self.count).map(|_| relay.run(&self.load, self.pause)).collect::<Result<_, _>>()?;
        relay.finish()?;
        Ok(Sample { jobs: self.load.jobs(), bursts })
    }
}
