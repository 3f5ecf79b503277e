//! What a worker of a dispatcher keeps to itself: which token it holds, and what may call it away.

use super::{
    Address, DispatchSource, NONE,
    aging::Aging,
    board::{self, Both, Queues},
    subpool::SubpoolState,
};
use crate::source::{Source, stealing::StealingLocal};
use std::cell::Cell;

/// What a worker keeps to itself.
pub(crate) struct DispatchLocal {
    pub(super) stream: StealingLocal,
    /// Whether it runs jobs of subpools that share threads.
    pub(super) shares: bool,
    /// The subpool that is bound to this thread.
    pub(super) bound: Option<usize>,
    /// Whether it runs the jobs of threads that have left. Then it has no jobs in the stream's ring.
    pub(super) is_stranger: bool,
    /// Where the job that the worker runs, or has run last, comes from.
    pub(super) at: Cell<Address>,
    /// The subpool whose token it holds.
    pub(super) token_of: Cell<usize>,
    /// That subpool's slot as a set, if it is on the board of subpools that share threads.
    pub(super) held: Cell<u64>,
    /// Which queues may call it away.
    pub(super) watch: Both<Cell<Queues>>,
    /// Jobs that are left of its stint.
    pub(super) stint: Cell<u32>,
    /// Jobs until the stream, which had none for the worker the last time, may call it away again.
    pub(super) respite: Cell<u32>,
    /// When the next job of a subpool is one by turns.
    pub(super) aging: Aging,
    /// Whether subpools take turns for the next job.
    pub(super) turn_is_due: Cell<bool>,
    /// Whose turn it was last.
    pub(super) turn: Cell<u32>,
    /// Whether the stream's turn is that of jobs from outside.
    pub(super) stream_outside: Cell<bool>,
    /// Whether it was last time.
    pub(super) stream_was_outside: Cell<bool>,
    /// Whether another worker should come for what this one has freed or has hidden for a moment (a token or a job), if
    /// this one goes on to something else.
    pub(super) left_open: Cell<bool>,
}

impl DispatchSource {
    pub(super) fn local(&self, seat: Option<usize>) -> DispatchLocal {
        let is_bound_here =
            |subpool: &SubpoolState| subpool.binding.as_ref().is_some_and(|binding| Some(binding.seat) == seat);
        DispatchLocal {
            // A reserved thread has no seat there, because no worker may steal from it.
            stream: self.stream.attach(seat.filter(|&seat| seat < self.sharing)),
            shares: seat.is_none_or(|seat| seat < self.sharing),
            bound: self.subpools.iter().position(is_bound_here),
            is_stranger: seat.is_none(),
            at: Cell::new(self.main),
            token_of: Cell::new(NONE),
            held: Cell::new(0),
            watch: Both::default(),
            stint: Cell::new(0),
            respite: Cell::new(0),
            aging: Aging::new(self.age, self.subpools.len()),
            turn_is_due: Cell::new(false),
            turn: Cell::new(0),
            stream_outside: Cell::new(false),
            stream_was_outside: Cell::new(false),
            left_open: Cell::new(false),
        }
    }
}

impl DispatchLocal {
    /// `queues` without the one whose jobs the worker runs.
    pub(super) fn without_own(&self, mut queues: Both<Queues>) -> Both<Queues> {
        let at = self.at.get();
        if self.held.get() == 0 {
            queues.bound &= !board::queue(at.level(), 0);
        } else {
            queues.shared &= !board::queue(at.level(), at.subpool());
        }
        queues
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;
    use crate::{asymmetric_fence, job::Closure, meter::Meter, options::Placement, placement::Neighbourhood};

    #[test]
    fn a_worker_that_blocks_gives_back_what_it_had_to_itself() {
        if !asymmetric_fence::is_ready_for_test() {
            return;
        }
        let source = DispatchSource::new(1, Neighbourhood::of_machine(1, &Placement::Floating), &[1], &[], 61);
        let (local, meter) = (source.attach(Some(0)), Meter::default());
        source.inject(Address::STREAM, Closure(|| ()));
        assert!(source.search(&local, &meter).is_some(), "the worker has a token");
        let pushed = source.push(&local, Address::STREAM, Closure(|| ()));
        pushed.unwrap_or_else(|job| source.push_slowly(&local, Address::STREAM, job));
        assert!(source.pop_outside(&local, 64, &meter).is_none());
        assert!(source.stream.spares_fences(None), "it has run 64 jobs that no other worker wanted");
        source.on_block(&local);
        assert!(!source.stream.spares_fences(None));
    }
}
