//! Two parkers in one: reserved threads sleep by one of their own, so that no job that they cannot run calls one of
//! them. And among those that share subpools some may be [cold](ColdSeats).

use super::cold::ColdSeats;
use crate::parker::{self, DynamicThreadData, Origin, ParkResult, Parker, StaticParker};
use crossbeam_utils::CachePadded;
use std::{sync::Arc, time::Duration};

type Half = StaticParker<DynamicThreadData>;

#[derive(Clone, Debug)]
pub(crate) struct TwoParkers {
    /// For the threads that share subpools, which have the first numbers.
    sharing: Half,
    reserved: Half,
    first_reserved: usize,
    cold: Arc<CachePadded<ColdSeats>>,
}

impl TwoParkers {
    /// The first `warm` of those that share are there from the beginning.
    pub(crate) fn new(warm: usize, first_reserved: usize) -> Self {
        let cold = Arc::new(CachePadded::new(ColdSeats::new(warm..first_reserved)));
        TwoParkers { sharing: parker::dynamic(), reserved: parker::dynamic(), first_reserved, cold }
    }

    /// Has cold threads started by `start`. To be called before there are jobs.
    pub(crate) fn start_by(&self, start: impl Fn(usize) -> bool + Send + Sync + 'static) {
        self.cold.start_by(start);
    }

    /// Starts a thread, if nobody else will look for the job that has arrived. Relies on a fence before.
    #[cold]
    fn job_arrived_among_few(&self, origin: Origin) {
        if self.sharing.is_anybody_free() || self.cold.is_one_coming() {
            self.sharing.job_arrived(origin);
        } else {
            self.cold.start_one();
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
        self.cold.arrived(thread);
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
        if self.cold.are_left() {
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
