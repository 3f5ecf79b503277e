//! Workers: their life from the first thread to the last job. The one crew that every pool of this crate is made of.
//!
//! A crew asks a [`Source`] for jobs and a [`Parker`] for sleep. Everything else about worker threads happens here,
//! once: spawning, naming, pinning, panics, counting, closing, draining. How a crew ends, and why no job is lost
//! meanwhile, is in `crew/README.md`.

mod handle;
mod life;
#[cfg(all(test, executors_loom))]
pub(crate) mod model;
mod nap;
mod outlook;
mod roll;
mod seats;
mod staff;
mod sweep;
mod turn;
mod worker;

pub(crate) use handle::Handle;
pub(crate) use staff::Terms;

use crate::{
    containment::{self, guard},
    error::{BuildError, BuildErrorKind, ShutdownReport},
    local::{self, PoolId},
    meter::{Exporter, Reading},
    options::{Fairness, Idle, Options},
    parker::{Origin, Parker},
    pool::Stats,
    source::{Source, Whom},
    sync::{
        Mutex,
        atomic::{
            AtomicU64,
            Ordering::{Relaxed, SeqCst},
            fence,
        },
        cores,
        thread::{self, JoinHandle},
    },
    time_slice::TimeSlice,
};
use life::Life;
use seats::Seats;
use staff::Vacancies;
use std::{
    any::Any,
    fmt,
    sync::{Arc, PoisonError, Weak},
};
use worker::Worker;

/// What a kind of pool says of itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Charter {
    /// In log messages and metrics.
    pub(crate) label: &'static str,
    /// The name of a thread, unless the user chose one.
    pub(crate) thread_name: fn(usize) -> String,
    /// What workers do when there is nothing to do, unless the user chose.
    pub(crate) idle: Idle,
    /// When workers look for jobs from outside, unless the user chose.
    pub(crate) fairness: Fairness,
    /// What workers ask the system's scheduler for, unless the user chose.
    pub(crate) time_slice: TimeSlice,
}

/// What a crew is made of.
pub(crate) struct Setup<S, P> {
    pub(crate) terms: Terms,
    pub(crate) source: S,
    pub(crate) parker: P,
    pub(crate) charter: Charter,
    pub(crate) options: Options,
}

/// The most seats that an elastic crew makes before anybody sits there, but for those on a core.
const MOST_RESERVED: usize = 64;

/// What workers and handles of one pool share.
pub(crate) struct Crew<S: Source, P> {
    source: S,
    parker: P,
    life: Life,
    /// For those who start threads.
    this: Weak<Self>,
    terms: Terms,
    seats: Seats,
    /// Of a crew whose workers come and go.
    vacancies: Vacancies,
    charter: Charter,
    options: Options,
    idle: Idle,
    fairness: Fairness,
    exporter: Exporter,
    /// Relaxed: whoever discards is active until it has counted, and who waits for the crew sees it become idle.
    discarded: AtomicU64,
    /// Held by a thread that settles late jobs, as all that are started for this in a crew that is not elastic have one
    /// seat, whose meter is for one writer. (In an elastic crew each has a seat of its own, and so has who settles them
    /// where no thread is to be had, without this lock.) See [`Crew::settle_late_jobs`].
    late_shift: Mutex<()>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl<S, P> Crew<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// A crew that has no workers yet.
    fn found(setup: Setup<S, P>) -> Arc<Self> {
        let Setup { terms, source, parker, charter, options } = setup;
        let reserved =
            if S::ELASTIC { terms.core.min(MOST_RESERVED).max(options.placement.named()) } else { terms.max };
        // One seat more than workers: for the late shift.
        let cores = options.placement.seats(reserved).into_iter().chain([None]);
        Arc::new_cyclic(|this| Crew {
            this: Weak::clone(this),
            source,
            parker,
            life: Life::new(),
            terms,
            seats: seats::on(cores),
            vacancies: Vacancies::default(),
            charter,
            idle: options.idle.unwrap_or(charter.idle),
            fairness: options.fairness.unwrap_or(charter.fairness),
            options,
            exporter: Exporter::new(charter.label),
            discarded: AtomicU64::new(0),
            late_shift: Mutex::new(()),
            threads: Mutex::new(Vec::with_capacity(reserved)),
        })
    }

