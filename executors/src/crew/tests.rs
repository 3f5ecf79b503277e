//! Tests of a whole crew, mostly of its end, in situations to which no pool can be brought.

use super::{Charter, Crew, Setup, Terms};
#[cfg(feature = "produce-metrics")]
use crate::meter::on_counter::submits;
#[cfg(feature = "elastic-exec")]
use crate::{
    backing::Polls,
    crew::Handle,
    parker::ParkResult,
    source::shared::{SharedSource, Worth},
};
#[cfg(feature = "dispatcher-exec")]
use crate::{
    crew::delivery::Admission,
    options::Placement,
    placement::Neighbourhood,
    source::dispatch::{CPU, DispatchSource, NORMAL},
};
#[cfg(feature = "burst-exec")]
use crate::{
    crew::worker::Worker,
    mailbox::Mailboxes,
    source::mail::{MailSource, Theft},
};
use crate::{
    job::{Closure, IntoJob, Job},
    local,
    meter::Meter,
    options::{Fairness, Idle, Options, WorkerHook, callback},
    parker::{self, DynamicThreadData, Origin, Parker, StaticParker},
    placement::Mask,
    source::{Source, Whom, fifo::FifoSource},
    time_slice::TimeSlice,
};
#[cfg(feature = "elastic-exec")]
use std::time::{Duration, Instant};
use std::{
    ops::Range,
    sync::{
        Arc, Mutex,
        mpsc::{self, TryRecvError},
    },
    thread::{self, ThreadId},
};

/// The setup of a crew of one worker, whose thread is there or `cold`.
pub(super) fn setup(cold: Range<usize>, options: Options) -> Setup<FifoSource, impl Parker + 'static> {
    setup_of(Terms::fixed(1), cold, FifoSource::new(), options)
}

pub(super) fn setup_of<S>(
    terms: Terms,
    cold: Range<usize>,
    source: S,
    options: Options,
) -> Setup<S, StaticParker<DynamicThreadData>> {
    let charter = Charter {
        label: "a few workers",
        thread_name: |seat| seat.to_string(),
        idle: Idle::PARK,
        fairness: Fairness::COUNTED,
        time_slice: TimeSlice::Usual,
    };
    Setup { terms, cold, source, parker: parker::dynamic(), charter, options }
}

/// A crew whose only worker does not come, so that no thread is there but those that late jobs bring.
fn crew_without_thread(options: Options) -> Arc<Crew<FifoSource, impl Parker + 'static>> {
    Crew::new(setup(1..1, options))
}

/// A hook, and a channel that tells of its calls.
fn hook() -> (WorkerHook, mpsc::Receiver<usize>) {
    let (tell, told) = mpsc::channel();
    let hook = move |seat| tell.send(seat).expect("the test listens");
    (callback(Box::new(hook)), told)
}

/// A job that submits another to its own crew, and a channel that tells when the other runs.
fn parent() -> (impl FnOnce() + Send + 'static, mpsc::Receiver<()>) {
    let (tell, told) = mpsc::channel();
    let child = move || tell.send(()).expect("the test listens");
    (move || assert!(local::try_execute_locally(child).is_ok()), told)
}

/// The result of a `job` that was admitted before the end of a crew, and comes in after it, from a thread that has
/// called `prepare`.
fn late_job<R>(stack_size: Option<usize>, prepare: impl FnOnce(), job: fn() -> R) -> R
where
    R: Send + 'static,
{
    let options = Options { stack_size, ..Options::new() };
    let crew = crew_without_thread(options);
    crew.close();
    assert!(crew.end_if_due());
    let (tell, told) = mpsc::channel();
    prepare();
    crew.put_from_outside((), Closure(move || assert!(tell.send(job()).is_ok(), "the test listens")));
    let result = told.recv().expect("it runs");
    assert!(crew.await_end(None));
    assert_eq!((crew.report().finished, crew.report().discarded), (1, 0));
    result
}

const TOO_LARGE_FOR_ANY_SYSTEM: Option<usize> = Some(usize::MAX / 2);

#[test]
fn late_jobs_run_on_one_more_thread_or_on_their_submitter() {
    let place = |stack_size| late_job(stack_size, || (), || thread::current().id());
    assert_ne!(place(None), thread::current().id());
    assert_eq!(place(TOO_LARGE_FOR_ANY_SYSTEM), thread::current().id());
}

