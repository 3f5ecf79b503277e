//! Models of lanes, rings and spills together: the real source, used by workers that do nothing but push, look, run and
//! fall asleep. They have no privileges: these have models of their own, beside the ring and the lock.

use super::{StealingLocal, StealingSource};
use crate::{
    job::Job,
    meter::Meter,
    options::Placement,
    placement::Neighbourhood,
    source::{Source, queue::ring::MAX_SIZE},
    sync::{
        atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
            fence,
        },
        check, check_reaching, thread,
    },
};
use std::sync::{Arc, atomic::AtomicUsize as Uncounted};

/// How often each job was run. (Not loom's counters: they are not part of what is modelled.)
pub(super) type Runs = Arc<[Uncounted]>;

pub(super) fn runs(jobs: usize) -> Runs {
    (0..jobs).map(|_| Uncounted::new(0)).collect()
}

/// A job that counts its run.
pub(super) fn job(number: usize, runs: &Runs) -> Job {
    let runs = Runs::clone(runs);
    Job::new(move || _ = runs[number].fetch_add(1, Relaxed))
}

pub(super) fn assert_each_ran_once(runs: &Runs) {
    assert!(runs.iter().all(|run| run.load(Relaxed) == 1), "{runs:?}");
}

/// Does nothing.
pub(super) fn idle_job() -> Job {
    Job::new(|| ())
}

pub(super) fn source(workers: usize) -> Arc<StealingSource> {
    Arc::new(StealingSource::new(workers, Neighbourhood::of_machine(workers, &Placement::Floating)))
}

/// What the worker on `seat` has of the source. It has had a job of its own, so that its seat is shown.
pub(super) fn worker(source: &StealingSource, seat: usize) -> StealingLocal {
    let local = source.attach(Some(seat));
    push(source, &local, idle_job());
    assert!(source.run_next(&local));
    local
}

pub(super) fn push(source: &StealingSource, local: &StealingLocal, job: Job) {
    if let Err(job) = source.push(local, (), job) {
        source.push_slowly(local, (), job);
    }
}

/// The worker puts in a job, which it announces only if the source says that it has to, and then takes another by
/// `take`, which is there. A thread that falls asleep meanwhile sees one of the two jobs, unless the worker sees that
/// it sleeps.
pub(super) fn one_of_two_is_seen(
    source: &Arc<StealingSource>,
    local: &StealingLocal,
    take: impl FnOnce(&StealingSource, &StealingLocal) -> Option<Job>,
) {
    let asleep = Arc::new(AtomicBool::new(false));
    let sleeper = {
        let (source, asleep) = (Arc::clone(source), Arc::clone(&asleep));
        thread::spawn(move || {
            asleep.store(true, Relaxed);
            fence(SeqCst);
            source.has_jobs()
        })
    };
    push(source, local, idle_job());
    let is_announced = !source.shows_by_taking(local);
    let sees_sleeper = is_announced && {
        source.fence_pushes(Some(local));
        asleep.load(Relaxed)
    };
    let taken = take(source, local);
    assert!(taken.is_some());
    assert!(sleeper.join().unwrap() || sees_sleeper, "both jobs are overlooked");
}

#[test]
fn a_job_that_is_not_announced_is_seen_or_the_next_one_in_the_ring() {
    check(3, || {
        let source = source(1);
        let local = worker(&source, 0);
        push(&source, &local, idle_job());
        one_of_two_is_seen(&source, &local, |_, local| local.ring.pop());
    });
}

#[test]
fn a_job_that_is_not_announced_is_seen_or_the_next_one_from_outside() {
    check(3, || {
        let source = source(1);
        let local = worker(&source, 0);
        source.inject((), idle_job());
        one_of_two_is_seen(&source, &local, pop_outside);
    });
}

fn pop_outside(source: &StealingSource, local: &StealingLocal) -> Option<Job> {
    source.pop_outside(local, usize::MAX, &Meter::default())
}

/// The worker takes a job by `take`, and maybe others along. A thread that looks meanwhile sees all `others`.
pub(super) fn the_rest_is_seen(
    source: &Arc<StealingSource>,
    others: usize,
    take: impl FnOnce(&StealingSource) -> Option<Job>,
) {
    let thread = {
        let source = Arc::clone(source);
        thread::spawn(move || (source.has_jobs(), source.len()))
    };
    let first = take(source);
    assert!(first.is_some());
    assert_eq!(source.len(), others);
    let (sees_some, seen) = thread.join().unwrap();
    // Those on their way to a ring may be seen at both places.
    assert!(sees_some && seen >= others, "{seen} of {others} are seen");
}

