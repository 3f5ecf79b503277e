//! Models of a crew on the dispatcher's source and with its parker: real workers, gates, board and queues. The stream
//! is left out, as it has models of its own.

use super::{Pair, Tally, opens, scenario, see_off, setup};
use crate::{
    backing::Backing,
    crew::{Handle, Terms},
    options::Placement,
    parker::TwoParkers,
    placement::Neighbourhood,
    source::dispatch::{CPU, DispatchSource, NORMAL},
    sync::{Gate, check, check_at_length, thread},
};
use std::{sync::Arc, time::Duration};

type Subpool = Handle<DispatchSource, TwoParkers>;

/// The subpools beside that of the CPU, each with a limit of one. The third is bound to the last of all threads.
const A: usize = 1;
const B: usize = 2;
const BOUND: usize = 3;

/// `sharing` workers, and one more that is reserved if `bound`.
fn crew(sharing: usize, bound: bool) -> Subpool {
    let (neighbourhood, seat) = (Neighbourhood::of_machine(sharing, &Placement::Floating), bound.then_some(sharing));
    let source = DispatchSource::new(sharing, neighbourhood, &[1, 1, 1], seat.as_slice(), 61);
    source.pause(CPU);
    let terms = Terms::fixed(sharing + usize::from(bound));
    Handle::start(setup(terms, source, TwoParkers::new(sharing))).unwrap()
}

fn to(crew: &Subpool, subpool: usize, level: usize) -> Subpool {
    crew.with_address(crew.source().address(subpool, level))
}

fn subpool(crew: &Subpool, subpool: usize) -> Subpool {
    to(crew, subpool, NORMAL)
}

#[test]
fn jobs_of_two_submitters_run() {
    check(1, || scenario::jobs_of_two_submitters_are_waited_for(subpool(&crew(1, false), A)));
}

/// The worker that takes the first job finds the token, and the other one finds it gone.
#[test]
fn two_workers_share_a_token() {
    check(1, || scenario::jobs_are_waited_for(subpool(&crew(2, false), A), 2));
}

/// The second job of A waits for the token of the first, and that of B, which goes first, waits for it. So a worker
/// that goes on from A to B must make sure that another comes to A.
#[test]
fn a_subpool_that_a_worker_leaves_is_not_overlooked() {
    check(1, || {
        let (crew, pair) = (crew(2, false), Pair::default());
        let (a, b) = (subpool(&crew, A), to(&crew, B, NORMAL + 1));
        a.execute(|| ());
        for (subpool, job) in [b, a].iter().zip(pair.jobs()) {
            subpool.execute(job);
        }
        pair.meet();
        see_off(crew);
    });
}

/// Both jobs need each other, but there is a token for one only, until the limit rises.
#[test]
fn a_higher_limit_lets_another_worker_in() {
    check_at_length(1, || {
        let (crew, pair) = (crew(2, false), Pair::default());
        let a = subpool(&crew, A);
        for job in pair.jobs() {
            a.execute(job);
        }
        crew.call_by(|source| source.set_limit(A, 2));
        pair.meet();
        drop(a);
        see_off(crew);
    });
}

#[test]
fn a_pause_ends_while_a_job_comes() {
    check(2, || {
        let (crew, ran) = (crew(1, false), Tally::default());
        crew.call_by(|source| source.pause(A));
        let submitter = scenario::execute_elsewhere(subpool(&crew, A), ran.mark());
        crew.call_by(|source| source.resume(A));
        submitter.join().unwrap();
        crew.join(None).unwrap();
        assert_eq!(ran.count(), 1);
        see_off(crew);
    });
}

/// A worker that sleeps while a subpool is paused wakes up when the pause ends.
#[test]
fn the_close_lifts_a_pause() {
    check(2, || {
        let (crew, ran) = (crew(1, false), Tally::default());
        crew.call_by(|source| source.pause(A));
        subpool(&crew, A).execute(ran.mark());
        let _ = crew.shutdown_timeout(Duration::MAX).unwrap();
        assert_eq!(ran.count(), 1);
        see_off(crew);
    });
}

/// It may come in after the end, which is declared while nothing waits.
#[test]
fn a_job_that_races_with_the_close_of_a_paused_subpool_runs() {
    check_at_length(2, || {
        let (crew, ran) = (crew(1, false), Tally::default());
        crew.call_by(|source| source.pause(A));
        let submitter = thread::spawn({
            let (a, mark) = (subpool(&crew, A), ran.mark());
            move || usize::from(a.admit(mark).is_ok())
        });
        crew.close();
        let accepted = submitter.join().unwrap();
        let _ = crew.shutdown_timeout(Duration::MAX).unwrap();
        assert_eq!(ran.count(), accepted);
        see_off(crew);
    });
}

/// Each thread has a job that needs the other's.
#[test]
fn a_bound_job_comes_to_its_thread() {
    check_at_length(2, || {
        let (crew, pair) = (crew(1, true), Pair::default());
        let bound = to(&crew, BOUND, 0);
        for (subpool, job) in [bound, subpool(&crew, A)].iter().zip(pair.jobs()) {
            subpool.execute(job);
        }
        pair.meet();
        see_off(crew);
    });
}

/// Its thread may have run the first, and find no more just then.
#[test]
fn a_second_bound_job_runs() {
    check(2, || {
        let (crew, has_run) = (crew(1, true), Arc::new(Gate::default()));
        let bound = to(&crew, BOUND, 0);
        bound.execute(|| ());
        bound.execute(opens(&has_run));
        has_run.pass();
        see_off(crew);
    });
}

/// The reserved thread may be the last that has fallen asleep.
#[test]
fn a_job_that_is_not_bound_is_not_left_to_a_reserved_thread() {
    check(2, || {
        let (crew, has_run) = (crew(1, true), Arc::new(Gate::default()));
        subpool(&crew, A).execute(opens(&has_run));
        has_run.pass();
        see_off(crew);
    });
}

/// Dropping the last handle closes the crew; threads of both kinds that sleep then must leave.
#[test]
fn a_crew_with_a_reserved_thread_ends() {
    check(2, || {
        let crew = crew(1, true);
        let bound = to(&crew, BOUND, 0);
        drop(crew);
        scenario::a_crew_without_handles_ends(bound);
    });
}

/// When a wait for the crew to be idle returns, a job has run that another one submitted to another subpool.
#[test]
fn joining_waits_for_jobs_of_other_subpools() {
    check_at_length(1, || {
        let (crew, ran) = (crew(2, false), Tally::default());
        subpool(&crew, B).execute({
            let (a, parent, child) = (subpool(&crew, A), ran.mark(), ran.mark());
            move || {
                a.execute(child);
                parent();
            }
        });
        crew.join(None).unwrap();
        assert_eq!(ran.count(), 2);
        see_off(crew);
    });
}
