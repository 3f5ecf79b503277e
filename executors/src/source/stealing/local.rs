//! What a worker keeps to itself.

use super::rounds::Rounds;
use crate::{
    job::Job,
    part::Forker,
    source::{
        dice::Dice,
        queue::ring::{self, Owner, Stealer},
    },
};
use std::cell::{Cell, OnceCell};

/// A worker's ring, and what it remembers.
pub(crate) struct StealingLocal {
    pub(super) seat: usize,
    pub(super) ring: Owner<Job>,
    /// Whether the seat is the worker's own. No thread steals from a worker without one.
    pub(super) has_seat: bool,
    /// The thieves' end of the ring, kept here until there may be jobs for them.
    pub(super) stealer: Cell<Option<Stealer<Job>>>,
    /// Whether the seat has to be [shown](super::shown) before a job is put into the ring.
    pub(super) is_hidden: Cell<bool>,
    /// Whether own jobs have been spilled and may still be there: then later ones go there, too, so that they do not
    /// overtake these.
    pub(super) spilled: Cell<bool>,
    /// Parts of its job that others may take. Set once a job has forked.
    pub(super) forker: OnceCell<Forker>,
    /// Workers to steal from: groups of equally near ones, none of them empty, the nearest first. Set when first asked
    /// for.
    pub(super) circles: OnceCell<Vec<Vec<usize>>>,
    pub(super) dice: Dice,
    /// Whether it has taken one of several jobs out of a lane when it last looked for a few there.
    pub(super) leaves_some: Cell<bool>,
    /// The lane to look at first.
    pub(super) lane: Cell<usize>,
    /// The lane in which jobs were found last.
    last_lane: Cell<usize>,
    pub(super) rounds: Rounds,
}

impl StealingLocal {
    /// For the worker on `seat`, which is its own, or shared by all threads that have none.
    pub(super) fn new(seat: usize, has_seat: bool) -> Self {
        let (ring, stealer) = ring::ring();
        StealingLocal {
            seat,
            ring,
            has_seat,
            stealer: Cell::new(has_seat.then_some(stealer)),
            is_hidden: Cell::new(has_seat),
            spilled: Cell::new(false),
            forker: OnceCell::new(),
            circles: OnceCell::new(),
            dice: Dice::new(seat as u64 + 1),
            leaves_some: Cell::new(false),
            lane: Cell::new(seat),
            last_lane: Cell::new(seat),
            rounds: Rounds::default(),
        }
    }

    /// The worker has run `jobs` more jobs, and may have earned the privilege to have its ring to itself.
    pub(super) fn earn_privilege(&self, jobs: usize) {
        // A thread that recalls rings looks only at those that are shown.
        if !self.is_hidden.get() {
            self.ring.earn(jobs);
        }
    }

    /// The worker has run out of jobs, or its job blocks: until it goes on, what it has to itself would have to be
    /// taken away by those that fall asleep.
    pub(super) fn give_back(&self) {
        self.ring.give_back();
        if let Some(forker) = self.forker.get() {
            forker.give_back();
        }
    }

    /// Jobs were found in that lane: the next one is looked at first next time, so that no lane is starved by a busy
    /// one. Also if the lane is empty now: its producer may come back before this worker does.
    pub(super) fn go_on_behind(&self, lane: usize) {
        self.last_lane.set(lane);
        self.lane.set(lane.wrapping_add(1));
    }

    /// All lanes were seen empty: the producer of the lane that had jobs last is the most likely to come back.
    pub(super) fn go_back(&self) {
        self.lane.set(self.last_lane.get());
    }
}