/// A worker that looks outside between jobs of its own tells no thread of those that come along. (It had some, and
/// others have taken them.) It may have shown its ring just before.
#[test]
fn jobs_that_come_along_from_outside_are_seen_throughout() {
    check(3, || {
        let source = source(1);
        let local = source.attach(Some(0));
        (0..3).for_each(|_| _ = source.inject((), idle_job()));
        the_rest_is_seen(&source, 2, |source| pop_outside(source, &local));
    });
}

#[test]
fn jobs_that_come_back_from_the_spill_are_seen_throughout() {
    check(3, || {
        let source = source(1);
        let local = worker(&source, 0);
        (0..MAX_SIZE + 2).for_each(|_| push(&source, &local, idle_job()));
        (0..MAX_SIZE).for_each(|_| assert!(source.run_next(&local)));
        assert!(local.spilled.get() && local.ring.len() == 0);
        the_rest_is_seen(&source, 1, |source| source.search(&local, &Meter::default()));
    });
}

/// A crew without a parker: workers that fall asleep stay so until the end, and it is only counted who is called.
struct Crew {
    source: Arc<StealingSource>,
    meter: Meter,
    asleep: AtomicUsize,
    called: AtomicUsize,
}

impl Crew {
    fn new(workers: usize) -> Arc<Self> {
        let [asleep, called] = [(); 2].map(|()| AtomicUsize::new(0));
        Arc::new(Crew { source: source(workers), meter: Meter::default(), asleep, called })
    }

    /// A thread that does `work`, and falls asleep.
    fn start(
        self: &Arc<Self>,
        seat: usize,
        work: impl FnOnce(&Crew, &StealingLocal) + 'static,
    ) -> thread::JoinHandle<StealingLocal> {
        let crew = Arc::clone(self);
        thread::spawn(move || {
            let local = crew.source.attach(Some(seat));
            work(&crew, &local);
            crew.work(&local);
            local
        })
    }

    /// S1 to S4 of a worker.
    fn spawn(&self, local: &StealingLocal, job: Job) {
        push(&self.source, local, job);
        self.source.fence_pushes(Some(local));
        self.call();
    }

    /// Relies on a fence before it.
    fn call(&self) {
        if self.asleep.load(SeqCst) > 0 {
            self.called.fetch_add(1, SeqCst);
        }
    }

    /// Runs what there is, and falls asleep.
    fn work(&self, local: &StealingLocal) {
        loop {
            self.run_all(local);
            self.source.on_sleep(local);
            self.asleep.fetch_add(1, SeqCst);
            fence(SeqCst);
            if !self.source.has_jobs() {
                return;
            }
            self.asleep.fetch_sub(1, SeqCst);
        }
    }

    fn run_all(&self, local: &StealingLocal) {
        while self.source.run_next(local) || self.find(local).map(Job::run).is_some() {}
    }

    /// F1 and F3.
    fn find(&self, local: &StealingLocal) -> Option<Job> {
        let found = self.source.search(local, &self.meter);
        if found.is_some() && self.source.take_owed_call(local) {
            fence(SeqCst);
            self.call();
        }
        found
    }

    /// When all are asleep: if a worker was called, it wakes up. Then no job may be left.
    fn end(&self, local: &StealingLocal, runs: &Runs) {
        if self.called.load(SeqCst) > 0 {
            self.run_all(local);
        }
        assert_eq!(self.source.len(), 0, "a job is overlooked");
        assert_each_ran_once(runs);
    }
}

/// One of two workers submits jobs, and there is one from outside. Each makes what it needs when it needs it.
#[test]
fn a_worker_and_a_thief_share_the_jobs() {
    check_reaching(2, ["the thief steals"], |[steals]| {
        let (crew, runs) = (Crew::new(2), runs(3));
        crew.source.inject((), job(2, &runs));
        let jobs = [0, 1].map(|number| job(number, &runs));
        let thief = crew.start(1, |_, _| ());
        let owner = crew.start(0, |crew, local| jobs.into_iter().for_each(|job| crew.spawn(local, job)));
        let local = owner.join().unwrap();
        let _other = thief.join().unwrap();
        steals.is_reached_if(crew.meter.read().steals > 0);
        crew.end(&local, &runs);
    });
}
