//! Models of a crew whose jobs are dealt to its workers.

use super::{ModelParker, Pair, Tally, Terms, passes, scenario, see_off, setup, spawn};
use crate::{
    backing::Backing,
    crew::Handle,
    job::{Closure, Job},
    mailbox::Mailboxes,
    parker,
    source::mail::{MailSource, Theft},
    sync::{Gate, check, check_at_length, thread},
};
use std::{sync::Arc, time::Duration};

type Dealt = Handle<MailSource<false>, ModelParker>;

const KEEPS: Theft = Theft::Never;
const STEALS: Theft = Theft::OnOwnAccount;

fn crew(workers: usize, theft: Theft) -> Dealt {
    crew_and_boxes(workers, theft).0
}

fn crew_and_boxes(workers: usize, theft: Theft) -> (Dealt, Arc<Mailboxes<Job>>) {
    crew_by(parker::for_bursts(), workers, theft)
}

fn crew_by(parker: ModelParker, workers: usize, theft: Theft) -> (Dealt, Arc<Mailboxes<Job>>) {
    let boxes = Arc::new(Mailboxes::new(workers));
    let source = MailSource::new(Arc::clone(&boxes), theft);
    (Handle::start(setup(Terms::fixed(workers), source, parker)).unwrap(), boxes)
}

/// Two submitters and one worker, which may fall asleep at any time.
#[test]
fn dealt_jobs_run() {
    check_at_length(2, || scenario::jobs_of_two_submitters_are_waited_for(crew(1, KEEPS)));
}

/// Two submitters deal to two workers, and the jobs need each other: each worker must get one.
#[test]
fn an_idle_worker_is_claimed_once() {
    check_at_length(2, || scenario::jobs_of_two_submitters_wait_for_each_other(crew(2, KEEPS)));
}

/// A job submits another, for the other worker, and its own worker is idle before that one is awake.
#[test]
fn joining_waits_for_jobs_dealt_to_other_workers() {
    check_at_length(2, || scenario::children_are_waited_for(crew(2, KEEPS)));
}

/// Of three jobs for two workers, two need each other. (With two preemptions it takes seven minutes; with two jobs it
/// is the next model.)
#[test]
fn a_job_that_waits_for_a_busy_worker_is_taken() {
    check(1, || {
        let (crew, pair, ran) = (crew(2, STEALS), Pair::default(), Tally::default());
        let [one, other] = pair.jobs();
        crew.execute(one);
        crew.execute(ran.mark());
        crew.execute(other);
        pair.meet();
        see_off(crew);
        assert_eq!(ran.count(), 1);
    });
}

/// Both workers may take both jobs, and the first waits for the second.
#[test]
fn a_worker_that_steals_counts_as_busy() {
    check_at_length(2, || scenario::jobs_wait_for_each_other(crew(2, STEALS)));
}

/// The submitter calls for one of two jobs that need each other, and the worker that comes for it calls for the other.
#[test]
fn more_workers_than_cores_are_called_if_their_jobs_need_each_other() {
    check_at_length(2, || scenario::jobs_wait_for_each_other(crew_by(parker::for_bursts_on(1), 2, STEALS).0));
}

/// The first job may be stolen before the second is dealt, and keeps only one worker from being dealt to.
#[test]
fn as_many_workers_are_claimed_as_there_are_jobs() {
    check_at_length(2, || {
        let ((crew, boxes), gate) = (crew_and_boxes(2, Theft::OnOthersAccount), Arc::new(Gate::default()));
        for _ in 0..2 {
            let (claim, job) = (boxes.claim_idle().expect("one is idle"), passes(&gate));
            crew.put_by((), |source| source.put(claim, Closure(job)));
        }
        gate.open();
        crew.join(None).unwrap();
        see_off(crew);
    });
}

/// Where workers keep their jobs, each searches its own mailbox only; but a worker that leaves looks into all.
#[test]
fn a_late_job_runs_or_is_given_back() {
    check(2, || scenario::a_late_job_runs_once_or_is_given_back(crew(1, KEEPS)));
}

/// The late job is for one worker, and the job that it submits for the other, which may have left.
#[test]
fn a_child_of_a_late_job_runs() {
    check_at_length(2, || {
        let (crew, ran) = (crew(2, KEEPS), Tally::default());
        let (parent, child) = (ran.mark(), ran.mark());
        let submitter = scenario::try_execute_elsewhere(crew.clone(), move || {
            spawn(child);
            parent();
        });
        let _ = crew.shutdown_timeout(Duration::MAX).unwrap();
        let accepted = submitter.join().unwrap();
        see_off(crew);
        assert_eq!(ran.count(), if accepted { 2 } else { 0 });
    });
}

/// A discarded job is not settled yet when both workers check whether the crew is over.
#[test]
fn a_crew_ends_when_its_jobs_are_discarded() {
    check(2, || {
        let crew = crew(2, KEEPS);
        crew.execute(|| ());
        crew.shutdown_now();
        see_off(crew);
    });
}

/// The worker becomes idle while a submitter waits for that.
#[test]
fn an_idle_worker_is_waited_for() {
    check(2, || {
        let ((crew, boxes), gate) = (crew_and_boxes(1, KEEPS), Arc::new(Gate::default()));
        crew.execute(passes(&gate));
        let waits = thread::spawn({
            let boxes = Arc::clone(&boxes);
            move || boxes.claim_within(None, || false).unwrap()
        });
        gate.open();
        let claim = waits.join().unwrap();
        boxes.settle(claim.worker);
        crew.join(None).unwrap();
        see_off(crew);
    });
}

/// Of two letters of one mailbox, dealt one after the other, each is settled by another thread. The last to settle must
/// find that nothing is left, and tell the waiting dealer.
#[test]
fn the_last_of_two_settlers_notifies_the_waiter() {
    check(2, || {
        let boxes = Arc::new(Mailboxes::<()>::new(1));
        let first = boxes.claim_any().unwrap().worker;
        let owner = thread::spawn({
            let boxes = Arc::clone(&boxes);
            move || boxes.settle(first)
        });
        let thief = thread::spawn({
            let boxes = Arc::clone(&boxes);
            move || boxes.settle(boxes.claim_any().unwrap().worker)
        });
        assert!(boxes.claim_within(None, || false).is_some());
        owner.join().unwrap();
        thief.join().unwrap();
    });
}