    /// A crew of a fixed number of workers, with those of them whose seats are among `ahead`.
    fn start(setup: Setup<S, P>, ahead: impl Fn(usize) -> bool) -> Result<Arc<Self>, BuildError> {
        let crew = Crew::found(setup);
        let threads = crew.terms.core;
        for worker in (0..threads).filter(|&seat| ahead(seat)) {
            if let Err(error) = crew.spawn(worker, |crew, worker| Worker::new(crew, worker).work()) {
                crew.close();
                crew.join_threads();
                return Err(error.into_build_error(Some((worker, threads))));
            }
        }
        Ok(crew)
    }

    /// Starts the worker on a `seat` that was left out at first. Returns whether it comes: not if the crew is over, and
    /// not if the operating system refuses it; then the others do its work.
    fn start_late(self: &Arc<Self>, seat: usize) -> bool {
        if self.life.is_over() {
            return false;
        }
        let spawned = self.spawn(seat, |crew, seat| Worker::new(crew, seat).work());
        if let Err(refused) = spawned {
            let refused = refused.into_build_error(None);
            guard(|| log::error!("{} goes on without worker {seat}: {refused}", self.name()));
            return false;
        }
        true
    }

    /// Starts a thread for `seat` that does `work`.
    fn spawn(self: &Arc<Self>, seat: usize, work: fn(&Arc<Self>, usize)) -> Result<(), SpawnError> {
        let name = self.options.thread_name(seat, self.charter.thread_name).map_err(SpawnError::Name)?;
        let mut builder = thread::Builder::new().name(name);
        if let Some(bytes) = self.options.stack_size {
            builder = builder.stack_size(bytes);
        }
        self.life.thread_starts();
        let crew = Arc::clone(self);
        let spawned = builder.spawn(move || {
            local::employ(crew.id());
            let departure = Departure { crew, seat };
            work(&departure.crew, seat);
        });
        match spawned {
            Ok(thread) => {
                let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
                if S::ELASTIC && threads.len() == threads.capacity() {
                    threads.retain(|thread| !thread::has_ended(thread));
                }
                threads.push(thread);
                Ok(())
            }
            Err(error) => {
                self.life.thread_ended();
                Err(SpawnError::Thread(error))
            }
        }
    }

    fn myself(&self) -> Arc<Self> {
        self.this.upgrade().expect("who calls this has borrowed it from an Arc")
    }

    fn id(&self) -> PoolId {
        PoolId::of(self)
    }

    /// Tells whom it needs that a job has just been put into the source.
    #[inline(always)]
    fn announce_to(&self, to: S::Address, whom: Whom, origin: Origin) {
        let (seat, is_only_one) = match whom {
            Whom::Anyone | Whom::AnyoneInTime => {
                return self.announce(to, 1, if whom == Whom::AnyoneInTime { Origin::Alone } else { origin });
            }
            Whom::Nobody => return,
            Whom::Seat(seat) => (seat, !self.source.is_for_all()),
            Whom::Owner(seat) => (seat, true),
        };
        // Pairs with the fence in `parker::sleep`: either the worker sees the job, or the parker sees that it sleeps.
        fence(SeqCst);
        if self.source.expose(to) && !self.parker.unpark(seat) && !is_only_one {
            // It is awake, but may be at another job before it comes to this one.
            self.parker.job_arrived(origin);
        }
    }

    /// Tells the parker, and so maybe a sleeper, that `jobs` jobs have just been put into the source.
    #[inline(always)]
    fn announce(&self, to: S::Address, jobs: usize, origin: Origin) {
        // Pairs with the fence that a worker issues between announcing its sleep and looking for jobs once more: either
        // that look sees the jobs, or the parker sees the announcement.
        fence(SeqCst);
        if self.source.expose(to) {
            // Where there may be no room for all whom a burst calls, one is called, and those who come call the next.
            let is_narrow = S::WITHHOLDS && origin == Origin::Outside && self.source.room(to) < self.reach();
            self.call_for(jobs, if is_narrow { Origin::Inside } else { origin });
        }
    }

    /// How many workers a burst from outside may call.
    fn reach(&self) -> usize {
        self.terms.max.min(cores())
    }

    /// Calls workers for so many jobs that everybody can see. Relies on a fence between that and this.
    #[inline(always)]
    fn call_for(&self, jobs: usize, origin: Origin) {
        if S::ELASTIC && self.may_grow() {
            self.grow(jobs);
        }
        self.parker.job_arrived(origin);
        for _ in 1..jobs.min(self.terms.max) {
            self.parker.job_arrived(origin);
        }
    }

