//! What a worker has for itself.

use super::rounds::Rounds;
use crate::{
    job::Job,
    part::Forker,
    source::{
        dice::Dice,
        queue::{
            privilege::Privilege,
            ring::{self, Owner, Stealer},
        },
    },
};
use std::cell::{Cell, OnceCell};

/// Its ring, and what it remembers.
pub(crate) struct StealingLocal {
    pub(super) seat: usize,
    pub(super) ring: Owner<Job>,
    /// Whether the seat is the worker's own. Nobody steals from one without.
    pub(super) has_seat: bool,
    /// The thieves' end of the ring, until there may be jobs for them.
    pub(super) stealer: Cell<Option<Stealer<Job>>>,
    /// Whether the ring is to be [shown](super::shown) before a job is put there.
    pub(super) is_hidden: Cell<bool>,
    /// Whether own jobs have been spilled and may be there still: then those that follow go there, too, so as not to
    /// overtake.
    pub(super) spilled: Cell<bool>,
    /// Parts of its job that others may take. Once it has forked.
    pub(super) forker: OnceCell<Box<Forker>>,
    /// Jobs run, as far as they are counted here, and what they have earned.
    ran: Cell<usize>,
    privilege: Cell<Privilege>,
    /// Whom to steal from: groups of equally near workers, none of them empty, the nearest first. Once it is asked for.
    pub(super) circles: OnceCell<Vec<Vec<usize>>>,
    pub(super) dice: Dice,
    /// The lane to look at first.
    pub(super) lane: Cell<usize>,
    /// The lane in which jobs were found last.
    last_lane: Cell<usize>,
    pub(super) rounds: Rounds,
}

impl StealingLocal {
    /// Of the worker of `seat`, which is its own, or shared with all who have none.
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
            ran: Cell::new(0),
            privilege: Cell::new(Privilege::NEW),
            circles: OnceCell::new(),
            dice: Dice::new(seat as u64 + 1),
            lane: Cell::new(seat),
            last_lane: Cell::new(seat),
            rounds: Rounds::default(),
        }
    }

    /// The worker has run so many more jobs, and may have earned to have its ring to itself.
    pub(super) fn earn_privilege(&self, jobs: usize) {
        let (ran, mut privilege) = (self.ran.get().wrapping_add(jobs), self.privilege.get());
        self.ran.set(ran);
        // Who recalls rings looks at those that are shown.
        if privilege.is_due(ran, self.ring.is_reserved()) && !self.is_hidden.get() && self.ring.reserve() {
            privilege.is_given(ran);
        }
        self.privilege.set(privilege);
    }

    /// Jobs were found in that lane: the next is looked at first next time, so that no lane is starved by a busy one.
    /// Also if the lane is empty now: its producer may be back before this worker is.
    pub(super) fn go_on_behind(&self, lane: usize) {
        self.last_lane.set(lane);
        self.lane.set(lane.wrapping_add(1));
    }

    /// All lanes were seen empty: the producer that was there last is the most likely to be back.
    pub(super) fn go_back(&self) {
        self.lane.set(self.last_lane.get());
    }
}
