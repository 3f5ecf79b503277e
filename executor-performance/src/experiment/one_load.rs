//! Experiments that run one load at a time and look at the clock. They differ in what they ask.

use super::{BurstsSample, BurstsTurn, Experiment, Subject, cut::Cut, per_job};
use crate::{
    record::{Figure, Setting},
    sampler::Pace,
    workload::{Load, Pastime, Work},
};
use serde::{Serialize, de::DeserializeOwned};
use std::time::Duration;

/// Runs a load, all of it or as much as there is time for.
#[derive(Debug, Clone, Copy)]
pub struct OneLoad<Q> {
    question: Q,
    cut: Cut,
    patience: Duration,
}

impl<Q> OneLoad<Q> {
    /// Asks the `question` of executors with `threads` workers under `load`. Unless it must have its `full_size`, a
    /// sample may be smaller than the load.
    pub fn new(question: Q, threads: usize, load: Load, full_size: bool, patience: Duration) -> Self {
        OneLoad { question, cut: Cut::new(threads, load, full_size), patience }
    }
}

impl<Q: Question<Work = Pastime>> OneLoad<Q> {
    /// How long a sample takes at least, if it is as small as can be: also what is run before it to wake the executor.
    pub fn shortest_sample(&self) -> Duration {
        let time = self.question.work().time();
        let taking = |load: &Load| load.ideal(time, self.cut.threads());
        taking(&self.cut.primer()).saturating_add(taking(&self.cut.smallest()))
    }
}

/// What is asked of executors under a load.
pub trait Question {
    /// What each job of the load does.
    type Work: Work + Clone + Serialize + DeserializeOwned;

    /// The experiment's name in results and on the command line.
    const NAME: &'static str;

    /// Whether, with twice as many `threads`, the first figure should be twice as good, under the load that was `asked`
    /// for.
    fn scales(&self, _asked: &Load, _threads: usize) -> bool {
        true
    }

    /// What each job does.
    fn work(&self) -> Self::Work;

    /// The settings, for machines, without the numbers of threads and of sampled jobs: always the same columns.
    fn settings(&self, asked: &Load, sampled: &Load) -> Vec<Setting>;

    /// The settings, for people, without the threads and the size of a sample.
    fn description(&self, asked: &Load) -> Vec<(&'static str, String)>;

    /// The answer. By default it is what one job costs.
    fn figures(samples: &[BurstsSample]) -> Vec<Figure> {
        per_job::figures(samples)
    }
}

impl<Q: Question> Experiment for OneLoad<Q> {
    type Turn = BurstsTurn<Q::Work>;

    fn name(&self) -> &'static str {
        Q::NAME
    }

    fn turn(&self) -> BurstsTurn<Q::Work> {
        self.cut.burst(*self.cut.sampled(), self.question.work(), self.patience)
    }

    fn fit(&mut self, pace: &Pace, subjects: &[Box<dyn Subject<BurstsTurn<Q::Work>>>]) {
        let (whole, work, patience) = (self.cut, self.question.work(), self.patience);
        self.cut.fit(pace, subjects, |load| whole.burst(load, work.clone(), patience), BurstsSample::nanos);
    }

    fn settings(&self) -> Vec<Setting> {
        let mut settings = vec![Setting::new("threads", self.cut.threads())];
        settings.extend(self.question.settings(self.cut.asked(), self.cut.sampled()));
        settings.push(self.cut.jobs_per_sample());
        settings
    }

    fn description(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![super::assembled(self.cut.threads())];
        lines.extend(self.question.description(self.cut.asked()));
        lines.push(self.cut.description());
        lines
    }

    fn scales(&self) -> bool {
        self.question.scales(self.cut.asked(), self.cut.threads())
    }

    fn figures(&self, samples: &[BurstsSample]) -> Vec<Figure> {
        Q::figures(samples)
    }
}
