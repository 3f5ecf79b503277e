//! Models of a crew on the source of the channel pool: real workers, and a single lane.

use super::{ModelParker, Pair, Tally, see_off, start};
use crate::{
    backing::Backing,
    crew::Handle,
    source::fifo::FifoSource,
    sync::{check, check_at_length, thread},
};
use std::time::Duration;

fn crew(workers: usize) -> Handle<FifoSource, ModelParker> {
    start(workers, FifoSource::new())
}

/// One submitter may find the back of the lane held by the other, and goes round.
#[test]
fn jobs_of_two_submitters_run() {
    check_at_length(2, || {
        let (crew, ran) = (crew(1), Tally::default());
        let submitter = thread::spawn({
            let (crew, mark) = (crew.clone(), ran.mark());
            move || crew.execute(mark)
        });
        crew.execute(ran.mark());
        submitter.join().unwrap();
        crew.join(None).unwrap();
        assert_eq!(ran.count(), 2);
        see_off(crew);
    });
}

#[test]
fn jobs_can_wait_for_each_other() {
    check_at_length(2, || {
        let (crew, pair) = (crew(2), Pair::default());
        pair.jobs().for_each(|job| crew.execute(job));
        pair.meet();
        see_off(crew);
    });
}

#[test]
fn a_late_job_runs_once_or_is_given_back() {
    check(2, || {
        let (crew, ran) = (crew(1), Tally::default());
        let submitter = thread::spawn({
            let (crew, mark) = (crew.clone(), ran.mark());
            move || crew.try_execute(mark).is_ok()
        });
        let _ = crew.shutdown_timeout(Duration::MAX).unwrap();
        let accepted = submitter.join().unwrap();
        see_off(crew);
        assert_eq!(ran.count(), usize::from(accepted));
    });
}
