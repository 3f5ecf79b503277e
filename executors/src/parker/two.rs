//! Two parkers in one: reserved threads have one of their own, so that no job that they cannot run calls one of them.

use super::{
    Origin, ParkResult, Parker,
    idle::IdleSet,
    kinds::{parker_by_jobs, parker_by_place},
};
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
        let set = || Arc::new(IdleSet::new(None));
        TwoParkers { sharing: set(), reserved: set(), first_reserved }
    }

    #[inline(always)]
    fn jobs_set(&self) -> &IdleSet {
        &self.sharing
    }

    #[inline(always)]
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
    parker_by_jobs!();

    fn max_threads(&self) -> Option<usize> {
        None
    }

    fn unpark_all(&self) {
        self.sharing.unpark_all();
        self.reserved.unpark_all();
    }

    fn wake_ups(&self) -> u64 {
        self.sharing.wake_ups() + self.reserved.wake_ups()
    }
}
