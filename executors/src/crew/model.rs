//! Models of a whole crew: its real handles, workers, parker and life, on a source that loom can follow.

mod burst;
mod cold;
#[cfg(feature = "dispatcher-exec")]
mod dispatch;
mod elastic;
#[cfg(feature = "cb-channel-exec")]
mod fifo;
mod jobs;
mod scenario;
#[cfg(feature = "elastic-exec")]
mod shared;
#[cfg(feature = "workstealing-exec")]
mod stealing;
mod trays;

pub(crate) use jobs::{Pair, Tally, opens, passes};

use super::{Charter, Handle, Setup, Terms, delivery::Admission};
use crate::{
    backing::Backing,
    job::Job,
    options::{Fairness, Idle, Options, callback},
    parker::{self, DynamicThreadData, Origin, Parker, StaticParker},
    source::Source,
    sync::{Gate, check, check_at_length, check_reaching, thread},
    time_slice::TimeSlice,
};
use jobs::{OnDrop, spawn};
use std::{fmt::Debug, sync::Arc, time::Duration};
use trays::ModelSource;

type ModelParker = StaticParker<DynamicThreadData>;

/// No clocks: they would make the executions of a model differ.
const CHARTER: Charter = Charter {
    label: "model",
    thread_name: |worker| worker.to_string(),
    idle: Idle::Park { spin: Duration::ZERO },
    fairness: Fairness::COUNTED,
    time_slice: TimeSlice::Usual,
};

/// The name of a thread that does not start. (In place of a system that refuses it.)
const REFUSED: &str = "\0";

/// Names threads of which only the first starts.
fn the_first_only(seat: usize) -> String {
    if seat == 0 { seat.to_string() } else { REFUSED.to_owned() }
}

fn with_a_hook() -> Options {
    Options { on_start: Some(callback(Box::new(|_seat| ()))), ..Options::new() }
}

fn setup<S, P>(terms: Terms, source: S, parker: P) -> Setup<S, P> {
    Setup { terms, cold: 0..0, source, parker, charter: CHARTER, options: Options::new() }
}

/// A crew to which a thread does not come if its name is [`REFUSED`].
fn setup_refusing<S, P>(terms: Terms, source: S, parker: P, thread_name: fn(usize) -> String) -> Setup<S, P> {
    Setup { charter: Charter { thread_name, ..CHARTER }, ..setup(terms, source, parker) }
}

fn start<S: Source>(workers: usize, source: S) -> Handle<S, ModelParker> {
    Handle::start(setup(Terms::fixed(workers), source, parker::dynamic())).unwrap()
}

/// A crew whose workers share as those of the work-stealing pool do.
fn crew(workers: usize) -> Handle<ModelSource, ModelParker> {
    start(workers, ModelSource::new(workers, |jobs| jobs.div_ceil(2)))
}

/// Ends a crew, and checks that all have signed off everywhere. In how many ways it can end is not explored here.
fn see_off(crew: Handle<impl Source, impl Parker + Debug + 'static>) {
    loom::skip_branch();
    see_end(crew);
}

/// The same, and explores in how many ways it can end.
fn see_end(crew: Handle<impl Source, impl Parker + Debug + 'static>) {
    let report = crew.shutdown_timeout(Duration::MAX).unwrap();
    assert_eq!((report.running, report.queued), (0, 0));
    assert_eq!(crew.crew().life.roll.read().active(), 0);
    let parker = format!("{:?}", crew.crew().parker);
    let [sets, empty_sets] =
        ["sleeping", "sleeping: 0, called: 0, looking: 0"].map(|text| parker.matches(text).count());
    assert!(sets > 0 && sets == empty_sets, "{parker}");
}

#[test]
fn jobs_from_outside_run() {
    check(2, || scenario::jobs_are_waited_for(crew(2), 2));
}

#[test]
fn jobs_from_two_submitters_run() {
    check(3, || scenario::jobs_of_two_submitters_are_waited_for(crew(1)));
}

/// The first is announced by itself, the second when the batch ends.
#[test]
fn jobs_of_a_batch_can_wait_for_each_other() {
    check_at_length(2, || {
        let (crew, pair) = (crew(2), Pair::default());
        assert_eq!(crew.execute_batch(pair.jobs()), 2);
        pair.meet();
        see_off(crew);
    });
}

