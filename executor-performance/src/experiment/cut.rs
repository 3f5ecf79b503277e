//! A load that may be too large for the budget.

use super::{BurstsTurn, Subject, Turn};
use crate::{failure::Failure, record::Setting, sampler::Pace, workload::Load};
use std::time::Duration;

/// A load that was asked for, and the part of it that a sample runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    threads: usize,
    asked: Load,
    sampled: Load,
    /// Whether these two must be the same.
    full_size: bool,
}

impl Cut {
    /// The whole load, for executors with `threads` workers. Unless it must have its `full_size`, it may be cut.
    pub(super) fn new(threads: usize, load: Load, full_size: bool) -> Self {
        Cut { threads, asked: load, sampled: load, full_size }
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// What was asked for.
    pub(super) fn asked(&self) -> &Load {
        &self.asked
    }

    /// What a sample runs.
    pub(super) fn sampled(&self) -> &Load {
        &self.sampled
    }

    /// The smallest load of the same shape, to be run before a sample.
    pub(super) fn primer(&self) -> Load {
        self.asked.shrunk_to(0, self.threads)
    }

    /// The smallest load that a sample may run.
    pub(super) fn smallest(&self) -> Load {
        if self.full_size { self.asked } else { self.primer() }
    }

    /// One burst of `load`, which is this load or a piece of it, and whose jobs do `work`.
    pub(super) fn burst<W>(&self, load: Load, work: W, patience: Duration) -> BurstsTurn<W> {
        BurstsTurn { load, work, assembled: true, primer: self.primer(), count: 1, pause: Duration::ZERO, patience }
    }

    /// If the load does not fit into `pace`, cuts it so that a round fits. `turn` runs a piece of the load, and `nanos`
    /// says how long that took.
    pub(super) fn fit<T: Turn>(
        &mut self,
        pace: &Pace,
        subjects: &[Box<dyn Subject<T>>],
        turn: impl Fn(Load) -> T,
        nanos: impl Fn(&T::Sample) -> f64,
    ) {
        if self.full_size {
            return;
        }
        let timed = |subject: &dyn Subject<T>, piece| subject.take(&turn(piece)).map(|sample| nanos(&sample));
        let nanos_per_job: f64 =
            subjects.iter().filter_map(|subject| self.nanos_per_job(|piece| timed(&**subject, piece)).ok()).sum();
        if nanos_per_job * self.asked.jobs() as f64 > pace.longest_round().as_nanos() as f64 {
            let jobs = pace.good_round().as_nanos() as f64 / nanos_per_job;
            self.sampled = self.asked.shrunk_to(jobs as u64, self.threads);
        }
    }

    /// The time that a job of this load takes, by timing larger and larger pieces of it.
    fn nanos_per_job(&self, timed: impl Fn(Load) -> Result<f64, Failure>) -> Result<f64, Failure> {
        const ENOUGH: f64 = 20e6;
        let mut piece = self.primer();
        loop {
            let nanos = timed(piece)?;
            if nanos >= ENOUGH || piece == self.asked {
                return Ok(nanos / piece.jobs() as f64);
            }
            piece = self.asked.shrunk_to(piece.jobs().saturating_mul(8), self.threads);
        }
    }

    /// How much a sample is, for machines.
    pub(super) fn jobs_per_sample(&self) -> Setting {
        Setting::fitted("jobs_per_sample", self.sampled.jobs())
    }

    /// How much a sample is, for people.
    pub(super) fn description(&self) -> (&'static str, String) {
        let sampled = &self.sampled;
        let sample = if *sampled == self.asked {
            "all of it".to_owned()
        } else if self.asked.amplification() == 0 {
            format!("{} of them, so that enough samples fit into the budget; --full-size runs it all", sampled.jobs())
        } else {
            format!(
                "{} jobs ({} messages, amplification {}), so that enough samples fit into the budget; \
                 --full-size runs it all",
                sampled.jobs(),
                sampled.messages(),
                sampled.amplification()
            )
        };
        ("a sample", sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiment::{BurstsSample, bursts::mock::burst},
        workload::Labour,
    };
    use std::{cell::Cell, rc::Rc};

    const PACE: Pace = Pace {
        warm_up: 1,
        min_samples: 5,
        max_samples: 100,
        processes: 1,
        target: 0.02,
        budget: Duration::from_secs(60),
    };

    /// Takes that many nanoseconds for each job.
    #[derive(Debug)]
    struct Steady(u64);

    impl Subject<BurstsTurn<Labour>> for Steady {
        fn name(&self) -> &'static str {
            "steady"
        }

        fn take(&self, turn: &BurstsTurn<Labour>) -> Result<BurstsSample, Failure> {
            let jobs = turn.load.jobs();
            Ok(BurstsSample { bursts: vec![burst(jobs, jobs * self.0)], ..BurstsSample::default() })
        }
    }

    /// Takes a second for each job, and counts the jobs.
    #[derive(Debug, Default)]
    struct Slow(Rc<Cell<u64>>);

    impl Subject<BurstsTurn<Labour>> for Slow {
        fn name(&self) -> &'static str {
            "slow"
        }

        fn take(&self, turn: &BurstsTurn<Labour>) -> Result<BurstsSample, Failure> {
            self.0.set(self.0.get() + turn.load.jobs());
            Steady(1_000_000_000).take(turn)
        }
    }

