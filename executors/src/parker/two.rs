//! Two parkers in one: reserved threads have one of their own, so that no job that they cannot run calls one of them.

use super::{Origin, ParkResult, Parker, idle::IdleSet, kinds::parker_by_place};
use std::{sync::Arc, time::Duration};

#[derive(Clone, Debug)]
pub(crate) struct TwoParkers {
    /// For the threads that share their jobs, which have the first numbers.
    sharing: Arc<IdleSet>,
    reserved: Arc<IdleSet>,
    first_reserved: usize,
}

impl TwoParkers {
    pub(crate) fn new(first_reserved: usize) -> Self {
        let [sharing, reserved] = [(); 2].map(|()| Arc::new(IdleSet::new(None)));
        TwoParkers { sharing, reserved, first_reserved }
    }

    fn place_of(&self, thread: usize) -> (&IdleSet, usize) {
        match thread.checked_sub(self.first_reserved) {
            None => (&self.sharing, thread),
            Some(number) => (&self.reserved, number),
        }
    }
}

/// Calls that are about one thread go to its set; jobs that arrive are for the sharing threads.
impl Parker for TwoParkers {
    parker_by_place!();

    fn max_threads(&self) -> Option<usize> {
        None
    }

    fn init(&self, thread: usize) {
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

    fn is_anybody_free(&self) -> bool {
        self.sharing.is_anybody_free()
    }

    #[inline(always)]
    fn is_anybody_asleep(&self) -> bool {
        self.sharing.is_anybody_asleep()
    }

    #[inline(always)]
    fn needs_call(&self, origin: Origin) -> bool {
        self.sharing.needs_call(origin)
    }

    #[inline(always)]
    fn job_arrived(&self, origin: Origin) {
        self.sharing.job_arrived(origin);
    }

    fn is_one_coming(&self) -> bool {
        self.sharing.is_one_coming()
    }

    fn give_way(&self) {
        self.sharing.give_way();
    }

    fn go_on(&self) -> bool {
        self.sharing.go_on()
    }

    fn wake_ups(&self) -> u64 {
        self.sharing.wake_ups() + self.reserved.wake_ups()
    }
}
