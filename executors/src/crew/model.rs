//! Models of a whole crew: its real handles, workers, parker and life, on a source that loom can follow.

mod burst;
mod cold;
#[cfg(feature = "dispatcher-exec")]
mod dispatch;
mod elastic;
#[cfg(feature = "cb-channel-exec")]
mod fifo;
#[cfg(feature = "elastic-exec")]
mod shared;
#[cfg(feature = "workstealing-exec")]
mod stealing;

use super::{Charter, Handle, Setup, Terms, delivery::Admission};
use crate::{
    asymmetric_fence::{LightSide, heavy_fence},
    backing::Backing,
    containment::Contained,
    job::{IntoJob, Job},
    local::try_execute_locally,
    meter::Meter,
    options::{Fairness, Idle, Options},
    parker::{self, DynamicThreadData, Origin, Parker, StaticParker},
    source::{Source, Whom},
    sync::{
        Gate,
        atomic::{
            AtomicUsize,
            Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
            fence,
        },
        check, check_at_length, check_reaching, thread,
    },
    time_slice::TimeSlice,
};
use std::{
    collections::VecDeque,
    fmt::Debug,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
    time::Duration,
};

/// Like the source of the work-stealing pool: a tray for each worker and one for jobs from outside. Jobs that are moved
/// from one to another are in neither for a moment.
struct ModelSource {
    common: Tray,
    own: Box<[Tray]>,
    /// One for each worker, and one for all other submitters, if they have the privilege of light fences. All have it
    /// all the time, or none.
    sides: Box<[LightSide]>,
    /// For seats beyond the last; no worker steals from it.
    late: Tray,
    /// How many of a number of jobs a search takes: one to run, the others to its worker's tray.
    share: fn(usize) -> usize,
}

/// Jobs, and their number. Whether there are any is seen by a load, as in our queues: no lock helps the
/// protocol.
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

    /// Takes as many of the jobs as `share` returns for their number.
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
    fn new(workers: usize, share: fn(usize) -> usize) -> Self {
        let own = (0..workers).map(|_| Tray::default()).collect();
        let sides = (0..=workers).map(|_| LightSide::default()).collect();
        ModelSource { common: Tray::default(), own, sides, late: Tray::default(), share }
    }

    /// The same with a fence at each push.
    fn without_privileges(self) -> Self {
        ModelSource { sides: Box::default(), ..self }
    }

    fn tray(&self, seat: usize) -> &Tray {
        self.own.get(seat).unwrap_or(&self.late)
    }
}

impl Source for ModelSource {
    type Address = ();
    type Local = usize;

    fn attach(&self, seat: Option<usize>) -> usize {
        seat.unwrap_or(self.own.len() + 1) // beyond the side of submitters, which is another thread's
    }

    fn inject(&self, (): (), job: impl IntoJob) -> Whom {
        self.common.put([job.into_job()]);
        Whom::Anyone
    }

    fn push(&self, &seat: &usize, (): (), job: impl IntoJob) -> Result<Whom, Job> {
        self.tray(seat).put([job.into_job()]);
        Ok(Whom::Anyone)
    }

    fn fence_pushes(&self, giver: Option<&usize>) {
        match self.sides.get(giver.map_or(self.own.len(), |&seat| seat)) {
            Some(side) => side.fence(),
            None => fence(SeqCst),
        }
    }

    fn spares_fences(&self, _seat: Option<&usize>) -> bool {
        !self.sides.is_empty()
    }

    fn recall(&self, &seat: &usize) {
        if !self.sides.is_empty() {
            heavy_fence(self.sides.iter().enumerate().filter(|&(other, _)| other != seat).map(|(_, side)| side));
        }
    }

    fn is_lone(&self, &seat: &usize, (): ()) -> bool {
        self.tray(seat).len() <= 1
    }

    fn run_next(&self, &seat: &usize) -> bool {
        self.tray(seat).take_one().map(Job::run).is_some()
    }

    fn pop_outside(&self, _seat: &usize, _period: usize, _meter: &Meter) -> Option<Job> {
        self.common.take_one()
    }

