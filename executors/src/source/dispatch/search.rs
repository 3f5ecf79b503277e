//! How a worker comes to its next job: the token, the job, and the token it had before. The steps are those of
//! `dispatcher/README.md`.

use super::{
    Address, CPU, DispatchSource, NONE, STINT,
    board::{self, LEVELS, Queues, SLOTS},
    choice::Place,
    local::DispatchLocal,
};
use crate::{job::Job, meter::Meter, queue::insist, source::Source};

impl DispatchSource {
    /// A job that the worker may run. `None` if there was none to be seen.
    pub(super) fn find(
        &self,
        local: &DispatchLocal,
        meter: &Meter,
        choose: fn(&Self, &DispatchLocal, bool) -> Option<Place>,
    ) -> Option<Job> {
        let mut stream = true;
        loop {
            let found = match choose(self, local, stream)? {
                Place::Queue { subpool, level } => self.take_from_queue(local, subpool, level),
                Place::Stream => {
                    stream = false;
                    self.take_from_stream(local, meter)
                }
            };
            if found.is_some() {
                return found;
            }
        }
    }

    pub(super) fn take_from_queue(&self, local: &DispatchLocal, subpool: usize, level: usize) -> Option<Job> {
        let (entrance, queue) = (self.entrance(subpool), &self.subpools[subpool].queues[level]);
        let is_held = local.holds.get() == subpool;
        if queue.is_empty() {
            entrance.found_empty(level, || queue.is_empty());
            return None;
        }
        if !is_held && !entrance.enter(&local.left_open) {
            return None;
        }
        let Some(job) = insist(|| queue.take_first()) else {
            if !is_held {
                entrance.leave(|| self.has_stream(subpool)); // the worker looks on in any case
            }
            return None;
        };
        self.settle(local, Address::new(subpool, level));
        Some(job)
    }

    pub(super) fn take_from_stream(&self, local: &DispatchLocal, meter: &Meter) -> Option<Job> {
        let entrance = self.entrance(CPU);
        loop {
            let is_held = local.holds.get() == CPU;
            let may_take = is_held || self.stream.has_jobs() && entrance.enter(&local.left_open);
            if !may_take {
                return None;
            }
            let outside = local.outside.take().then(|| self.stream.pop_outside(&local.stream)).flatten();
            if let Some(job) = outside.or_else(|| self.stream.search(&local.stream, meter)) {
                self.settle(local, Address::default());
                return Some(job);
            }
            // Who is going to sleep looks once more anyway, and has patience with jobs that are alone at their worker.
            if is_held || !entrance.leave(|| self.stream.has_jobs()) || !local.is_stranger {
                return None;
            }
        }
    }

    /// The worker has taken a job, under a token of its subpool.
    pub(super) fn settle(&self, local: &DispatchLocal, at: Address) {
        let from = local.holds.replace(at.subpool());
        if from != NONE && from != at.subpool() && self.entrance(from).leave(|| self.has_stream(from)) {
            local.left_open.set(true);
        }
        local.at.set(at);
        local.stint.set(STINT);
        // At its own level only what is not its own.
        let watched = board::from_level(at.level());
        let others = |slot| watched & !board::queue(at.level(), slot);
        let [shared, bound] = &local.watch;
        if self.is_bound(at.subpool()) {
            local.slot.set(0);
            shared.set(if local.shares { watched } else { 0 });
            bound.set(others(0));
        } else {
            local.slot.set(1 << at.subpool());
            shared.set(others(at.subpool()));
            bound.set(watched);
        }
    }

    /// Gives back the token that the worker holds. Returns whether it should look for jobs once more.
    pub(super) fn leave(&self, local: &DispatchLocal) -> bool {
        let from = local.holds.replace(NONE);
        local.slot.set(0);
        // The look of those who go to sleep takes in the stream.
        from != NONE && self.entrance(from).leave(|| local.is_stranger && self.has_stream(from))
    }

    /// A job of a subpool whose thread has left.
    pub(super) fn find_bound(&self, local: &DispatchLocal) -> Option<Job> {
        let places = (0..self.subpools.len()).flat_map(|subpool| (0..LEVELS).rev().map(move |level| (subpool, level)));
        places
            .filter(|&(subpool, level)| {
                self.subpools[subpool].binding.is_some() && !self.subpools[subpool].queues[level].is_empty()
            })
            .find_map(|(subpool, level)| self.take_from_queue(local, subpool, level))
    }

    /// Whether one of `queues`, of the board of those that share or of a bound subpool, really has jobs.
    pub(super) fn have_jobs(&self, mut queues: Queues, bound: Option<usize>) -> bool {
        while queues != 0 {
            let (queue, rest) = (queues.trailing_zeros() as usize, queues & (queues - 1));
            if !self.subpools[bound.unwrap_or(queue % SLOTS)].queues[queue / SLOTS].is_empty() {
                return true;
            }
            queues = rest;
        }
        false
    }

    /// Whether there is a job for the worker's thread alone.
    pub(super) fn has_bound(&self, local: &DispatchLocal) -> bool {
        if local.is_stranger {
            return self.subpools.iter().any(|subpool| subpool.binding.is_some() && subpool.len() > 0);
        }
        let queues = self.eligible_bound(local);
        local.bound.is_some_and(|bound| self.have_jobs(queues, Some(bound)))
    }
}
