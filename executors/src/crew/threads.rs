//! The threads of a crew, from their start to their real end.
//!
//! A thread is counted before it serves, and signs off as its last act: step 5 of "The end" in `crew/README.md`.

use super::{Charter, Crew, Setup, door::DOOR, unjoined::Handles, worker::Worker};
use crate::{
    bell,
    containment::{guard, or_refused, tell},
    error::{BuildError, BuildErrorKind},
    joining,
    options::Options,
    parker::Parker,
    placement::{Outset, core_count, place_current_thread},
    source::Source,
    sync::{
        Mutex,
        thread::{self, JoinHandle},
    },
};
use std::{
    io, mem,
    sync::{Arc, PoisonError},
    time::Duration,
};

/// How long a failed `build` waits for the end of the threads that it has started, before it looks again for jobs that
/// their start hooks have submitted.
const NEXT_LOOK: Duration = Duration::from_millis(1);

impl<S, P> Crew<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// A crew of a fixed number of workers, with those that are there from the beginning; all of them or none.
    ///
    /// The first worker's thread is started before all else: it takes longer to begin than the crew to be founded.
    pub(super) fn start(setup: Setup<S, P>) -> Result<Arc<Self>, BuildError> {
        debug_assert!(!S::ELASTIC);
        let (threads, cold) = (setup.terms.core, setup.cold.clone());
        let mut warm = (0..threads).filter(|seat| !cold.contains(seat));
        let refused = |seat, error: SpawnError| error.into_build_error(Some((seat, threads)));
        let crew = match warm.next() {
            Some(first) => Self::new_with_first_thread(first, setup).map_err(|error| refused(first, error))?,
            None => Self::new(setup),
        };
        let incomplete = Incomplete(&crew);
        for seat in warm {
            if let Err(error) = crew.spawn_worker(seat) {
                drop(incomplete);
                // A hook may have been about to put in a job.
                while !crew.await_end(Some(NEXT_LOOK)) {
                    crew.discard_backlog();
                }
                return Err(refused(seat, error));
            }
        }
        mem::forget(incomplete);
        Ok(crew)
    }

    /// A crew whose worker on `seat` is on its way.
    fn new_with_first_thread(seat: usize, setup: Setup<S, P>) -> Result<Arc<Self>, SpawnError> {
        let meeting = Arc::new(Mutex::new(None::<Arc<Self>>));
        // Locked until the crew is there or, if `Crew::new` panics, will not come.
        let mut place = meeting.lock().unwrap_or_else(PoisonError::into_inner);
        let begins = {
            let meeting = Arc::clone(&meeting);
            move || {
                let crew = meeting.lock().unwrap_or_else(PoisonError::into_inner).take();
                drop(meeting);
                if let Some(crew) = crew {
                    crew.serve(seat, true, Self::run_worker);
                }
            }
        };
        let thread = start_thread(&setup.options, &setup.charter, seat, begins)?;
        let crew = Self::new(setup);
        crew.life.thread_starts();
        crew.expect_worker();
        crew.keep(&mut crew.unjoined.lock(), thread);
        *place = Some(Arc::clone(&crew));
        Ok(crew)
    }

    /// Starts the worker of the next cold seat, if that is due. Returns whether it comes: not if the crew is over, and
    /// not if the operating system refuses it; then the others do its work.
    pub(super) fn start_cold(&self, is_due: impl FnOnce() -> bool) -> bool {
        let start = |seat| self.myself().spawn_worker(seat).map_err(|refused| (seat, refused));
        match self.cold.start_one(is_due, start) {
            None | Some(Err((_, SpawnError::Over))) => false,
            Some(Ok(_outset)) => true,
            Some(Err((seat, refused))) => {
                // Logged when no lock is held any more: a logger may submit a job to this pool.
                let refused = refused.into_build_error(None);
                tell(|| log::error!("{} goes on without worker {seat}: {refused}", self.name()));
                // The last handle, or the last thread, may have gone while this one was expected.
                guard(|| self.give_up_if_deserted());
                false
            }
        }
    }

    /// Starts the worker on `seat`; not if the crew is over, so that no hook is called after a wait for the end has
    /// returned. Returns what the caller has to drop when it holds no lock, see
    /// [`spawn_expected`](Self::spawn_expected).
    pub(super) fn spawn_worker(self: &Arc<Self>, seat: usize) -> Result<Option<Arc<Outset>>, SpawnError> {
        if self.life.admits_thread() {
            self.spawn_expected(self.expect_worker(), seat, Self::run_worker)
        } else {
            Err(SpawnError::Over)
        }
    }

    /// A worker's thread is to come. If it has a hook to call, which may submit jobs, it counts as active from now on,
    /// so that the end waits for the hook. Returns whether it does.
    fn expect_worker(&self) -> bool {
        let has_hook = self.options.on_start.is_some();
        if has_hook {
            self.life.roll.become_active();
        }
        has_hook
    }

    fn run_worker(self: &Arc<Self>, seat: usize) {
        Worker::new(self, seat).work();
    }

    /// Starts a thread for `seat`, on its core if it has one, that does `work`.
    pub(super) fn spawn(self: &Arc<Self>, seat: usize, work: fn(&Arc<Self>, usize)) -> Result<(), SpawnError> {
        self.life.thread_starts();
        self.spawn_expected(false, seat, work).map(drop)
    }

    /// The same for a thread that is counted already, also as active if it `is_active`. It is counted out if it is
    /// refused.
    ///
    /// Returns what has been shared with the thread, if anything: to be dropped by a caller that holds no lock, because
    /// that may give memory back, and an allocator may submit jobs.
    fn spawn_expected(
        self: &Arc<Self>,
        is_active: bool,
        seat: usize,
        work: fn(&Arc<Self>, usize),
    ) -> Result<Option<Arc<Outset>>, SpawnError> {
        let outset = (self.core(seat).is_none() && self.starts_apart(seat)).then(Arc::<Outset>::default);
        let (crew, begins) = (Arc::clone(self), outset.clone());
        let missing = Missing { crew: self, is_active };
        // Locked until the handle is there: a waiter for the thread's real end, after it has signed off, must have the
        // handle.
        let mut unjoined = self.unjoined.lock_for_start();
        // While the thread still counts as coming.
        unjoined.reserve_one();
        let thread = start_thread(&self.options, &self.charter, seat, move || {
            if let Some(outset) = begins {
                outset.begin();
            }
            crew.serve(seat, false, work);
        })?;
        // From here on it signs off itself.
        mem::forget(missing);
        if let Some(outset) = &outset {
            outset.send_elsewhere(&thread, &self.mask);
        }
        self.keep(&mut unjoined, thread);
        Ok(outset)
    }

    /// All that a thread does on `seat`. The first one inherits from the thread that builds the pool where it may run,
    /// and makes no call for it.
    fn serve(self: Arc<Self>, seat: usize, is_first: bool, work: fn(&Arc<Self>, usize)) {
        self.employer.employ();
        let departure = Departure { crew: self, seat };
        let crew = &departure.crew;
        place_current_thread(crew.core(seat), (!is_first).then_some(&crew.mask));
        work(crew, seat);
    }

    fn core(&self, seat: usize) -> Option<usize> {
        self.cores.get(seat).copied()
    }

    /// Keeps the handle of a thread that has been started, to wait for its end.
    fn keep(&self, unjoined: &mut Handles, thread: JoinHandle<()>) {
        self.forget_ended(unjoined);
        unjoined.keep(thread);
    }

    /// Lets go of other threads that have left, for a worker that is about to leave.
    pub(super) fn let_go_of_others(&self) {
        self.forget_ended(&mut self.unjoined.lock());
    }

    /// Not before more threads have left than are there, so that each handle is looked at a few times only, unless many
    /// threads take long to end.
    fn forget_ended(&self, unjoined: &mut Handles) {
        if S::ELASTIC && unjoined.len() > 2 * self.life.threads() {
            unjoined.forget_ended();
        }
    }

    /// Whether a thread on `seat` should begin on another core than the caller's: if the caller is a worker whose job
    /// goes on. Not if the seat is beyond the number of cores: no core waits for the thread then.
    fn starts_apart(&self, seat: usize) -> bool {
        seat < core_count() && self.with_this_worker(|starter| starter.is_some_and(Worker::works_on))
    }

    /// Waits until the crew is over and no thread is left, for at most `timeout`; and then until the threads have
    /// really ended, unless the caller is one of them. Returns whether that has come in time.
    pub(super) fn await_end(&self, timeout: Option<Duration>) -> bool {
        let deadline = timeout.and_then(bell::deadline);
        loop {
            if !self.life.await_end(deadline) {
                return false;
            }
            if self.join_threads() {
                return true;
            }
        }
    }

    /// Waits until threads that have signed off have really ended. Not if one has come since, for a late job: that may
    /// take as long as the job, and this returns false.
    fn join_threads(&self) -> bool {
        // The destructor of a thread-local that a job has left may call this, on a thread that others wait for.
        if self.employer.has_employed_this_thread() {
            return true;
        }
        // Locked until all have ended, so that none of several callers returns before.
        let _joining = self.joining.lock().unwrap_or_else(PoisonError::into_inner);
        let mut unjoined = self.unjoined.lock();
        // A thread is counted before its handle is there.
        if self.life.threads() > 0 {
            return false;
        }
        let ended = unjoined.take();
        // A late job must not wait for its thread until the destructors of thread-locals have run.
        drop(unjoined);
        ended.into_iter().for_each(joining::join);
        true
    }
}

