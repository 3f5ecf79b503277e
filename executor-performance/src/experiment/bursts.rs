//! The turn of experiments on chains: one or more bursts, with pauses.

use super::{JobTurn, Sample, Turn};
use crate::{
    failure::Failure,
    record::{Figure, Metric},
    sampler::Pace,
    subject::BuildPlan,
    workload::{Burst, Load, Relay, Work},
};
use executors::Executor;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::time::Duration;

/// Bursts of one load, one after the other.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct BurstsTurn<W> {
    /// What each burst runs.
    pub load: Load,
    /// What each job does.
    pub work: W,
    /// Whether all workers are started before the first of these jobs, which may be too few to start them all.
    pub assembled: bool,
    /// What is run before, unmeasured, so that workers have started and have worked.
    pub primer: Load,
    /// How many bursts.
    pub count: u32,
    /// Idle time before each.
    pub pause: Duration,
    /// When to give up waiting for jobs.
    pub patience: Duration,
}

impl<W: Work + Clone + Serialize + DeserializeOwned> Turn for BurstsTurn<W> {
    type Sample = BurstsSample;

    fn own_threads(&self) -> usize {
        self.load.producers()
    }
}

impl<W: Work + Clone + Serialize + DeserializeOwned> JobTurn for BurstsTurn<W> {
    fn run_on<E: Executor + Sync + 'static>(&self, plan: &BuildPlan<E>) -> Result<BurstsSample, Failure> {
        let bursts =
            if self.work.is_nothing() { self.run_with((), plan) } else { self.run_with(self.work.clone(), plan) }?;
        Ok(BurstsSample { bursts, ideal: self.load.ideal(self.work.time(), plan.threads()) })
    }
}

impl<W> BurstsTurn<W> {
    /// Runs the bursts, with `work` in place of their own.
    fn run_with<E, V>(&self, work: V, plan: &BuildPlan<E>) -> Result<Vec<Burst>, Failure>
    where
        E: Executor + Sync + 'static,
        V: Work,
    {
        let executor = if self.assembled { plan.build_assembled(self.patience) } else { plan.build() };
        let mut relay = Relay::new(executor?, work, self.patience);
        relay.run(&self.primer, Duration::ZERO)?;
        let bursts = (0..self.count).map(|_| relay.run(&self.load, self.pause)).collect::<Result<_, _>>()?;
        relay.finish()?;
        Ok(bursts)
    }
}

/// The bursts of one turn, in the order in which they ran.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct BurstsSample {
    /// All with the same number of jobs.
    pub bursts: Vec<Burst>,
    /// What each of them would take if the executor took no time.
    pub ideal: Duration,
}

impl BurstsSample {
    /// The mean time of a burst, in nanoseconds.
    pub fn nanos(&self) -> f64 {
        let total: Duration = self.bursts.iter().map(|burst| burst.wall).sum();
        total.as_nanos() as f64 / self.bursts.len() as f64
    }

    /// The time of each burst that is due to the executor, in nanoseconds.
    pub fn overheads(&self) -> impl Iterator<Item = f64> {
        self.bursts.iter().map(|burst| burst.wall.saturating_sub(self.ideal).as_nanos() as f64)
    }
}

impl Sample for BurstsSample {
    /// The mean of the times that are due to the executor, in nanoseconds.
    fn cost(&self) -> f64 {
        self.overheads().sum::<f64>() / self.bursts.len() as f64
    }
}

/// How many bursts, with a `pause` before each, a sample should have: as many as there is time for, because each sample
/// also costs an unmeasured burst, and other things take a `fixed` time in each round. `bursts` has the nanoseconds
/// that one burst of each subject took.
pub(super) fn that_fit(pace: &Pace, fixed: Duration, pause: Duration, bursts: &[f64]) -> u32 {
    const MOST: f64 = 100.0;
    let primers: f64 = bursts.iter().sum();
    let measured = primers + pause.as_nanos() as f64 * bursts.len() as f64;
    let fitting = (pace.good_round().saturating_sub(fixed).as_nanos() as f64 - primers) / measured;
    // The conversion would saturate if the number were out of range; it is in range.
    fitting.clamp(1.0, MOST) as u32
}

/// All bursts of `samples`.
pub(super) fn of(samples: &[BurstsSample]) -> impl Iterator<Item = &Burst> {
    samples.iter().flat_map(|sample| &sample.bursts)
}

/// What one job of `bursts` costs, in nanoseconds of CPU time.
pub(super) fn cpu_nanos_per_job<'a>(bursts: impl IntoIterator<Item = &'a Burst>) -> Option<f64> {
    ratio(bursts, |burst| burst.cpu, |burst| burst.jobs as f64)
}

/// How many bursts there were.
pub(super) const COUNT: Metric = Metric::new("bursts", ["bursts", ""]).with_decimals(0).more_is_better();

/// The CPU time of a burst.
pub(super) fn cpu_per_burst<'a>(bursts: impl IntoIterator<Item = &'a Burst>) -> Figure {
    Metric::new("cpu_us_per_burst", ["CPU", "us/burst"]).figure(ratio(bursts, |burst| burst.cpu, |_| 1e3))
}

/// A ratio of two sums over `bursts`. `None` if a value is missing, or the divisor is 0.
pub(super) fn ratio<'a>(
    bursts: impl IntoIterator<Item = &'a Burst>,
    numerator: impl Fn(&Burst) -> Option<Duration>,
    denominator: impl Fn(&Burst) -> f64,
) -> Option<f64> {
    let (mut above, mut below) = (Duration::ZERO, 0.0);
    for burst in bursts {
        above += numerator(burst)?;
        below += denominator(burst);
    }
    (below > 0.0).then(|| above.as_nanos() as f64 / below)
}

#[cfg(test)]
pub(crate) mod mock {
    use super::*;
    use std::time::Instant;

    /// A burst of `jobs` jobs in `nanos` nanoseconds, with twice as much CPU time, after no pause.
    pub(crate) fn burst(jobs: u64, nanos: u64) -> Burst {
        let wall = Duration::from_nanos(nanos);
        Burst {
            jobs,
            started: Instant::now(),
            submitting: wall / 2,
            wall,
            cpu: Some(wall * 2),
            idle: Duration::ZERO,
            idle_cpu: Some(Duration::ZERO),
        }
    }
}