/// Two threads wait, and are released together: but not because the crew was idle before the job came that one of them
/// has submitted. (Only one submits a job, because a tray of the model does not know which of the jobs on their way to
/// it has come.)
#[test]
fn a_waiter_released_with_others_finds_its_job_done() {
    check(2, || {
        let (crew, ran) = (crew(1), Tally::default());
        let other = thread::spawn({
            let crew = crew.clone();
            move || crew.join(None).unwrap()
        });
        crew.execute(ran.mark());
        crew.join(None).unwrap();
        assert_eq!(ran.count(), 1);
        other.join().unwrap();
        see_off(crew);
    });
}

#[test]
fn a_parent_can_wait_for_its_child() {
    check(2, || scenario::a_parent_waits_for_its_child(crew(2)));
}

/// Two children of a waiting parent need each other, so that both other workers must come, though the first may find
/// only one of the children. The parent is this thread, in place of a third worker.
#[test]
fn siblings_can_wait_for_each_other() {
    check(2, || {
        let crew = start(2, ModelSource::new(3, |_| 1));
        let pair = Pair::default();
        for child in pair.jobs() {
            crew.crew().source.push(&2, (), Job::new(child)).unwrap_or_else(|_| unreachable!("a tray has room"));
            crew.crew().source.fence_pushes(Some(&2));
            crew.crew().call_one(Origin::Inside);
        }
        pair.meet();
        see_off(crew);
    });
}

/// The first child is announced, the second is not: it takes its parent's place. The worker that runs the first must
/// not be the only one that is awake.
#[test]
fn a_child_can_wait_for_the_last_job_of_its_parent() {
    check_at_length(2, || {
        let (crew, pair) = (crew(2), Pair::default());
        let (shared, [first, last]) = (Arc::clone(crew.crew()), pair.jobs());
        crew.execute(move || {
            spawn(first);
            assert!(shared.deliver((), Admission::SelfWoken, last).is_ok());
        });
        pair.meet();
        see_off(crew);
    });
}

/// As above, but the worker takes the other job of the pair, from outside, before it comes to the one that was not
/// announced.
#[test]
fn a_job_from_outside_can_wait_for_the_last_job_of_another() {
    check_at_length(2, || {
        let setup = setup(Terms::fixed(2), ModelSource::new(2, |_| 1), parker::dynamic());
        let charter = Charter { fairness: Fairness::Counted(1), ..CHARTER };
        let (crew, pair) = (Handle::start(Setup { charter, ..setup }).unwrap(), Pair::default());
        let (shared, [outside, last]) = (Arc::clone(crew.crew()), pair.jobs());
        crew.execute(move || assert!(shared.deliver((), Admission::SelfWoken, last).is_ok()));
        crew.execute(outside);
        pair.meet();
        see_off(crew);
    });
}

/// A search may move jobs to the worker that searches; no other may sleep through that.
#[test]
fn jobs_that_are_moved_can_wait_for_each_other() {
    check(2, || scenario::jobs_wait_for_each_other(start(2, ModelSource::new(2, |all| all))));
}

/// The same for the glance of a worker that has just run out of jobs. (They are put in as it ends its job, and only
/// the worker tells of them.)
#[test]
fn jobs_that_are_moved_at_a_glance_can_wait_for_each_other() {
    check(2, || {
        let crew = start(2, ModelSource::new(2, |all| all));
        let (pair, shared) = (Pair::default(), crew.clone());
        let jobs = pair.jobs();
        crew.execute(move || {
            for job in jobs {
                let _whom = shared.crew().source.inject((), Job::new(job));
            }
        });
        pair.meet();
        see_off(crew);
    });
}

#[test]
fn a_late_job_runs_once_or_is_given_back() {
    check_at_length(2, || scenario::a_late_job_runs_once_or_is_given_back(crew(2)));
}