/// Starts a thread for `seat` that does all of `begins`.
fn start_thread(
    options: &Options,
    charter: &Charter,
    seat: usize,
    begins: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, SpawnError> {
    let name = options.thread_name(seat, charter.thread_name).map_err(SpawnError::Name)?;
    let mut builder = thread::Builder::new().name(name);
    if let Some(bytes) = options.stack_size {
        builder = builder.stack_size(bytes);
    }
    or_refused(|| builder.spawn(begins)).map_err(SpawnError::Thread)
}

/// Counts out a thread that was expected.
struct Missing<'a, S: Source, P: Parker + 'static> {
    crew: &'a Crew<S, P>,
    is_active: bool,
}

impl<S: Source, P: Parker + 'static> Drop for Missing<'_, S, P> {
    fn drop(&mut self) {
        self.crew.life.thread_ended();
        if self.is_active {
            self.crew.become_idle(false);
            // It may have been the last active one.
            self.crew.end_if_due();
        }
    }
}

/// Closes for good a crew whose threads have not all been started. What start hooks have submitted by then may be for a
/// thread that does not come.
struct Incomplete<'a, S: Source, P: Parker + 'static>(&'a Crew<S, P>);

impl<S: Source, P: Parker + 'static> Drop for Incomplete<'_, S, P> {
    fn drop(&mut self) {
        self.0.life.begin_discarding();
        self.0.close();
        self.0.discard_backlog();
    }
}

/// Signs a thread off when it ends, however it ends.
struct Departure<S: Source, P: Parker + 'static> {
    crew: Arc<Crew<S, P>>,
    seat: usize,
}

impl<S: Source, P: Parker + 'static> Drop for Departure<S, P> {
    fn drop(&mut self) {
        self.crew.vacancies.give_back(self.seat);
        DOOR.pass();
        self.crew.unjoined.sign_off();
        self.crew.life.thread_ended();
        guard(|| self.crew.give_up_if_deserted());
    }
}

