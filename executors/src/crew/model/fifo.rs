//! Models of a crew on the source of the channel pool: real workers, and a single lane.

use super::{ModelParker, scenario, start};
use crate::{
    crew::Handle,
    source::fifo::FifoSource,
    sync::{check, check_at_length},
};

fn crew(workers: usize) -> Handle<FifoSource, ModelParker> {
    start(workers, FifoSource::new())
}

/// One submitter may find the back of the lane held by the other, and goes round.
#[test]
fn jobs_of_two_submitters_run() {
    check_at_length(2, || scenario::jobs_of_two_submitters_are_waited_for(crew(1)));
}

#[test]
fn jobs_can_wait_for_each_other() {
    check_at_length(2, || scenario::jobs_wait_for_each_other(crew(2)));
}

#[test]
fn a_late_job_runs_once_or_is_given_back() {
    check(2, || scenario::a_late_job_runs_once_or_is_given_back(crew(1)));
}