    /// Whether jobs bring workers.
    fn hires(&self) -> bool {
        S::ELASTIC && self.terms.max > 0
    }

    /// Whether more workers can be hired. Relies on a fence between the reason for asking and this.
    #[inline]
    fn may_grow(&self) -> bool {
        self.terms.have_room(self.life.roll())
    }

    /// Hires `for_core` workers until the core is full, and beyond it as many as waiting jobs make due.
    ///
    /// Not only one for the caller's job: another submitter may have counted on the one that is hired here.
    #[cold]
    fn grow(&self, for_core: usize) {
        let hire = |fill_core| self.life.hire(&self.terms, || self.source.len(), fill_core) && self.employ();
        if (0..for_core).all(|_| hire(true)) {
            while hire(false) {}
        }
    }

    /// Starts a thread for a worker that has been counted. Returns whether that succeeded.
    fn employ(&self) -> bool {
        let refused = match self.seat_one(|_seat| ()) {
            Ok(()) => return true,
            Err(SpawnError::Thread(error)) => error.to_string(),
            Err(SpawnError::Name(error)) => error.to_string(),
        };
        let left = self.life.cancel_hire();
        let left = left.live();
        guard(|| log::error!("{} goes on with {left} threads, as one more was refused: {refused}", self.name()));
        if left == 0 {
            // Nobody else would run what is waiting.
            self.stand_in(|worker| worker.work_late());
        }
        false
    }

    /// Starts a thread for a worker on a vacant seat, of which `prepare` is told before.
    fn seat_one(&self, prepare: impl FnOnce(usize)) -> Result<(), SpawnError> {
        let seat = self.vacancies.take();
        prepare(seat);
        let spawned = self.myself().spawn(seat, |crew, worker| Worker::new(crew, worker).work());
        spawned.inspect_err(|_| self.vacancies.give_back(seat))
    }

    /// Does a worker's `work` on this thread.
    fn stand_in(&self, work: impl FnOnce(Worker<'_, S, P>)) {
        let seat = self.vacancies.take();
        work(Worker::stranger(&self.myself(), seat));
        self.vacancies.give_back(seat);
        // This thread may have been the last active one, and workers that sleep have looked before.
        self.is_over();
    }

    /// To be called after jobs from outside were put in and announced. They were admitted while the crew was open, but
    /// the last worker may have left before they came in.
    #[inline(always)]
    fn check_for_late_jobs(self: &Arc<Self>) {
        // The fence in `announce` pairs with the one in `Worker::await_job`: either the leaving worker's last search
        // sees the jobs, or we see that the crew is over.
        if self.life.is_over() {
            self.settle_late_jobs();
        }
    }

    /// Runs jobs that were admitted just before the end and put in just after it, on one more thread.
    #[cold]
    fn settle_late_jobs(self: &Arc<Self>) {
        let late_seat = if S::ELASTIC { self.vacancies.take() } else { self.seats.reserved() - 1 };
        let spawned = self.spawn(late_seat, |crew, seat| {
            let _one_at_a_time = crew.late_shift.lock().unwrap_or_else(PoisonError::into_inner);
            Worker::stranger(crew, seat).work_late();
        });
        if spawned.is_err() && S::ELASTIC {
            self.vacancies.give_back(late_seat);
            self.stand_in(|worker| worker.work_late());
        } else if spawned.is_err() {
            let dropped = self.discard_backlog();
            guard(|| {
                log::error!(
                    "{}: {dropped} jobs that came in while the pool was being closed were dropped, \
                     as the operating system refused a thread to run them.",
                    self.name()
                );
            });
        }
    }

    /// Takes no more jobs from outside. Returns whether it did until now.
    fn close(&self) -> bool {
        let closed = self.life.close();
        if closed {
            if !self.life.is_discarding() {
                self.source.on_close();
            }
            fence(SeqCst);
            // If all are asleep, or there is no worker, nobody else would declare the end. Otherwise sleepers must find
            // out.
            if !self.is_over() {
                self.parker.unpark_all();
            }
            guard(|| log::debug!("{} is closing.", self.name()));
        }
        closed
    }

    /// Has the source give out what it withholds: the backlog has been dropped, but some jobs may come in late.
    fn give_out(&self) {
        self.source.on_close();
        // Pairs with the fence in `parker::sleep`, as in `announce`.
        fence(SeqCst);
        self.parker.unpark_all();
    }

    /// Whether nothing is waiting and nobody works. What was put in before this call has run if so.
    fn is_idle(&self) -> bool {
        // In this order: a worker becomes active before it takes a job, so a job that is not in the source any more is
        // at an active worker until it has run, and so are the jobs that it spawns.
        if self.source.has_unfinished() {
            return false;
        }
        fence(SeqCst);
        self.life.active() == 0
    }

    /// Counts out a worker, or who has done its work, when it has found nothing more to do.
    fn become_idle(&self, busy: bool) {
        // The look and the change are those of `is_idle`, in the same order.
        self.life.become_idle(busy, || !self.source.has_unfinished());
    }

    /// Whether the crew's work is done for good; declares the end if this is the moment.
    fn is_over(&self) -> bool {
        if self.life.is_over() {
            return true;
        }
        if self.life.is_closed() && self.is_idle() && self.life.end() {
            // Pairs with the fence in `parker::sleep`: either who falls asleep sees the end, or the parker sees the
            // sleeper.
            fence(SeqCst);
            self.parker.unpark_all();
        }
        self.life.is_over()
    }

    /// Waits until the threads of a crew that is over have really ended.
    fn join_threads(&self) {
        // The destructor of a thread-local that a job has left may ask for this, on a thread that others wait for.
        if local::is_employed_by(self.id()) {
            return;
        }
        // Locked until all have ended, so that of several callers none returns before.
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            // A worker contains all panics, so there is nothing to learn from the result.
            let _ = thread.join();
        }
    }