#[test]
fn a_late_shift_calls_no_hooks() {
    let (hook, called) = hook();
    let options = Options { on_start: Some(Arc::clone(&hook)), on_stop: Some(hook), ..Options::new() };
    let crew = crew_without_thread(options);
    crew.close();
    assert!(crew.end_if_due());
    crew.put_from_outside((), Closure(|| ()));
    assert!(crew.await_end(None));
    assert_eq!(crew.report().finished, 1);
    drop(crew);
    assert!(called.recv().is_err(), "no hook is called");
}

/// A queue. Between the next look at it and what that look tells, something happens.
struct Interrupted {
    queue: FifoSource,
    meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Source for Interrupted {
    type Address = ();
    type Local = <FifoSource as Source>::Local;

    fn attach(&self, seat: Option<usize>) -> Self::Local {
        self.queue.attach(seat)
    }

    fn inject(&self, (): (), job: impl IntoJob) -> Whom {
        self.queue.inject((), job)
    }

    fn run_next(&self, local: &Self::Local) -> bool {
        self.queue.run_next(local)
    }

    fn search(&self, local: &Self::Local, meter: &Meter) -> Option<Job> {
        self.queue.search(local, meter)
    }

    fn take(&self) -> Option<Job> {
        self.queue.take()
    }

    fn has_jobs(&self) -> bool {
        let seen = self.queue.has_jobs();
        let meanwhile = self.meanwhile.lock().expect("no panic").take();
        if let Some(happen) = meanwhile {
            happen();
        }
        seen
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}

/// A thread runs a job in place of a worker, and leaves its child to the others, while another looks whether the crew
/// is idle.
#[test]
fn the_end_waits_for_the_child_of_a_job_that_ended_during_the_look() {
    let source = Interrupted { queue: FifoSource::new(), meanwhile: Mutex::default() };
    let crew = Crew::new(setup_of(Terms::fixed(1), 1..1, source, Options::new()));
    let (parent, child_runs) = parent();
    let there = Arc::clone(&crew);
    let stand_in = move || there.stand_in(|worker| worker.run_once(Job::new(parent)));
    *crew.source.meanwhile.lock().expect("no panic") = Some(Box::new(stand_in));
    crew.close();
    assert!(crew.source.meanwhile.lock().expect("no panic").is_none(), "it has looked");
    assert_eq!(child_runs.try_recv(), Err(TryRecvError::Empty));
    assert!(!crew.life.is_over(), "the child waits");
    crew.stand_in(|worker| worker.work_late());
    assert_eq!(child_runs.try_recv(), Ok(()));
    assert!(crew.life.is_over());
}

/// On their submitter only if there is no other thread: it may hold a lock that their destructors take.
#[test]
fn late_jobs_are_dropped_on_one_more_thread_or_on_their_submitter() {
    struct TellsPlace(mpsc::Sender<ThreadId>);

    impl Drop for TellsPlace {
        fn drop(&mut self) {
            self.0.send(thread::current().id()).expect("the test listens");
        }
    }

    let place = |stack_size| {
        let options = Options { stack_size, ..Options::new() };
        let crew = crew_without_thread(options);
        crew.life.begin_discarding();
        let (tell, told) = mpsc::channel();
        let owned = TellsPlace(tell);
        crew.put_from_outside((), Closure(move || drop(owned)));
        let place = told.recv().expect("it is dropped");
        crew.close();
        assert!(crew.await_end(None));
        assert_eq!((crew.report().finished, crew.report().discarded), (0, 1));
        place
    };
    assert_ne!(place(None), thread::current().id());
    assert_eq!(place(TOO_LARGE_FOR_ANY_SYSTEM), thread::current().id());
}

/// The late job is for the first worker, and the job that it submits for the second, which has left.
#[cfg(feature = "burst-exec")]
#[test]
fn a_child_of_a_late_job_runs_though_its_worker_has_left() {
    let source = MailSource::<false>::new(Arc::new(Mailboxes::new(2)), Theft::Never);
    let crew = Crew::new(setup_of(Terms::fixed(2), 2..2, source, Options::new()));
    crew.close();
    assert!(crew.end_if_due());
    let (late, child) = parent();
    assert_eq!(crew.source.inject((), Closure(late)), Whom::Owner(0));
    Worker::new(&crew, 0).work();
    assert_eq!(child.try_recv(), Ok(()));
    assert_eq!((crew.report().finished, crew.report().queued), (2, 0));
}

/// The late shift turns to the more urgent job of the other subpool, and comes back for the rest.
#[cfg(feature = "dispatcher-exec")]
#[test]
fn what_a_late_job_submits_to_two_subpools_runs() {
    const CHILDREN: usize = 10;
    let source = DispatchSource::new(1, Neighbourhood::of_machine(1, &Placement::Floating), &[1, 1], &[], 61);
    let (cpu, other) = (source.address(CPU, NORMAL), source.address(1, NORMAL + 1));
    let crew = Crew::new(setup_of(Terms::fixed(1), 1..1, source, Options::new()));
    crew.close();
    assert!(crew.end_if_due());
    let late = {
        let crew = Arc::clone(&crew);
        move || {
            let submit = |to| assert!(crew.deliver(to, Admission::New, || ()).is_ok());
            (0..CHILDREN).for_each(|_| submit(cpu));
            submit(other);
        }
    };
    crew.put_from_outside(cpu, Closure(late));
    assert!(crew.await_end(None));
    assert_eq!((crew.report().finished, crew.report().queued), (CHILDREN as u64 + 2, 0));
}

/// It was admitted before the end, and runs on its submitter when the only worker has left.
#[cfg(feature = "elastic-exec")]
#[test]
fn a_child_of_a_late_job_that_its_submitter_runs_runs_too() {
    let terms = Terms { core: 1, max: 1, only_replaces: false, keep_alive: Duration::MAX };
    let crew = Crew::new(setup_of(terms, 0..0, SharedSource::new(), Options::new()));
    assert!(terms.hire(&crew.life.roll, || 0, true), "a worker that leaves at the end stays on the roll");
    crew.close();
    assert!(crew.end_if_due());
    let (late, child) = parent();
    crew.stand_in(|worker| worker.run_once(Job::new(late)));
    assert_eq!(child.try_recv(), Ok(()));
}

/// Does `work`, which ends with a thread that publishes for `crew`. The job of the recorder must have run by then.
#[cfg(feature = "produce-metrics")]
fn with_job_of_recorder<S: Source, P: Parker + 'static>(crew: &Crew<S, P>, work: impl FnOnce()) {
    let (tell, told) = mpsc::channel();
    metrics::with_local_recorder(&submits(move || tell.send(()).expect("the test listens")), work);
    assert_eq!(told.try_recv(), Ok(()));
    assert_eq!((crew.report().finished, crew.report().queued), (2, 0));
}

/// The submitter does what the late shift would do: a recorder can be set for this thread alone.
#[cfg(feature = "produce-metrics")]
#[test]
fn what_a_recorder_submits_at_the_end_of_a_late_shift_runs() {
    let options = Options { stack_size: TOO_LARGE_FOR_ANY_SYSTEM, ..Options::new() };
    let crew = crew_without_thread(options);
    crew.close();
    assert!(crew.end_if_due());
    with_job_of_recorder(&crew, || crew.put_from_outside((), Closure(|| ())));
}

#[cfg(all(feature = "elastic-exec", feature = "produce-metrics"))]
#[test]
fn what_a_recorder_submits_after_a_job_that_its_submitter_runs_runs_too() {
    let terms = Terms { core: 1, max: 1, only_replaces: false, keep_alive: Duration::MAX };
    let crew = Crew::new(setup_of(terms, 0..0, SharedSource::new(), Options::new()));
    assert!(terms.hire(&crew.life.roll, || 0, true), "a worker that leaves at the end stays on the roll");
    crew.close();
    assert!(crew.end_if_due());
    with_job_of_recorder(&crew, || crew.stand_in(|worker| worker.run_once(Job::new(|| ()))));
}

/// Says what it is asked for.
#[cfg(feature = "elastic-exec")]
#[derive(Clone)]
pub(super) struct ToldParker {
    pub(super) parker: StaticParker<DynamicThreadData>,
    pub(super) tell: Arc<dyn Fn(Asked) + Send + Sync>,
}

#[cfg(feature = "elastic-exec")]
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// For a nap that is to be this long.
    Nap(Duration),
    /// To call all.
    CallAll,
}

