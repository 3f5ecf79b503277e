//! What happens in models of several crews, whatever their source is. Each of these ends with the end of its crew.

use super::{Handle, Pair, Tally, opens, passes, see_off, spawn};
use crate::{
    backing::Backing,
    parker::Parker,
    source::Source,
    sync::{
        Gate,
        thread::{self, JoinHandle},
    },
};
use std::{fmt::Debug, sync::Arc, time::Duration};

/// Another thread submits `job`.
pub(super) fn execute_elsewhere(
    crew: Handle<impl Source, impl Parker + 'static>,
    job: impl FnOnce() + Send + 'static,
) -> JoinHandle<()> {
    thread::spawn(move || crew.execute(job))
}

/// The same, and returns whether it is accepted.
pub(super) fn try_execute_elsewhere(
    crew: Handle<impl Source, impl Parker + 'static>,
    job: impl FnOnce() + Send + 'static,
) -> JoinHandle<bool> {
    thread::spawn(move || crew.try_execute(job).is_ok())
}

/// When a wait for the crew to be idle returns, jobs have run.
pub(super) fn jobs_are_waited_for(crew: Handle<impl Source, impl Parker + Debug + 'static>, jobs: usize) {
    let ran = Tally::default();
    (0..jobs).for_each(|_| crew.execute(ran.mark()));
    crew.join(None).unwrap();
    assert_eq!(ran.count(), jobs);
    see_off(crew);
}

/// When a wait for the crew to be idle returns, the jobs of two threads have run.
pub(super) fn jobs_of_two_submitters_are_waited_for(crew: Handle<impl Source, impl Parker + Debug + 'static>) {
    let ran = Tally::default();
    let submitter = execute_elsewhere(crew.clone(), ran.mark());
    crew.execute(ran.mark());
    submitter.join().unwrap();
    crew.join(None).unwrap();
    assert_eq!(ran.count(), 2);
    see_off(crew);
}

/// When a wait for the crew to be idle returns, a job has run that another one has submitted.
pub(super) fn children_are_waited_for(crew: Handle<impl Source, impl Parker + Debug + 'static>) {
    let ran = Tally::default();
    let (parent, child) = (ran.mark(), ran.mark());
    crew.execute(move || {
        spawn(child);
        parent();
    });
    crew.join(None).unwrap();
    assert_eq!(ran.count(), 2);
    see_off(crew);
}

/// Two jobs of one thread wait for each other, so that each needs a worker of its own.
pub(super) fn jobs_wait_for_each_other(crew: Handle<impl Source, impl Parker + Debug + 'static>) {
    let pair = Pair::default();
    for job in pair.jobs() {
        crew.execute(job);
    }
    pair.meet();
    see_off(crew);
}

/// The same for jobs of two threads.
pub(super) fn jobs_of_two_submitters_wait_for_each_other(crew: Handle<impl Source, impl Parker + Debug + 'static>) {
    let pair = Pair::default();
    let [one, other] = pair.jobs();
    let submitter = execute_elsewhere(crew.clone(), one);
    crew.execute(other);
    submitter.join().unwrap();
    pair.meet();
    see_off(crew);
}

/// The parent keeps its worker until the child has run, so that another worker must come.
pub(super) fn a_parent_waits_for_its_child(crew: Handle<impl Source, impl Parker + Debug + 'static>) {
    let child = Arc::new(Gate::default());
    let (run_child, await_child) = (opens(&child), passes(&child));
    crew.execute(move || {
        spawn(run_child);
        await_child();
    });
    child.pass();
    see_off(crew);
}

/// A submitter has passed the check for closing; the crew is closed and ends meanwhile.
pub(super) fn a_late_job_runs_once_or_is_given_back(crew: Handle<impl Source, impl Parker + Debug + 'static>) {
    let ran = Tally::default();
    let submitter = try_execute_elsewhere(crew.clone(), ran.mark());
    let _ = crew.shutdown_timeout(Duration::MAX).unwrap();
    let accepted = submitter.join().unwrap();
    see_off(crew); // it may have got a thread meanwhile
    assert_eq!(ran.count(), usize::from(accepted));
}

/// Dropping the last handle closes the crew; workers that sleep then must leave.
pub(super) fn a_crew_without_handles_ends(crew: Handle<impl Source, impl Parker + Debug + 'static>) {
    let ran = Tally::default();
    crew.execute(ran.mark());
    let shared = Arc::clone(crew.crew());
    drop(crew);
    assert!(shared.await_end(None));
    assert_eq!(ran.count(), 1);
}
