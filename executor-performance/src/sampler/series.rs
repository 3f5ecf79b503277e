use crate::{
    experiment::{Sample, costs, relative_error},
    failure::Failure,
    stats::{self, Level},
    usage::Usage,
};

/// The samples of one executor.
#[derive(Debug)]
pub struct Series<S> {
    /// The executor's name.
    pub name: &'static str,
    /// The samples, in order, without the warm-up.
    pub samples: Vec<S>,
    /// What the process used for each.
    pub usages: Vec<Usage>,
    /// Which process gave each: the first is 0.
    pub processes: Vec<u64>,
    /// Whether it has been seen that these differ. Then a test that no longer finds it ends nothing.
    pub differs: bool,
    /// Why there are no more, if the executor failed.
    pub failure: Option<Failure>,
}

impl<S: Sample> Series<S> {
    /// The relative standard error of the samples so far, as a fraction.
    pub fn relative_error(&self) -> f64 {
        relative_error(&self.samples)
    }

    /// Looks whether the processes differ. `seed` is for that test.
    pub(super) fn compare_processes(&mut self, seed: u64) {
        self.differs = self.differs || stats::differ(&costs(&self.samples), &self.processes, seed);
    }

    /// As [`Level::error_beside`], with what is known of whether they differ.
    pub(super) fn error(&self) -> f64 {
        let (costs, of_samples) = (costs(&self.samples), self.relative_error());
        let level = Level::of(&costs, &self.processes);
        level.map_or(of_samples, |level| level.error_beside(of_samples, self.differs))
    }

    /// Whether the error is at most `target`.
    pub(super) fn is_precise(&self, target: f64) -> bool {
        let error = self.error();
        // Of nothing but zeros it is not a number.
        error.is_nan() || error <= target
    }
}

impl<S> Series<S> {
    /// Forgets all but the first `samples` samples.
    pub(super) fn forget_beyond(&mut self, samples: usize) {
        self.samples.truncate(samples);
        self.usages.truncate(samples);
        self.processes.truncate(samples);
    }
}

/// How many samples there are of each executor that has not failed.
pub(super) fn samples<S>(series: &[Series<S>]) -> usize {
    healthy(series).next().map_or(0, |series| series.samples.len())
}

pub(super) fn healthy<S>(series: &[Series<S>]) -> impl Iterator<Item = &Series<S>> {
    series.iter().filter(|series| series.failure.is_none())
}

pub(super) fn worst_error<S: Sample>(series: &[Series<S>]) -> f64 {
    healthy(series).map(Series::relative_error).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::tests::Seconds;

    #[test]
    fn processes_that_have_differed_are_not_precise_because_a_test_does_not_find_it_any_more() {
        let samples = [10, 10, 12, 12].map(Seconds).into_iter().collect();
        let (name, usages, processes) = ("moody", Vec::new(), vec![0, 1, 2, 3]);
        let mut series = Series { name, samples, usages, processes, differs: false, failure: None };
        series.compare_processes(0);
        assert!(!series.differs && series.is_precise(0.053));
        series.differs = true;
        series.compare_processes(0);
        assert!(series.differs && !series.is_precise(0.0525));
    }
}
