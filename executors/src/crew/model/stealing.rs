//! Models of a crew on the source of the work-stealing pool: real workers, lanes and rings. No worker has privileges.

use super::{ModelParker, Pair, scenario, see_off, spawn, start};
use crate::{
    backing::Backing,
    crew::Handle,
    options::Placement,
    placement::Neighbourhood,
    source::stealing::StealingSource,
    sync::{check, check_at_length},
};

fn crew(workers: usize) -> Handle<StealingSource, ModelParker> {
    start(workers, StealingSource::new(workers, Neighbourhood::of_machine(workers, &Placement::Floating)))
}

/// The child is in the ring of its parent's worker, where the other worker must find it.
#[test]
fn a_parent_can_wait_for_its_child() {
    check_at_length(2, || scenario::a_parent_waits_for_its_child(crew(2)));
}

/// Each worker runs one of the children, though one may find both.
#[test]
fn children_can_wait_for_each_other() {
    check(1, || {
        let (crew, pair) = (crew(2), Pair::default());
        let children = pair.jobs();
        crew.execute(move || children.into_iter().for_each(spawn));
        pair.meet();
        see_off(crew);
    });
}

#[test]
fn jobs_from_outside_can_wait_for_each_other() {
    check(1, || scenario::jobs_wait_for_each_other(crew(2)));
}

#[test]
fn joining_waits_for_children() {
    check(1, || scenario::children_are_waited_for(crew(2)));
}

#[test]
fn a_late_job_runs_once_or_is_given_back() {
    check(2, || scenario::a_late_job_runs_once_or_is_given_back(crew(1)));
}