    #[derive(Debug)]
    struct Broken;

    impl Subject<BurstsTurn<Labour>> for Broken {
        fn name(&self) -> &'static str {
            "broken"
        }

        fn take(&self, _turn: &BurstsTurn<Labour>) -> Result<BurstsSample, Failure> {
            Err(Failure::Submission)
        }
    }

    /// The number of jobs in a sample, of two producers whose messages each have one successor.
    fn fitted(messages: u64, full_size: bool, subjects: &[Box<dyn Subject<BurstsTurn<Labour>>>]) -> u64 {
        let mut cut = Cut::new(2, Load::new(2, messages, 1).expect("countable"), full_size);
        let whole = cut;
        let turn = |load| whole.burst(load, Labour::default(), Duration::from_secs(1));
        cut.fit(&PACE, subjects, turn, BurstsSample::nanos);
        cut.sampled().jobs()
    }

    #[test]
    fn a_load_that_fits_is_sampled_whole() {
        assert_eq!(fitted(1_000_000, false, &[Box::new(Steady(100)), Box::new(Steady(200))]), 4_000_000);
    }

    #[test]
    fn a_load_that_does_not_fit_is_sampled_in_pieces_that_do() {
        let jobs = fitted(10_000_000, false, &[Box::new(Steady(6_000)), Box::new(Steady(8_000))]);
        let round = Duration::from_nanos(jobs * 14_000);
        assert!(round <= PACE.good_round() && round * 2 > PACE.good_round(), "{round:?}");
    }

    #[test]
    fn no_more_than_the_least_is_tried_of_what_takes_long() {
        let tried = Rc::<Cell<u64>>::default();
        let least = fitted(10_000_000, false, &[Box::new(Slow(Rc::clone(&tried)))]);
        assert_eq!(tried.get(), least);
    }

    #[test]
    fn full_size_is_full_size() {
        assert_eq!(fitted(10_000_000, true, &[Box::new(Steady(8_000))]), 40_000_000);
    }

    #[test]
    fn broken_executors_do_not_keep_the_others_from_fitting() {
        let alone = fitted(10_000_000, false, &[Box::new(Steady(8_000))]);
        assert_eq!(fitted(10_000_000, false, &[Box::new(Broken), Box::new(Steady(8_000))]), alone);
        assert_eq!(fitted(10_000_000, false, &[Box::new(Broken)]), 40_000_000);
    }
}