pub(super) enum SpawnError {
    /// The crew is over, and needs no worker any more.
    Over,
    Name(BuildError),
    Thread(io::Error),
}

impl SpawnError {
    /// `one_of` is the worker's number and that of all threads, if the latter was known beforehand.
    pub(super) fn into_build_error(self, one_of: Option<(usize, usize)>) -> BuildError {
        match (self, one_of) {
            (SpawnError::Over, _) => BuildErrorKind::ClosedToWorkers.into(),
            (SpawnError::Name(error), _) => error,
            (SpawnError::Thread(source), Some((worker, threads))) => {
                BuildErrorKind::Spawn { worker: Some(worker), threads, source }.into()
            }
            (SpawnError::Thread(source), None) => BuildErrorKind::Spawn { worker: None, threads: 1, source }.into(),
        }
    }
}

#[cfg(all(test, target_os = "linux", feature = "cb-channel-exec", not(executors_loom)))]
mod tests {
    use super::*;
    use crate::{crew::tests::setup, job::Closure, local, options::Options};
    use std::sync::mpsc;

    #[test]
    fn a_thread_leaves_no_join_handle_if_no_thread_can_wait() {
        for (is_left, handles) in [(false, 1), (true, 0)] {
            let crew = Crew::start(setup(1..1, Options::new())).expect("the thread is not refused");
            if is_left {
                crew.unjoined.last_waiter_left();
            }
            crew.close();
            assert!(crew.life.await_end(None));
            assert_eq!(crew.unjoined.lock().len(), handles, "left: {is_left}");
        }
    }

    #[test]
    fn a_thread_starts_apart_from_a_running_job_if_there_are_cores() {
        let crew = Crew::start(setup(1..1, Options::new())).expect("the thread is not refused");
        let (tell, told) = mpsc::channel();
        let asked = Arc::clone(&crew);
        crew.put_from_outside(
            (),
            Closure(move || {
                let blocking = local::blocking(|| asked.starts_apart(0));
                let answers = [asked.starts_apart(0), blocking, asked.starts_apart(core_count())];
                tell.send(answers).expect("the test listens");
            }),
        );
        assert_eq!(told.recv(), Ok([true, false, false]));
        assert!(!crew.starts_apart(0), "this thread is none of its workers");
        crew.close();
        assert!(crew.await_end(None));
    }
}
