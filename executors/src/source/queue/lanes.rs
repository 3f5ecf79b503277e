//! The queue for jobs from everywhere: several lanes.
//!
//! A thread keeps to one lane, and moves on to the next for good when it finds it taken, so that soon each producer has
//! one. Whoever puts in or takes out goes on to another lane rather than wait, except for the moment in which a lane is
//! made.

#[cfg(all(test, executors_loom))]
mod model;

use super::{
    Busy, first_found,
    lane::{Back, Lane, snooze},
};
use crate::{
    job::{Hand, IntoJob},
    local,
    placement::cores,
};
use crossbeam_utils::Backoff;
use std::sync::OnceLock;

/// Each is made for its first job: a lane that nobody has used is neither built, nor looked at by who sleeps or wakes.
pub(crate) struct Lanes(Box<[OnceLock<Box<Lane>>]>);

/// Enough that a producer for each core finds a lane to itself; few enough to look at them all.
pub(crate) fn suitable_number() -> usize {
    (2 * cores()).clamp(4, 64)
}

impl Lanes {
    /// Rounds `lanes` up to a power of two.
    pub(crate) fn new(lanes: usize) -> Self {
        let lanes = Lanes((0..lanes.next_power_of_two()).map(|_| OnceLock::new()).collect());
        if cfg!(executors_loom) {
            // Loom does not see that a `OnceLock` orders the making of a lane before its use.
            lanes.0.iter().for_each(|lane| _ = lane.get_or_init(|| Box::new(Lane::new())));
        }
        lanes
    }

    /// All lanes that there are.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Lane> {
        self.0.iter().filter_map(OnceLock::get).map(|lane| &**lane)
    }

    /// All lanes that there are, with their numbers, beginning with number `start`.
    pub(crate) fn beginning_with(&self, start: usize) -> impl Iterator<Item = (usize, &Lane)> {
        let numbers = (0..self.0.len()).map(move |step| start.wrapping_add(step));
        numbers.filter_map(|number| Some((number, self.lane(number)?)))
    }

    #[inline]
    fn place(&self, number: usize) -> &OnceLock<Box<Lane>> {
        &self.0[number & (self.0.len() - 1)]
    }

    #[inline]
    fn lane(&self, number: usize) -> Option<&Lane> {
        self.place(number).get().map(|lane| &**lane)
    }

    /// The back of the lane, which is made if there is none.
    #[inline(always)]
    fn back(&self, number: usize) -> Option<Back<'_>> {
        self.place(number).get_or_init(|| Box::new(Lane::new())).back()
    }

    /// Puts a job into a lane that nobody else is writing to.
    #[inline(always)]
    pub(crate) fn push(&self, job: impl IntoJob) {
        let mut back = self.back(local::shard()).unwrap_or_else(|| self.another_back());
        back.push(job);
    }

    /// Moves this thread to a lane whose back nobody holds.
    #[cold]
    fn another_back(&self) -> Back<'_> {
        let backoff = Backoff::new();
        loop {
            if let Some(back) = self.0.iter().find_map(|_| self.back(local::next_shard())) {
                return back;
            }
            snooze(&backoff);
        }
    }

    /// Takes one job, out of lane `start` if there is one, and tells which lane it was, if there was any.
    ///
    /// # Errors
    ///
    /// [`Busy`] if jobs were only seen in lanes at whose front somebody else is.
    #[inline]
    pub(crate) fn take_one(&self, start: usize, hand: &mut Hand) -> Result<Option<usize>, Busy> {
        if let Some(front) = self.lane(start).and_then(Lane::front) {
            front.take_first(hand);
        }
        if hand.is_full() { Ok(Some(start)) } else { self.take_elsewhere(start, hand) }
    }

    #[cold]
    fn take_elsewhere(&self, start: usize, hand: &mut Hand) -> Result<Option<usize>, Busy> {
        let filled = self.beginning_with(start).filter(|(_, lane)| !lane.is_empty());
        first_found(filled.map(|(number, lane)| {
            lane.take_first(hand)?;
            Ok(hand.is_full().then_some(number))
        }))
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use crate::job::Job;

    #[test]
    fn a_locked_back_is_avoided() {
        let lanes = Lanes::new(2);
        let _back = lanes.back(local::shard()).expect("nobody else is there");
        lanes.push(Job::new(|| ()));
        let lengths: Vec<_> = lanes.iter().map(Lane::len).collect();
        assert!(lengths == [0, 1] || lengths == [1, 0], "{lengths:?}");
    }

    #[test]
    fn jobs_are_found_in_whatever_lane_they_are() {
        let lanes = Lanes::new(4);
        for number in [2, 1] {
            lanes.back(number).expect("nobody else is there").push(Job::new(|| ()));
        }
        let from = |start| lanes.take_one(start, &mut Hand::empty());
        assert_eq!([from(2), from(2), from(2)], [Ok(Some(2)), Ok(Some(5)), Ok(None)]);
    }
}
