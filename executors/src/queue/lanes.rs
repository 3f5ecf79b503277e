//! The queue for jobs from everywhere: several lanes.
//!
//! A thread keeps to one lane, and moves on to the next for good when it finds it taken, so that soon each producer has
//! one. Whoever puts in or takes out goes on to another lane rather than wait.

#[cfg(all(test, executors_loom))]
mod model;

use super::{
    Busy, first_found,
    lane::{Back, Front, Lane, snooze},
};
use crate::{
    job::{IntoJob, Job},
    local,
    sync::cores,
};
use crossbeam_utils::Backoff;

pub(crate) struct Lanes(Box<[Lane]>);

/// Enough that a producer for each core finds a lane to itself; few enough to look at them all.
pub(crate) fn suitable_number() -> usize {
    (2 * cores()).clamp(4, 64)
}

impl Lanes {
    /// Rounds `lanes` up to a power of two.
    pub(crate) fn new(lanes: usize) -> Self {
        Lanes((0..lanes.next_power_of_two()).map(|_| Lane::new()).collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Lane> {
        self.0.iter()
    }

    /// All lanes, with their numbers, beginning with number `start`.
    pub(crate) fn beginning_with(&self, start: usize) -> impl Iterator<Item = (usize, &Lane)> {
        (0..self.0.len()).map(move |step| start.wrapping_add(step)).map(|number| (number, self.lane(number)))
    }

    #[inline]
    fn lane(&self, number: usize) -> &Lane {
        &self.0[number & (self.0.len() - 1)]
    }

    /// Puts a job into a lane that nobody else is writing to.
    #[inline(always)]
    pub(crate) fn push(&self, job: impl IntoJob) {
        let back = self.lane(local::shard()).back().unwrap_or_else(|| self.another_back());
        back.push(job);
    }

    /// Moves this thread to a lane whose back nobody holds.
    #[cold]
    fn another_back(&self) -> Back<'_> {
        let backoff = Backoff::new();
        loop {
            if let Some(back) = self.0.iter().find_map(|_| self.lane(local::next_shard()).back()) {
                return back;
            }
            snooze(&backoff);
        }
    }

    /// Takes one job, out of lane `start` if there is one, and tells which lane it was.
    ///
    /// # Errors
    ///
    /// [`Busy`] if jobs were only seen in lanes at whose front somebody else is.
    #[inline]
    pub(crate) fn take_one(&self, start: usize) -> Result<Option<(Job, usize)>, Busy> {
        match self.lane(start).front().and_then(Front::take_first) {
            Some(job) => Ok(Some((job, start))),
            None => self.take_anywhere(start),
        }
    }

    #[cold]
    fn take_anywhere(&self, start: usize) -> Result<Option<(Job, usize)>, Busy> {
        let filled = self.beginning_with(start).filter(|(_, lane)| !lane.is_empty());
        first_found(filled.map(|(number, lane)| Ok(lane.take_first()?.map(|job| (job, number)))))
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_locked_back_is_avoided() {
        let lanes = Lanes::new(2);
        let mine = lanes.lane(local::shard());
        let _back = mine.back().expect("nobody else is there");
        lanes.push(Job::new(|| ()));
        assert_eq!((mine.len(), lanes.iter().map(Lane::len).sum()), (0, 1));
    }

    #[test]
    fn jobs_are_found_in_whatever_lane_they_are() {
        let lanes = Lanes::new(4);
        lanes.lane(2).push(Job::new(|| ()));
        lanes.lane(1).push(Job::new(|| ()));
        let from = |start| lanes.take_one(start).map(|found| found.map(|(_, lane)| lane));
        assert_eq!([from(2), from(2), from(2)], [Ok(Some(2)), Ok(Some(5)), Ok(None)]);
    }
}
