//! How a worker gets its next job: the token, the job, and the token it had before. The steps are those of
//! `dispatcher/README.md`.

use super::{
    Address, CPU, DispatchSource, NONE, STINT,
    board::{self, Both, LEVELS, Queues, SLOTS},
    choice::Choice,
    local::DispatchLocal,
};
use crate::{
    job::Job,
    meter::Meter,
    source::Source,
    sync::atomic::{Ordering::SeqCst, fence},
};

impl DispatchSource {
    /// A job that the worker may run. `None` if it saw none.
    pub(super) fn find(
        &self,
        local: &DispatchLocal,
        meter: &Meter,
        choose: fn(&Self, &DispatchLocal, bool) -> Option<Choice>,
    ) -> Option<Job> {
        let mut stream = true;
        loop {
            let choice = choose(self, local, stream)?;
            match self.follow(local, meter, choice, stream) {
                Ok(job) => return Some(job),
                Err(is_worth_a_try) => stream = is_worth_a_try,
            }
        }
    }

    /// T1 to T3: takes a job from where it was chosen to come from. `stream` says whether the stream is worth a try.
    ///
    /// # Errors
    ///
    /// If there is no job any more, or no token: whether the stream is worth a try then. Except for strangers one try
    /// is enough: a worker that is about to sleep looks once more anyway, and has patience with jobs that are alone at
    /// their worker.
    fn follow(&self, local: &DispatchLocal, meter: &Meter, choice: Choice, stream: bool) -> Result<Job, bool> {
        let subpool = choice.at.subpool();
        let is_held = local.token_of.get() == subpool;
        let may_take = is_held || self.has_jobs_at(local, choice.at) && self.entrance(subpool).enter(&local.left_open);
        if !may_take {
            return Err(stream && !choice.at.is_stream());
        }
        let turn = if choice.by_turn { self.pass_turn(local, subpool, stream) } else { None };
        let at = turn.unwrap_or(choice.at);
        let job = if at.is_stream() { self.take_from_stream(local, meter) } else { self.take_from_queue(local, at) };
        match job {
            Some(job) => {
                self.begin_under_token(local, at);
                if choice.by_turn {
                    local.aging.begin_period();
                } else {
                    local.aging.count_one();
                }
                Ok(job)
            }
            None => {
                if at.is_stream() {
                    local.respite.set(STINT);
                }
                let has_more = !is_held && self.give_back(local, subpool);
                Err(stream && !at.is_stream() || has_more && local.is_stranger)
            }
        }
    }

    /// Whether there are jobs in the place for which a token is about to be taken.
    fn has_jobs_at(&self, local: &DispatchLocal, at: Address) -> bool {
        if at.is_stream() {
            return self.stream.has_jobs();
        }
        let queue = &self.subpools[at.subpool()].queues[at.level()];
        let is_empty = queue.is_empty();
        // The thread of a bound subpool spares the fence after a push, because no other thread clears a bit of its
        // board without holding its token. (A thread that is not a worker does not go by that board, either.)
        if is_empty && !(local.is_stranger && self.is_bound(at.subpool())) {
            self.entrance(at.subpool()).found_empty(at.level(), || queue.is_empty(), &local.left_open);
        }
        !is_empty
    }

    fn take_from_queue(&self, local: &DispatchLocal, at: Address) -> Option<Job> {
        let queue = &self.subpools[at.subpool()].queues[at.level()];
        let job = queue.pop();
        if job.is_none() {
            self.entrance(at.subpool()).found_empty(at.level(), || queue.is_empty(), &local.left_open);
        }
        job
    }

    fn take_from_stream(&self, local: &DispatchLocal, meter: &Meter) -> Option<Job> {
        // Others would not see what it had in a ring: nor would it itself, when it comes back from another subpool.
        if local.is_stranger {
            return self.stream.take();
        }
        // One is enough: the turn then passes to the next queue.
        let outside = local.stream_outside.take().then(|| self.stream.pop_outside(&local.stream, 1, meter)).flatten();
        outside.or_else(|| self.stream.search(&local.stream, meter))
    }

