//! Two parkers in one: reserved threads sleep by one of their own, so that no job that they cannot run calls one of
//! them. And among the others some may be [cold](ColdSeats).

use super::{Origin, Parker, cold::ColdSeats, idle::IdleSet, parker_by_place};
use crossbeam_utils::CachePadded;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct TwoParkers {
    /// For the threads that share their jobs, which have the first numbers.
    sharing: Arc<IdleSet>,
    reserved: Arc<IdleSet>,
    first_reserved: usize,
    cold: Arc<CachePadded<ColdSeats>>,
}

impl TwoParkers {
    /// The first `warm` of those that share are there from the beginning.
    pub(crate) fn new(warm: usize, first_reserved: usize) -> Self {
        let [sharing, reserved] = [(); 2].map(|()| Arc::new(IdleSet::new(None)));
        let cold = Arc::new(CachePadded::new(ColdSeats::new(warm..first_reserved)));
        TwoParkers { sharing, reserved, first_reserved, cold }
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

    fn place_of(&self, thread: usize) -> (&IdleSet, usize) {
        match thread.checked_sub(self.first_reserved) {
            None => (&self.sharing, thread),
            Some(number) => (&self.reserved, number),
        }
    }
}

/// What is said of one thread goes to its set; jobs that arrive are for those who share.
impl Parker for TwoParkers {
    parker_by_place!();

    fn max_threads(&self) -> Option<usize> {
        None
    }

    fn init(&self, thread: usize) {
        self.cold.arrived(thread);
        let (set, number) = self.place_of(thread);
        set.init(number);
    }

    fn unpark_one(&self) {
        self.sharing.unpark_one();
    }

    fn unpark_all(&self) {
        self.sharing.unpark_all();
        self.reserved.unpark_all();
    }

    #[inline(always)]
    fn job_arrived(&self, origin: Origin) {
        if self.cold.are_left() {
            self.job_arrived_among_few(origin);
        } else {
            self.sharing.job_arrived(origin);
        }
    }

    fn wake_ups(&self) -> u64 {
        self.sharing.wake_ups() + self.reserved.wake_ups()
    }
}