#[cfg(feature = "elastic-exec")]
impl Parker for ToldParker {
    fn max_threads(&self) -> Option<usize> {
        self.parker.max_threads()
    }

    fn init(&self, thread_id: usize) {
        self.parker.init(thread_id);
    }

    fn leave(&self, thread_id: usize) {
        self.parker.leave(thread_id);
    }

    fn prepare_park(&self, thread_id: usize) {
        self.parker.prepare_park(thread_id);
    }

    fn abort_park(&self, thread_id: usize) {
        self.parker.abort_park(thread_id);
    }

    fn park(&self, thread_id: usize) -> ParkResult {
        self.parker.park(thread_id)
    }

    fn nap(&self, thread_id: usize, duration: Duration) {
        (self.tell)(Asked::Nap(duration));
        self.parker.nap(thread_id, duration);
    }

    fn unpark_one(&self) {
        self.parker.unpark_one();
    }

    fn unpark_all(&self) {
        self.parker.unpark_all();
        (self.tell)(Asked::CallAll);
    }
}

/// There is no worker, and no thread for one. The job that a submitter runs in place of a worker drops the last handle.
#[cfg(feature = "elastic-exec")]
#[test]
fn what_is_submitted_while_a_stand_in_closes_the_crew_runs() {
    let (tell, told) = mpsc::channel();
    let submit = move |asked| {
        assert_eq!(asked, Asked::CallAll, "no worker naps");
        let tell = tell.clone();
        drop(local::try_execute_locally(move || tell.send(()).expect("the test waits")));
    };
    let terms = Terms { core: 0, max: 1, only_replaces: false, keep_alive: Duration::MAX };
    let options = Options { stack_size: TOO_LARGE_FOR_ANY_SYSTEM, ..Options::new() };
    let Setup { cold, source, parker, charter, options, .. } = setup_of(terms, 0..0, SharedSource::new(), options);
    let parker = ToldParker { parker, tell: Arc::new(submit) };
    let handle = Handle::without_workers(Setup { terms, cold, source, parker, charter, options });
    let (wake, woken) = futures::channel::oneshot::channel();
    let last = handle.clone();
    handle.spawn_detached(async move {
        woken.await.expect("the test wakes it");
        drop(last);
    });
    drop(handle);
    assert_eq!(told.try_recv(), Err(TryRecvError::Empty), "the future has a handle");
    wake.send(()).expect("the future waits");
    assert_eq!(told.try_recv(), Ok(()));
}