    fn search(&self, &seat: &usize, _meter: &Meter) -> Option<Job> {
        self.tray(seat).take_one().or_else(|| {
            let neighbours = (1..self.own.len()).map(|distance| &self.own[(seat + distance) % self.own.len()]);
            let mut jobs = [&self.common].into_iter().chain(neighbours).find_map(|tray| {
                let jobs = tray.take(self.share);
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

    fn take_owed_call(&self, &seat: &usize) -> bool {
        self.tray(seat).len() > 0
    }

    fn shows_by_taking(&self, _seat: &usize) -> bool {
        true // both are steps of one count
    }

    fn has_crowds(&self, _seat: &usize) -> bool {
        [&self.common].into_iter().any(|tray| tray.len() > 0) || self.own.iter().any(|tray| tray.len() > 1)
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
    time_slice: TimeSlice::Usual,
};

/// The name of a thread that does not start. (In place of a system that refuses it.)
const REFUSED: &str = "\0";

/// Names threads of which only the first starts.
fn the_first_only(seat: usize) -> String {
    if seat == 0 { seat.to_string() } else { REFUSED.to_owned() }
}

fn with_a_hook() -> Options {
    let hook: Box<dyn Fn(usize) + Send + Sync> = Box::new(|_seat| ());
    Options { on_start: Some(Arc::new(AssertUnwindSafe(Contained::new(hook)))), ..Options::new() }
}

fn setup<S, P>(terms: Terms, source: S, parker: P) -> Setup<S, P> {
    Setup { terms, cold: 0..0, source, parker, charter: CHARTER, options: Options::new() }
}

fn start<S: Source>(workers: usize, source: S) -> Handle<S, ModelParker> {
    Handle::start(setup(Terms::fixed(workers), source, parker::dynamic())).unwrap()
}

/// A crew whose workers share as those of the work-stealing pool do.
fn crew(workers: usize) -> Handle<ModelSource, ModelParker> {
    start(workers, ModelSource::new(workers, |jobs| jobs.div_ceil(2)))
}

/// Ends a crew, and checks that all have signed off everywhere. In how many ways it can end is not explored here.
fn see_off<S: Source, P: Parker + Debug>(crew: Handle<S, P>) {
    loom::skip_branch();
    let report = crew.shutdown_timeout(Duration::MAX).unwrap();
    assert_eq!((report.running, report.queued), (0, 0));
    assert_eq!(crew.crew().life.active(), 0);
    let parker = format!("{:?}", crew.crew().parker);
    let [sets, empty_sets] =
        ["sleeping", "sleeping: 0, called: 0, looking: 0"].map(|text| parker.matches(text).count());
    assert!(sets > 0 && sets == empty_sets, "{parker}");
}

#[test]
fn jobs_from_outside_run() {
    check(2, || {
        let (crew, ran) = (crew(2), Tally::default());
        crew.execute(ran.mark());
        crew.execute(ran.mark());
        crew.join(None).unwrap();
        assert_eq!(ran.count(), 2);
        see_off(crew);
    });
}

#[test]
fn jobs_from_two_submitters_run() {
    check(3, || {
        let (crew, ran) = (crew(1), Tally::default());
        let submitter = thread::spawn({
            let (crew, mark) = (crew.clone(), ran.mark());
            move || crew.execute(mark)
        });
        crew.execute(ran.mark());
        submitter.join().unwrap();
        crew.join(None).unwrap();
        assert_eq!(ran.count(), 2);
        see_off(crew);
    });
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
        see_off(crew);
    });
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
        let (shared, mut jobs) = (Arc::clone(crew.crew()), pair.jobs());
        crew.execute(move || {
            jobs.by_ref().take(1).for_each(spawn);
            jobs.for_each(|last| assert!(shared.deliver((), Admission::SelfWoken, last).is_ok()));
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
        let (shared, mut jobs) = (Arc::clone(crew.crew()), pair.jobs());
        let (outside, last) = (jobs.next().unwrap(), jobs.next().unwrap());
        crew.execute(move || assert!(shared.deliver((), Admission::SelfWoken, last).is_ok()));
        crew.execute(outside);
        pair.meet();
        see_off(crew);
    });
}

/// A search may move jobs to the worker that searches; no other may sleep through that.
#[test]
fn jobs_that_are_moved_can_wait_for_each_other() {
    check(2, || {
        let crew = start(2, ModelSource::new(2, |all| all));
        let pair = Pair::default();
        pair.jobs().for_each(|job| crew.execute(job));
        pair.meet();
        see_off(crew);
    });
}

/// The same for the glance of a worker that has just run out of jobs. (They are put in as it ends its job, and only
/// the worker tells of them.)
#[test]
fn jobs_that_are_moved_at_a_glance_can_wait_for_each_other() {
    check(2, || {
        let crew = start(2, ModelSource::new(2, |all| all));
        let (pair, shared) = (Pair::default(), crew.clone());
        let jobs = pair.jobs();
        crew.execute(move || jobs.for_each(|job| _ = shared.crew().source.inject((), Job::new(job))));
        pair.meet();
        see_off(crew);
    });
}

/// Two jobs that wait for each other.
#[derive(Clone, Default)]
pub(crate) struct Pair(pub(crate) Arc<[Gate; 2]>);

impl Pair {
    pub(crate) fn jobs(&self) -> impl Iterator<Item = impl FnOnce() + Send + use<>> + Send + use<> {
        let pair = Arc::clone(&self.0);
        [(0, 1), (1, 0)].into_iter().map(move |(own, other)| {
            let gates = Arc::clone(&pair);
            move || {
                gates[own].open();
                gates[other].pass();
            }
        })
    }

    pub(crate) fn meet(&self) {
        self.0.iter().for_each(Gate::pass);
    }
}

/// A submitter has passed the check for closing; the crew is closed and ends meanwhile.
#[test]
fn a_late_job_runs_once_or_is_given_back() {
    check_at_length(2, || {
        let (crew, ran) = (crew(2), Tally::default());
        let submitter = thread::spawn({
            let (crew, mark) = (crew.clone(), ran.mark());
            move || crew.try_execute(mark).is_ok()
        });
        let _ = crew.shutdown_timeout(Duration::MAX).unwrap();
        let accepted = submitter.join().unwrap();
        see_off(crew); // it may have got a late shift meanwhile
        assert_eq!(ran.count(), usize::from(accepted));
    });
}

/// The system refuses its late shift, and the submitter does what that would have done.
#[test]
fn a_late_job_whose_thread_is_refused_runs_once_or_is_given_back() {
    check_reaching(2, ["the submitter runs it"], |[is_run_here]| {
        let setup = setup(Terms::fixed(1), ModelSource::new(1, |all| all), parker::dynamic());
        let charter = Charter { thread_name: the_first_only, ..CHARTER };
        let crew = Handle::start(Setup { charter, ..setup }).unwrap();
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
        let submitter = thread::spawn({
            let (crew, mark) = (crew.clone(), ran.mark());
            move || crew.try_execute(mark).is_ok()
        });
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
        crew.execute({
            let gate = Arc::clone(&gate);
            move || gate.pass()
        });
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
    struct OpensOnDrop(Arc<Gate>);

    impl Drop for OpensOnDrop {
        fn drop(&mut self) {
            self.0.open();
        }
    }

    fn end(source: ModelSource) {
        let (crew, gate) = (start(1, source), Arc::new(Gate::default()));
        crew.execute({
            let gate = Arc::clone(&gate);
            move || gate.pass()
        });
        let dropped = Arc::new(Gate::default());
        let submitter = thread::spawn({
            let (crew, owned) = (crew.clone(), OpensOnDrop(Arc::clone(&dropped)));
            move || _ = crew.try_execute(move || drop(owned))
        });
        crew.shutdown_async();
        crew.shutdown_now();
        submitter.join().unwrap();
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
    struct OnDrop(Tally);

    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.mark()();
        }
    }

    check(3, || {
        let (crew, gone) = (crew(1), Tally::default());
        let owned = OnDrop(Tally(Arc::clone(&gone.0)));
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

/// Dropping the last handle closes the crew; workers that sleep then must leave.
#[test]
fn a_crew_without_handles_ends() {
    check(2, || {
        let (crew, ran) = (crew(2), Tally::default());
        crew.execute(ran.mark());
        let shared = Arc::clone(crew.crew());
        drop(crew);
        assert!(shared.await_end(None));
        assert_eq!(ran.count(), 1);
    });
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

/// When a wait for the crew to be idle returns, jobs, and the jobs they spawned, have run.
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
        see_off(crew);
    });
}

/// Submits a job to the crew whose job calls this.
fn spawn(job: impl FnOnce() + Send + 'static) {
    assert!(try_execute_locally(job).is_ok());
}

/// How many jobs have run. Relaxed: a thread that relies on the number has learnt by other means that it is final.
#[derive(Default)]
pub(crate) struct Tally(Arc<AtomicUsize>);

impl Tally {
    pub(crate) fn mark(&self) -> impl FnOnce() + Send + use<> {
        let count = Arc::clone(&self.0);
        move || {
            count.fetch_add(1, Relaxed);
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Relaxed)
    }
}
