//! Models of a whole crew: its real handles, workers, parker and life, on a source that loom can follow.

use super::{Charter, Handle};
use crate::{
    job::Job,
    local::try_execute_locally,
    meter::Meter,
    options::{Fairness, Idle, Options},
    parker::{self, DynamicThreadData, StaticParker},
    source::Source,
    sync::{
        Gate,
        atomic::{
            AtomicUsize,
            Ordering::{AcqRel, Acquire, Relaxed, Release},
        },
        check, thread,
    },
};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

/// As the source of the work-stealing pool: a tray for each worker and one for the world. Jobs that are moved from one to
/// another are in neither for a moment.
struct ModelSource {
    common: Tray,
    own: Box<[Tray]>,
    /// Behind the last seat; nobody steals from it.
    late: Tray,
}

/// Jobs, and their number. Whether there are any is seen by a load, as in crossbeam's queues: no lock helps the protocol.
#[derive(Default)]
struct Tray {
    count: AtomicUsize,
    /// Not loom's: locked only between two steps of the model.
    jobs: Mutex<VecDeque<Job>>,
}

impl Tray {
    fn put(&self, jobs: impl IntoIterator<Item = Job>) {
        let mut tray = self.jobs.lock().unwrap();
        let before = tray.len();
        tray.extend(jobs);
        let more = tray.len() - before;
        drop(tray);
        if more > 0 {
            self.count.fetch_add(more, Release);
        }
    }

    fn len(&self) -> usize {
        self.count.load(Acquire)
    }

    /// Takes as many of the jobs as `share` says of their number.
    fn take(&self, share: impl Fn(usize) -> usize) -> VecDeque<Job> {
        let mut seen = self.len();
        while seen > 0 {
            let claimed = share(seen);
            match self.count.compare_exchange(seen, seen - claimed, AcqRel, Acquire) {
                Ok(_) => return self.jobs.lock().unwrap().drain(..claimed).collect(),
                Err(now) => seen = now,
            }
        }
        VecDeque::new()
    }

    fn take_one(&self) -> Option<Job> {
        self.take(|_| 1).pop_front()
    }
}

impl ModelSource {
    fn new(workers: usize) -> Self {
        let own = (0..workers).map(|_| Tray::default()).collect();
        ModelSource { common: Tray::default(), own, late: Tray::default() }
    }

    fn tray(&self, seat: usize) -> &Tray {
        self.own.get(seat).unwrap_or(&self.late)
    }
}

impl Source for ModelSource {
    type Local = usize;

    fn attach(&self, seat: usize) -> usize {
        seat
    }

    fn inject(&self, job: Job) {
        self.common.put([job]);
    }

    fn push(&self, &seat: &usize, job: Job) {
        self.tray(seat).put([job]);
    }

    fn pop(&self, &seat: &usize) -> Option<Job> {
        self.tray(seat).take_one()
    }

    fn pop_outside(&self, _seat: &usize) -> Option<Job> {
        self.common.take_one()
    }

    fn search(&self, &seat: &usize, _meter: &Meter) -> Option<Job> {
        self.pop(&seat).or_else(|| {
            let neighbours = (1..self.own.len()).map(|distance| &self.own[(seat + distance) % self.own.len()]);
            let mut jobs = [&self.common].into_iter().chain(neighbours).find_map(|tray| {
                let jobs = tray.take(|jobs| jobs.div_ceil(2));
                (!jobs.is_empty()).then_some(jobs)
            })?;
            let first = jobs.pop_front();
            self.tray(seat).put(jobs);
            first
        })
    }

    fn take(&self) -> Option<Job> {
        [&self.common].into_iter().chain(&self.own).find_map(Tray::take_one)
    }

    fn has_surplus(&self, &seat: &usize) -> bool {
        self.tray(seat).len() > 0 || self.common.len() > 0
    }

    fn has_jobs(&self) -> bool {
        self.len() > 0
    }

    fn len(&self) -> usize {
        [&self.common].into_iter().chain(&self.own).map(Tray::len).sum()
    }
}

type ModelParker = StaticParker<DynamicThreadData>;

/// No clocks: they would make the executions of a model differ.
const CHARTER: Charter = Charter {
    label: "model",
    thread_name: |worker| worker.to_string(),
    idle: Idle::Park { spin: Duration::ZERO },
    fairness: Fairness::COUNTED,
};

fn crew(workers: usize) -> Handle<ModelSource, ModelParker> {
    Handle::start(workers, ModelSource::new(workers), parker::dynamic(), CHARTER, Options::new()).unwrap()
}

/// Closes the crew, waits for its end, and checks that everybody has signed off everywhere.
fn shut_down(crew: Handle<ModelSource, ModelParker>) {
    let report = crew.shutdown_timeout(Duration::MAX).unwrap();
    assert_eq!((report.running, report.queued), (0, 0));
    assert_eq!(crew.crew().life.active(), 0);
    let parker = format!("{:?}", crew.crew().parker);
    assert!(parker.contains("sleeping: 0, called: 0, looking: 0"), "{parker}");
}