/// As if parkers had panicked on all workers, and the last of these, or the last handle, had gone while a job tried
/// to start another: neither has given up the crew, because of that thread.
#[test]
fn a_deserted_crew_is_given_up_when_a_cold_thread_is_refused() {
    let options = Options { stack_size: TOO_LARGE_FOR_ANY_SYSTEM, ..Options::new() };
    let crew = Crew::start(setup(0..1, options)).expect("there is no thread to be refused");
    let (tell, told) = mpsc::channel();
    crew.source.inject((), Closure(move || assert!(tell.send(()).is_ok(), "it would tell if it ran")));
    crew.unjoined.last_waiter_left();
    crew.close();
    assert_eq!(told.try_recv(), Err(TryRecvError::Empty), "nothing gives up the crew");
    crew.call_one(Origin::Outside);
    assert_eq!(told.try_recv(), Err(TryRecvError::Disconnected), "the job was dropped");
    assert!(crew.life.is_over());
}

#[cfg(feature = "elastic-exec")]
#[test]
fn no_worker_is_hired_after_the_end() {
    let terms = Terms { core: 1, max: 1, only_replaces: false, keep_alive: Duration::MAX };
    let (hook, called) = hook();
    let options = Options { on_start: Some(hook), ..Options::new() };
    let crew = Crew::new(setup_of(terms, 0..0, SharedSource::new(), options));
    crew.close();
    assert!(crew.end_if_due());
    crew.grow(1);
    assert_eq!((crew.life.roll.read().live(), crew.life.threads()), (0, 0));
    drop(crew);
    assert!(called.recv().is_err(), "no hook is called");
}

#[cfg(feature = "elastic-exec")]
#[test]
fn a_worker_that_has_left_does_not_count_as_awake() {
    let terms = Terms { core: 0, max: 1, only_replaces: false, keep_alive: Duration::from_nanos(1) };
    let setup = setup_of(terms, 0..0, SharedSource::new(), Options::new());
    let parker = setup.parker.clone();
    let crew = Crew::new(setup);
    let (tell, told) = mpsc::channel();
    let seen = parker.clone();
    crew.put_from_outside(Worth::Kept, Closure(move || tell.send(seen.members()).expect("the test listens")));
    assert_eq!(told.recv(), Ok(1));
    let begin = Instant::now();
    while crew.life.threads() > 0 && begin.elapsed() < Duration::from_secs(60) {
        thread::yield_now();
    }
    assert_eq!((crew.life.threads(), parker.members()), (0, 0));
}

#[test]
fn late_jobs_are_not_pinned_by_their_submitter() {
    let all = Mask::of_this_thread();
    let Some(one) = all.first_of_several() else { return };
    let submitter = move || late_job(None, || one.apply(), Mask::of_this_thread);
    assert_eq!(thread::spawn(submitter).join().expect("no panic"), all);
}
