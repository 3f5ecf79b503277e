//! Models of a crew on the source of the work-stealing pool: real workers, lanes and rings. No worker has privileges.

use super::{ModelParker, Pair, Tally, see_off, spawn, start};
use crate::{
    backing::Backing,
    crew::Handle,
    options::Placement,
    placement::Neighbourhood,
    source::stealing::StealingSource,
    sync::{Gate, check, check_at_length, thread},
};
use std::{sync::Arc, time::Duration};

fn crew(workers: usize) -> Handle<StealingSource, ModelParker> {
    start(workers, StealingSource::new(workers, Neighbourhood::of_machine(workers, &Placement::Floating)))
}

/// The child is in the ring of its parent's worker, where the other worker must find it.
#[test]
fn a_parent_can_wait_for_its_child() {
    check_at_length(2, || {
        let (crew, child) = (crew(2), Arc::new(Gate::default()));
        crew.execute({
            let child = Arc::clone(&child);
            move || {
                spawn({
                    let child = Arc::clone(&child);
                    move || child.open()
                });
                child.pass();
            }
        });
        child.pass();
        see_off(crew);
    });
}

/// Each worker runs one of the children, though one may find both.
#[test]
fn children_can_wait_for_each_other() {
    check(1, || {
        let (crew, pair) = (crew(2), Pair::default());
        let children = pair.jobs();
        crew.execute(move || children.for_each(spawn));
        pair.meet();
        see_off(crew);
    });
}

#[test]
fn jobs_from_outside_can_wait_for_each_other() {
    check(1, || {
        let (crew, pair) = (crew(2), Pair::default());
        pair.jobs().for_each(|job| crew.execute(job));
        pair.meet();
        see_off(crew);
    });
}

/// When a wait for the crew to be idle returns, jobs, and the jobs they spawned, have run.
#[test]
fn joining_waits_for_children() {
    check(1, || {
        let (crew, ran) = (crew(2), Tally::default());
        crew.execute({
            let (parent, child) = (ran.mark(), ran.mark());
            move || {
                spawn(child);
                parent();
            }
        });
        crew.join(None).unwrap();
        assert_eq!(ran.count(), 2);
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