#[test]
fn jobs_from_outside_run() {
    check(2, || {
        let (crew, ran) = (crew(2), Tally::default());
        crew.execute(ran.mark());
        crew.execute(ran.mark());
        crew.join(None).unwrap();
        assert_eq!(ran.count(), 2);
        shut_down(crew);
    });
}

#[test]
fn jobs_from_two_submitters_run() {
    check(2, || {
        let (crew, ran) = (crew(1), Tally::default());
        let submitter = thread::spawn({
            let (crew, mark) = (crew.clone(), ran.mark());
            move || crew.execute(mark)
        });
        crew.execute(ran.mark());
        submitter.join().unwrap();
        crew.join(None).unwrap();
        assert_eq!(ran.count(), 2);
        shut_down(crew);
    });
}

/// The parent keeps its worker until the child has run, so that the other worker must come.
#[test]
fn a_parent_can_wait_for_its_child() {
    check(2, || {
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
        shut_down(crew);
    });
}

/// Two children of a waiting parent need each other, so that both other workers must come, whoever finds what.
#[test]
fn siblings_can_wait_for_each_other() {
    check(1, || {
        let (crew, sisters) = (crew(3), Arc::new([Gate::default(), Gate::default()]));
        crew.execute({
            let sisters = Arc::clone(&sisters);
            move || {
                for (own, other) in [(0, 1), (1, 0)] {
                    let sisters = Arc::clone(&sisters);
                    spawn(move || {
                        sisters[own].open();
                        sisters[other].pass();
                    });
                }
                sisters[0].pass();
                sisters[1].pass();
            }
        });
        sisters[0].pass();
        sisters[1].pass();
        shut_down(crew);
    });
}

/// Both jobs may be taken by the same worker; the other one must not sleep through their move.
#[test]
fn jobs_that_are_moved_can_wait_for_each_other() {
    check(2, || {
        let (crew, pair) = (crew(2), Arc::new([Gate::default(), Gate::default()]));
        for (own, other) in [(0, 1), (1, 0)] {
            let pair = Arc::clone(&pair);
            crew.execute(move || {
                pair[own].open();
                pair[other].pass();
            });
        }
        pair[0].pass();
        pair[1].pass();
        shut_down(crew);
    });
}

/// A submitter has passed the check for closing; the crew is closed and ends meanwhile.
#[test]
fn a_late_job_runs_once_or_is_given_back() {
    check(2, || {
        let (crew, ran) = (crew(2), Tally::default());
        let submitter = thread::spawn({
            let (crew, mark) = (crew.clone(), ran.mark());
            move || crew.try_execute(mark).is_ok()
        });
        let _ = crew.shutdown_timeout(Duration::MAX).unwrap();
        let accepted = submitter.join().unwrap();
        shut_down(crew); // again, for the late shift
        assert_eq!(ran.count(), usize::from(accepted));
    });
}

#[test]
fn a_late_job_runs_or_is_discarded() {
    check(2, || {
        let (crew, ran) = (crew(1), Tally::default());
        let submitter = thread::spawn({
            let (crew, mark) = (crew.clone(), ran.mark());
            move || crew.try_execute(mark).is_ok()
        });
        crew.shutdown_now();
        let accepted = submitter.join().unwrap();
        shut_down(crew.clone());
        let discarded = crew.crew().report().discarded as usize;
        assert_eq!(ran.count() + discarded, usize::from(accepted));
    });
}

/// Dropping the last handle closes the crew; workers that sleep then must leave.
#[test]
fn a_crew_without_handles_ends() {
    check(2, || {
        let (crew, ran) = (crew(2), Tally::default());
        crew.execute(ran.mark());
        let shared = Arc::clone(crew.crew());
        drop(crew);
        assert!(shared.life.wait_until(None, || shared.life.threads() == 0));
        shared.join_threads();
        assert_eq!(ran.count(), 1);
    });
}

/// Who has waited for the crew to be idle finds that jobs, and the jobs they spawned, have run.
#[test]
fn joining_waits_for_children() {
    check(2, || {
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
        shut_down(crew);
    });
}

/// Gives a job to the crew whose job this is.
fn spawn(job: impl FnOnce() + Send + 'static) {
    assert!(try_execute_locally(job).is_ok());
}

/// How many jobs have run. Relaxed: who may rely on the number has learnt by other means that it is final.
#[derive(Default)]
struct Tally(Arc<AtomicUsize>);

impl Tally {
    fn mark(&self) -> impl FnOnce() + Send + use<> {
        let count = Arc::clone(&self.0);
        move || {
            count.fetch_add(1, Relaxed);
        }
    }

    fn count(&self) -> usize {
        self.0.load(Relaxed)
    }
}
