//! Watches a run: writes results again and again while they are measured, so that none is lost whatever happens, and
//! looks at the machine between rounds.

use super::Session;
use crate::{
    experiment::{Experiment, SampleOf},
    machine::{Observer, Surroundings},
    record::rows,
    sampler::{Series, Watcher},
};
use std::time::{Duration, Instant};

/// The least time between two writes.
const PAUSE: Duration = Duration::from_secs(1);

/// The least time between two writes, as a multiple of how long writing took.
const SHARE: u32 = 50;

/// Watches one run.
pub(super) struct Recorder<'a, X> {
    session: &'a mut Session,
    experiment: &'a X,
    observer: Observer,
    /// When to write next.
    next: Instant,
}

impl<'a, X: Experiment> Recorder<'a, X> {
    pub(super) fn new(session: &'a mut Session, experiment: &'a X) -> Self {
        Recorder { session, experiment, observer: Observer::start(), next: Instant::now() }
    }

    /// What went on meanwhile.
    pub(super) fn seen(&self) -> Surroundings {
        self.observer.seen()
    }

    fn write(&mut self, elapsed: Duration, series: &[Series<SampleOf<X>>]) {
        let began = Instant::now();
        let rows = rows(self.experiment, series, self.session.record.program.seed);
        self.session.update(|run| (run.rows, run.seconds) = (rows, elapsed.as_secs_f64()));
        self.session.each(|sink, record| sink.update(record));
        self.next = Instant::now() + PAUSE.max(SHARE * began.elapsed());
    }
}

impl<X: Experiment> Watcher<SampleOf<X>> for Recorder<'_, X> {
    fn sampling(&mut self, executor: &str) {
        self.session.progress.sampling(executor);
    }

    fn round_ended(&mut self, elapsed: Duration, error: f64, series: &[Series<SampleOf<X>>]) {
        self.session.progress.round_ended(elapsed, error);
        self.observer.look();
        if Instant::now() >= self.next && series.iter().any(|series| !series.samples.is_empty()) {
            self.write(elapsed, series);
        }
    }

    fn wants_end(&self) -> bool {
        self.session.wants_end()
    }
}