    /// The worker has taken a job, under a token of its subpool.
    pub(super) fn begin_under_token(&self, local: &DispatchLocal, at: Address) {
        let from = local.token_of.replace(at.subpool());
        if from != NONE && from != at.subpool() && self.give_back(local, from) {
            // Also if others could have come all along: for a job that is alone at its worker, maybe no other was
            // called, because this worker was going to take it next.
            local.left_open.set(true);
        }
        local.aging.go_on(from, at.subpool());
        if local.at.replace(at) != at || local.stint.get() == 0 {
            local.stint.set(STINT);
        }
        local.held.set(if self.is_bound(at.subpool()) { 0 } else { 1 << at.subpool() });
        // At its own level only what is not its own.
        let watched = board::from_level(at.level());
        let shared = if local.shares { watched } else { 0 };
        let others = local.without_own(Both { shared, bound: watched });
        local.watch.shared.set(others.shared);
        local.watch.bound.set(others.bound);
    }

    /// Gives back the token that the worker holds. Returns whether it should look for jobs once more.
    pub(super) fn leave(&self, local: &DispatchLocal) -> bool {
        let from = local.token_of.replace(NONE);
        local.held.set(0);
        local.aging.go_on(from, NONE);
        // The look of a worker that is about to sleep includes the stream.
        from != NONE && self.give_back(local, from) && (local.is_stranger || self.entrance(from).has_eligible())
    }

    /// Gives back a token of `subpool`. Returns whether there are jobs that a worker may take now.
    fn give_back(&self, local: &DispatchLocal, subpool: usize) -> bool {
        self.entrance(subpool).leave(|| self.has_stream(subpool), &local.left_open)
    }

    /// A job of the CPU subpool from outside.
    pub(super) fn pop_stream_outside(&self, local: &DispatchLocal, period: usize, meter: &Meter) -> Option<Job> {
        let is_recalled = self.subpools[CPU].gate.read().is_recalled();
        if local.token_of.get() != CPU || is_recalled || local.is_stranger {
            None
        } else {
            self.stream.pop_outside(&local.stream, period, meter)
        }
    }

    /// A job of a subpool whose thread has left.
    pub(super) fn find_bound(&self, local: &DispatchLocal, meter: &Meter) -> Option<Job> {
        let bound = (0..self.subpools.len()).filter(|&subpool| self.is_bound(subpool));
        let places = bound.flat_map(|subpool| (0..LEVELS).rev().map(move |level| Address::new(subpool, level)));
        places
            .filter(|&at| !self.subpools[at.subpool()].queues[at.level()].is_empty())
            .find_map(|at| self.follow(local, meter, Choice { at, by_turn: false }, false).ok())
    }

    /// Whether jobs wait behind an open gate, whatever the board says: for a thread that leaves for good, and does not
    /// look again afterwards.
    pub(super) fn has_left_something(&self) -> bool {
        // Like the fences of `Entrance`: a thread that has found the gate shut put its job in before, or looks once
        // more itself.
        fence(SeqCst);
        self.subpools.iter().enumerate().any(|(number, subpool)| {
            let waits = || subpool.len() > 0 || self.has_stream(number);
            subpool.gate.read().is_open() && waits()
        })
    }

    /// Whether one of `queues`, on the board of subpools that share threads or on that of a bound one, really has jobs.
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

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use crate::{job::Closure, options::Placement, placement::Neighbourhood, source::dispatch::NORMAL};

    /// Because its thread spares the fence after a push: its bit is cleared only under the token.
    #[test]
    fn only_the_owner_clears_the_bits_of_a_bound_subpool() {
        let source = DispatchSource::new(1, Neighbourhood::of_machine(1, &Placement::Floating), &[1], &[1], 61);
        let (owner, late, meter) = (source.attach(Some(1)), source.attach(None), Meter::default());
        let to = Address::new(1, NORMAL);
        source.inject(to, Closure(|| ()));
        let is_set = || source.entrance(1).board.view().has(board::queue(NORMAL, 0));
        assert!(source.expose(to) && is_set());
        assert!(source.search(&owner, &meter).is_some());
        assert!(!source.has_jobs_at(&late, to) && is_set(), "the owner holds the token");
        assert!(source.search(&owner, &meter).is_none());
        assert!(!is_set(), "the owner has found it empty");
    }
}
