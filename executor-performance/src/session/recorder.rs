//! Watches a run: writes results again and again while they are measured, so that none is lost whatever happens, and
//! looks at the machine between rounds.

use super::{Session, rows};
use crate::{
    experiment::{Experiment, SampleOf},
    machine::{Observer, Surroundings},
    sampler::{Pace, Series, Watcher},
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
    /// How much is sampled, and when the first round began, until that has ended and shown whether there is time.
    first: Option<(Pace, Duration)>,
    /// When to write next.
    next: Instant,
}

impl<'a, X: Experiment> Recorder<'a, X> {
    pub(super) fn new(session: &'a mut Session, experiment: &'a X) -> Self {
        Recorder { session, experiment, observer: Observer::start(), first: None, next: Instant::now() }
    }

    /// Says so if the first round, which begins when `elapsed` has passed, shows that there is too little time for all
    /// that `pace` asks for.
    pub(super) fn look_at_first_round(&mut self, pace: Pace, elapsed: Duration) {
        self.first = Some((pace, elapsed));
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

/// Whether the least number of rounds takes much longer than the budget, if all take as long as the first, which was
/// from `began` to `ended`.
fn overrun(pace: &Pace, began: Duration, ended: Duration) -> Option<String> {
    /// The first round, in which processes start, takes longer than the others.
    const MUCH: f64 = 1.5;
    let rounds = pace.least_rounds();
    let (began, ended, budget) = (began.as_secs_f64(), ended.as_secs_f64(), pace.budget_in_seconds());
    let expected = began + (ended - began) * rounds as f64;
    (expected > MUCH * budget).then(|| {
        format!(
            "{rounds} rounds, the fewest that are possible, may take {expected:.0} s, more than the budget of {budget} s: \
             raise --budget, or lower --min-samples, --processes or --warm-up"
        )
    })
}

impl<X: Experiment> Watcher<SampleOf<X>> for Recorder<'_, X> {
    fn sampling(&mut self, executor: &str) {
        self.session.progress.sampling(executor);
    }

    fn round_ended(&mut self, elapsed: Duration, error: f64, series: &[Series<SampleOf<X>>]) {
        self.session.progress.round_ended(elapsed, error);
        if let Some(doubt) = self.first.take().and_then(|(pace, began)| overrun(&pace, began, elapsed)) {
            let doubts = [doubt];
            self.session.warn(&self.session.located(&doubts));
            self.session.update(|run| run.warnings.extend(doubts));
        }
        self.observer.look();
        if Instant::now() >= self.next && series.iter().any(|series| !series.samples.is_empty()) {
            self.write(elapsed, series);
        }
    }

    fn wants_end(&self) -> bool {
        self.session.wants_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_fit_into_the_budget_is_told_after_the_first_round() {
        let budget = Duration::from_secs(10);
        let pace = Pace { warm_up: 1, min_samples: 10, max_samples: 100, processes: 5, target: 0.02, budget };
        let told = |millis: u64| overrun(&pace, Duration::from_secs(1), Duration::from_millis(1000 + millis));
        assert_eq!(told(800), None, "13 s are not much more");
        let told = told(4000).expect("15 rounds of 4 s");
        assert!(told.contains("15 rounds") && told.contains("61 s") && told.contains("of 10 s"), "{told}");
    }
}
