//! Two parkers in one: reserved threads sleep by one of their own, so that no job that they cannot run calls one of
//! them.
//!
//! And threads that do not exist yet, which are called by starting them, when nobody else is asleep: see "Cold threads"
//! in `dispatcher/README.md`.

use crate::{
    parker::{self, DynamicThreadData, Origin, ParkResult, Parker, StaticParker},
    sync::atomic::{
        AtomicUsize,
        Ordering::{Relaxed, SeqCst},
    },
};
use crossbeam_utils::CachePadded;
use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

type Half = StaticParker<DynamicThreadData>;

#[derive(Clone, Debug)]
pub(super) struct TwoParkers {
    /// For the threads that share subpools, which have the first numbers.
    sharing: Half,
    reserved: Half,
    first_reserved: usize,
    cold: Arc<CachePadded<Cold>>,
}

/// Threads that have not been started: the last ones of those that share subpools.
struct Cold {
    /// How many are left.
    left: AtomicUsize,
    /// Those with lower numbers began warm.
    first: usize,
    /// How many are on their way: they will look for jobs.
    coming: AtomicUsize,
    /// Starts one. Returns whether it comes.
    start: OnceLock<Box<dyn Fn(usize) -> bool + Send + Sync>>,
}

impl TwoParkers {
    /// The first `warm` of those that share are there from the beginning.
    pub(super) fn new(warm: usize, first_reserved: usize) -> Self {
        let cold = Cold {
            left: AtomicUsize::new(first_reserved - warm),
            first: warm,
            coming: AtomicUsize::new(0),
            start: OnceLock::new(),
        };
        let cold = Arc::new(CachePadded::new(cold));
        TwoParkers { sharing: parker::dynamic(), reserved: parker::dynamic(), first_reserved, cold }
    }

    /// Has cold threads started by `start`. To be called before there are jobs.
    pub(super) fn start_by(&self, start: impl Fn(usize) -> bool + Send + Sync + 'static) {
        let _ = self.cold.start.set(Box::new(start));
    }

    /// Starts a thread, if nobody else will look for the job that has arrived.
    #[cold]
    fn job_arrived_among_few(&self, origin: Origin) {
        // SeqCst for the sake of the order in the README, as in the census. A thread that is coming looks for jobs
        // before it sleeps, with a fence in between, and is not counted here any more then.
        if self.sharing.is_anybody_free() || self.cold.coming.load(SeqCst) > 0 {
            self.sharing.job_arrived(origin);
        } else if let Some(start) = self.cold.start.get()
            && let Ok(left) = self.cold.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1))
        {
            self.cold.coming.fetch_add(1, SeqCst);
            if !start(self.first_reserved - left) {
                self.cold.coming.fetch_sub(1, SeqCst);
            }
        }
    }

    /// The parker of a thread, and its number there.
    fn of(&self, thread: usize) -> (&Half, usize) {
        match thread.checked_sub(self.first_reserved) {
            None => (&self.sharing, thread),
            Some(number) => (&self.reserved, number),
        }
    }
}

/// What is said of one thread goes to its parker; jobs that arrive are for those who share.
impl Parker for TwoParkers {
    fn max_threads(&self) -> Option<usize> {
        None
    }

    fn init(&self, thread: usize) {
        if (self.cold.first..self.first_reserved).contains(&thread) {
            self.cold.coming.fetch_sub(1, SeqCst);
        }
        let (parker, thread) = self.of(thread);
        parker.init(thread);
    }

    fn prepare_park(&self, thread: usize) {
        let (parker, thread) = self.of(thread);
        parker.prepare_park(thread);
    }

    fn abort_park(&self, thread: usize) {
        let (parker, thread) = self.of(thread);
        parker.abort_park(thread);
    }

    fn park(&self, thread: usize) -> ParkResult {
        let (parker, thread) = self.of(thread);
        parker.park(thread)
    }

    fn unpark_one(&self) {
        self.sharing.unpark_one();
    }

    fn unpark(&self, thread: usize) -> bool {
        let (parker, thread) = self.of(thread);
        parker.unpark(thread)
    }

    fn unpark_all(&self) {
        self.sharing.unpark_all();
        self.reserved.unpark_all();
    }

    fn prepare_nap(&self, thread: usize) -> bool {
        let (parker, thread) = self.of(thread);
        parker.prepare_nap(thread)
    }

    fn nap(&self, thread: usize, duration: Duration) {
        let (parker, thread) = self.of(thread);
        parker.nap(thread, duration);
    }

    #[inline(always)]
    fn job_arrived(&self, origin: Origin) {
        // Relaxed: who brings the number to zero has started a thread for the job of this time.
        if self.cold.left.load(Relaxed) > 0 {
            self.job_arrived_among_few(origin);
        } else {
            self.sharing.job_arrived(origin);
        }
    }

    fn start_looking(&self, thread: usize) -> bool {
        let (parker, thread) = self.of(thread);
        parker.start_looking(thread)
    }

    fn stop_looking(&self, thread: usize) -> bool {
        let (parker, thread) = self.of(thread);
        parker.stop_looking(thread)
    }

    fn wake_ups(&self) -> u64 {
        self.sharing.wake_ups() + self.reserved.wake_ups()
    }
}

impl fmt::Debug for Cold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cold").field("left", &self.left).field("coming", &self.coming).finish_non_exhaustive()
    }
}