/// The system refuses its late shift, and the submitter does what that would have done.
#[test]
fn a_late_job_whose_thread_is_refused_runs_once_or_is_given_back() {
    check_reaching(2, ["the submitter runs it"], |[is_run_here]| {
        let source = ModelSource::new(1, |all| all);
        let crew = Handle::start(setup_refusing(Terms::fixed(1), source, parker::dynamic(), the_first_only)).unwrap();
        let ran = Tally::default();
        let submitter = thread::spawn({
            let (crew, mark) = (crew.clone(), ran.mark());
            move || {
                let submitter = thread::current().id();
                let job = move || {
                    is_run_here.is_reached_if(thread::current().id() == submitter);
                    mark();
                };
                crew.try_execute(job).is_ok()
            }
        });
        let _ = crew.shutdown_timeout(Duration::MAX).unwrap();
        let accepted = submitter.join().unwrap();
        see_off(crew);
        assert_eq!(ran.count(), usize::from(accepted));
    });
}

#[test]
fn a_late_job_runs_or_is_discarded() {
    check(3, || {
        let (crew, ran) = (crew(1), Tally::default());
        let submitter = scenario::try_execute_elsewhere(crew.clone(), ran.mark());
        crew.shutdown_now();
        let accepted = submitter.join().unwrap();
        see_off(crew.clone());
        let discarded = crew.crew().report().discarded as usize;
        assert_eq!(ran.count() + discarded, usize::from(accepted));
    });
}

/// The second can only run after the first, which has not begun when jobs are to be dropped, or ends after that.
#[test]
fn jobs_that_are_moved_are_discarded() {
    check(3, || {
        let crew = start(1, ModelSource::new(1, |all| all));
        let (gate, ran) = (Arc::new(Gate::default()), Tally::default());
        crew.execute(passes(&gate));
        crew.execute(ran.mark());
        crew.shutdown_now();
        gate.open();
        see_off(crew);
        assert_eq!(ran.count(), 0);
    });
}

/// The job is dropped although the only worker is at another one, by `shutdown_now` or by one more thread. The crew is
/// closed before: `shutdown_now` must not rely on the fence of the close.
#[test]
fn a_late_job_is_discarded_though_no_worker_is_free() {
    fn end(source: ModelSource) {
        let (crew, gate) = (start(1, source), Arc::new(Gate::default()));
        crew.execute(passes(&gate));
        let dropped = Arc::new(Gate::default());
        let owned = OnDrop::new(opens(&dropped));
        let submitter = scenario::try_execute_elsewhere(crew.clone(), move || drop(owned));
        crew.shutdown_async();
        crew.shutdown_now();
        let _is_accepted = submitter.join().unwrap();
        dropped.pass();
        gate.open();
        see_off(crew);
    }

    let source = || ModelSource::new(1, |_| 1);
    check(2, move || end(source()));
    check(2, move || end(source().without_privileges()));
}

/// A thread that waits for a crew whose jobs are being dropped finds that they have been, or have run.
#[test]
fn joining_waits_for_jobs_that_are_being_dropped() {
    check(3, || {
        let (crew, gone) = (crew(1), Tally::default());
        let owned = OnDrop::new(gone.mark());
        crew.execute(move || drop(owned));
        let dropper = thread::spawn({
            let crew = crew.clone();
            move || _ = crew.shutdown_now()
        });
        crew.join(None).unwrap();
        assert_eq!(gone.count(), 1);
        dropper.join().unwrap();
        see_off(crew);
    });
}

#[test]
fn a_crew_without_handles_ends() {
    check(2, || scenario::a_crew_without_handles_ends(crew(2)));
}

/// The last handle is dropped by a job, or while its worker has credit of another that the job has dropped.
#[test]
fn a_crew_whose_job_drops_a_handle_ends() {
    check(2, || {
        let (crew, ran) = (crew(1), Tally::default());
        crew.execute({
            let (own, mark) = (crew.clone(), ran.mark());
            move || {
                drop(own);
                mark();
            }
        });
        let shared = Arc::clone(crew.crew());
        drop(crew);
        assert!(shared.await_end(None));
        assert_eq!(ran.count(), 1);
    });
}

#[test]
fn joining_waits_for_children() {
    check(2, || scenario::children_are_waited_for(crew(2)));
}
