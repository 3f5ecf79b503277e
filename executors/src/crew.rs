//! Workers: their life from the first thread to the last job. Every pool of this crate is made of one crew.
//!
//! A crew asks a [`Source`] for jobs and a [`Parker`] for sleep. Everything else about worker threads happens here,
//! once: spawning, naming, pinning, panics, counting, closing, draining. How a crew ends, and why no job is lost
//! meanwhile, is in `crew/README.md`.

mod account;
mod backoff;
mod batch;
mod calls;
mod cold;
mod delivery;
mod door;
mod ending;
mod fairness;
#[cfg(feature = "workstealing-exec")]
mod fork;
#[cfg(any(feature = "elastic-exec", feature = "burst-exec"))]
mod front;
mod handle;
mod hiring;
mod holds;
mod life;
#[cfg(all(test, executors_loom))]
pub(crate) mod model;
mod nap;
mod outlook;
mod pace;
mod precedence;
mod roll;
mod shared_count;
mod site;
mod staff;
mod stakes;
mod sweep;
#[cfg(all(test, target_os = "linux", feature = "cb-channel-exec", not(executors_loom)))]
mod tests;
mod threads;
mod unjoined;
mod vacancies;
mod worker;

#[cfg(any(feature = "elastic-exec", feature = "burst-exec"))]
pub(crate) use front::Front;
pub(crate) use handle::Handle;
pub(crate) use staff::Terms;

use crate::{
    containment,
    error::ShutdownReport,
    local::{Employer, PoolId},
    meter::{Exporter, Meter, Reading},
    options::{Fairness, Idle, Options},
    parker::Parker,
    placement::Mask,
    pool::Stats,
    rows::Rows,
    source::Source,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time_slice::TimeSlice,
};
use backoff::SpawnBackoff;
use cold::ColdSeats;
use life::Life;
use precedence::Precedence;
use shared_count::SharedCount;
use std::{
    any::Any,
    fmt,
    ops::Range,
    sync::{Arc, Weak},
};
use unjoined::Unjoined;
use vacancies::Vacancies;

/// The properties and defaults of a kind of pool.
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
    /// Where the number of workers is fixed, the seats of those that come when they are needed. The workers on the
    /// seats before these are there from the beginning.
    pub(crate) cold: Range<usize>,
    pub(crate) source: S,
    pub(crate) parker: P,
    pub(crate) charter: Charter,
    pub(crate) options: Options,
}

/// What workers and handles of one pool share.
pub(crate) struct Crew<S: Source, P> {
    source: S,
    parker: P,
    life: Life,
    holds: SharedCount,
    stakes: SharedCount,
    /// For threads that are started, and for others while they do a worker's work. Each of them has a reference of its
    /// own: what its account gives back may be the last other one, and the crew has to outlive that call.
    this: Weak<Self>,
    employer: Employer,
    terms: Terms,
    /// The cores of the workers on the first seats; the others float.
    cores: Vec<usize>,
    /// By seat.
    meters: Rows<Meter>,
    cold: ColdSeats,
    /// Of hiring, after the system has refused threads. (Cold seats have a back-off of their own.)
    backoff: std::sync::Mutex<SpawnBackoff>,
    precedence: Precedence,
    /// For workers that come and go, and for strangers.
    vacancies: Vacancies,
    charter: Charter,
    options: Options,
    idle: Idle,
    fairness: Fairness,
    time_slice: TimeSlice,
    /// Where the thread that built the pool could run. So can a worker without a core of its own, whichever thread
    /// starts it.
    mask: Mask,
    exporter: Exporter,
    /// Relaxed: a thread that discards is active until it has counted, and a waiter for the crew sees it become idle.
    discarded: AtomicU64,
    /// Jobs that panicked when the destructor of a job that was being discarded waited for them, on a thread that is no
    /// worker. Relaxed, as above.
    panicked_in_sweeps: AtomicU64,
    unjoined: Unjoined,
    /// Locked while a thread waits for the real end of the crew's threads.
    joining: Mutex<()>,
}

impl<S, P> Crew<S, P>
where
    S: Source,
    P: Parker + 'static,
{
    /// A crew that has no workers yet.
    fn new(setup: Setup<S, P>) -> Arc<Self> {
        let Setup { terms, cold, source, parker, charter, options } = setup;
        let threads = if S::ELASTIC { usize::MAX } else { terms.max };
        Arc::new_cyclic(|this| Crew {
            this: Weak::clone(this),
            employer: Employer::new(),
            source,
            parker,
            life: Life::new(),
            holds: SharedCount::new(),
            stakes: SharedCount::new(),
            terms,
            cores: options.placement.cores(threads),
            meters: Rows::new([]),
            cold: ColdSeats::new(cold),
            backoff: std::sync::Mutex::default(),
            precedence: Precedence::new(),
            vacancies: Vacancies::from(if S::ELASTIC { 0 } else { terms.max }),
            charter,
            idle: options.idle.unwrap_or(charter.idle),
            fairness: options.fairness.unwrap_or(charter.fairness),
            time_slice: options.time_slice.map_or(charter.time_slice, TimeSlice::Chosen),
            mask: Mask::of_this_thread(),
            options,
            exporter: Exporter::new(charter.label),
            discarded: AtomicU64::new(0),
            panicked_in_sweeps: AtomicU64::new(0),
            unjoined: Unjoined::new(),
            joining: Mutex::new(()),
        })
    }

    fn myself(&self) -> Arc<Self> {
        self.this.upgrade().expect("the caller has borrowed it from an Arc")
    }

    fn id(&self) -> PoolId {
        PoolId::of(self)
    }

    fn reading(&self) -> Reading {
        self.meters.iter().map(Meter::read).sum()
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
        let busy = self.life.roll.read().active().min(workers);
        Stats {
            workers,
            idle: workers - busy,
            busy,
            queued: self.source.len(),
            running: reading.running,
            finished: reading.ended,
            panicked: reading.panicked + self.panicked_in_sweeps.load(Relaxed),
            discarded: self.discarded.load(Relaxed),
            steals: reading.steals,
            wake_ups: self.parker.wake_ups(),
        }
    }

    /// Reports a panic of a job or a hook (`what`).
    #[cold]
    fn report_panic(&self, what: &str, seat: usize, payload: &(dyn Any + Send)) {
        let handler = self.options.panic_handler.as_ref();
        containment::report(payload, format_args!("{what} of {} on worker {seat}", self.name()), handler);
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