    fn reading(&self) -> Reading {
        self.seats.iter().map(|seat| seat.meter.read()).sum()
    }

    fn report(&self) -> ShutdownReport {
        let reading = self.reading();
        ShutdownReport {
            finished: reading.ended,
            discarded: self.discarded.load(Relaxed),
            running: reading.running,
            queued: self.source.len(),
        }
    }

    fn stats(&self) -> Stats {
        let reading = self.reading();
        let workers = self.life.threads();
        let busy = self.life.active().min(workers);
        Stats {
            workers,
            idle: workers - busy,
            busy,
            queued: self.source.len(),
            running: reading.running,
            done: reading.ended,
            panicked: reading.panicked,
            discarded: self.discarded.load(Relaxed),
            steals: reading.steals,
            wake_ups: self.parker.wake_ups(),
        }
    }

    /// Reports what a job or a hook (`what`) threw.
    #[cold]
    fn report_panic(&self, what: &str, seat: usize, payload: &(dyn Any + Send)) {
        let place = format_args!("{what} of {} on worker {seat}", self.name());
        containment::report(payload, place, self.options.panic_handler.as_ref());
    }

    /// The user's name for the pool, else that of its kind.
    fn name(&self) -> &str {
        self.options.name.as_deref().unwrap_or(self.charter.label)
    }
}

impl<S: Source, P> fmt::Debug for Crew<S, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.charter.label)
            .field("options", &self.options)
            .field("life", &self.life)
            .field("queued", &self.source.len())
            .finish_non_exhaustive()
    }
}

/// Signs a thread off when it ends, however it ends.
struct Departure<S: Source, P> {
    crew: Arc<Crew<S, P>>,
    seat: usize,
}

impl<S: Source, P> Drop for Departure<S, P> {
    fn drop(&mut self) {
        if S::ELASTIC {
            self.crew.vacancies.give_back(self.seat);
        }
        self.crew.life.thread_ended();
    }
}

enum SpawnError {
    Name(BuildError),
    Thread(std::io::Error),
}

impl SpawnError {
    /// For a thread of so many, if their number was known beforehand.
    fn into_build_error(self, one_of: Option<(usize, usize)>) -> BuildError {
        match (self, one_of) {
            (SpawnError::Name(error), _) => error,
            (SpawnError::Thread(source), Some((worker, threads))) => {
                BuildErrorKind::Spawn { worker: Some(worker), threads, source }.into()
            }
            (SpawnError::Thread(source), None) => BuildErrorKind::Spawn { worker: None, threads: 1, source }.into(),
        }
    }
}
