//! Models of rounds past a worker that is stuck in a job, while others are waiting behind it.

use super::super::{
    StealingLocal, StealingSource,
    model::{assert_each_ran_once, idle_job, job, one_of_two_is_seen, push, runs, source, the_rest_is_seen, worker},
};
use crate::{
    job::Job,
    meter::Meter,
    source::Source,
    sync::{check, check_reaching, thread},
};
use std::sync::Arc;

/// What a worker on the first seat has of the source, and one on the second that is stuck. The former has been there
/// once, and may take a job with its next round.
fn after_a_round(source: &StealingSource, waiting: impl IntoIterator<Item = Job>) -> [StealingLocal; 2] {
    let [on_round, stuck] = [0, 1].map(|seat| worker(source, seat));
    waiting.into_iter().for_each(|job| push(source, &stuck, job));
    assert!(source.make_a_round(&on_round, &Meter::default()).is_none() && on_round.rounds.may_take());
    [on_round, stuck]
}

/// No thread is told of those that would come along.
#[test]
fn jobs_that_a_round_leaves_are_seen_throughout() {
    check(3, || {
        let source = source(2);
        let [on_round, _stuck] = after_a_round(&source, [(); 3].map(|()| idle_job()));
        the_rest_is_seen(&source, 2, |source| source.make_a_round(&on_round, &Meter::default()));
    });
}

/// The ring of the worker on its round is looked at before that of the one that is stuck.
#[test]
fn a_job_that_is_not_announced_is_seen_or_the_one_of_the_next_round() {
    check(3, || {
        let source = source(2);
        let [on_round, _stuck] = after_a_round(&source, [idle_job()]);
        one_of_two_is_seen(&source, &on_round, |source, local| source.make_a_round(local, &Meter::default()));
    });
}

/// The worker goes on just then, and soon needs the place of the job that the other takes.
#[test]
fn a_round_and_the_worker_that_goes_on_share_its_jobs() {
    let goals = ["the round takes a job", "the worker was faster"];
    check_reaching(3, goals, |[is_taken, is_left]| {
        let (source, runs) = (source(2), runs(6));
        let [on_round, stuck] = after_a_round(&source, [0, 1].map(|number| job(number, &runs)));
        let thread = {
            let source = Arc::clone(&source);
            thread::spawn(move || {
                let taken = source.make_a_round(&on_round, &Meter::default());
                is_taken.is_reached_if(taken.is_some());
                is_left.is_reached_if(taken.is_none());
                taken.into_iter().for_each(Job::run);
            })
        };
        for number in 2..6 {
            source.run_next(&stuck);
            push(&source, &stuck, job(number, &runs));
        }
        thread.join().unwrap();
        while source.run_next(&stuck) {}
        assert_each_ran_once(&runs);
    });
}
