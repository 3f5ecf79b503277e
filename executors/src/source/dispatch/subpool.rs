//! A subpool: its gate, its queues, and the thread that it may be bound to.

use super::{
    aging::RoundRobin,
    board::{Board, LEVELS},
    gate::Gate,
};
use crate::source::{Whom, queue::single::SingleLane};
use crossbeam_utils::CachePadded;
use std::array;

/// Where the jobs of a subpool wait, and what lets them out.
pub(super) struct SubpoolState {
    pub(super) gate: CachePadded<Gate>,
    /// First in, first out, whichever thread puts in.
    pub(super) queues: [SingleLane; LEVELS],
    /// Which queue's turn it was last, as a bit of the board.
    pub(super) turn: RoundRobin,
    pub(super) binding: Option<Binding>,
}

/// The binding to the thread on a seat.
pub(super) struct Binding {
    pub(super) seat: usize,
    pub(super) board: CachePadded<Board>,
}

/// What a user may know of a subpool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) limit: usize,
    pub(crate) running: usize,
    pub(crate) queued: usize,
    pub(crate) is_paused: bool,
}

impl SubpoolState {
    pub(super) fn new(limit: usize, seat: Option<usize>) -> Self {
        SubpoolState {
            gate: CachePadded::new(Gate::new(limit)),
            queues: array::from_fn(|_| SingleLane::new()),
            turn: RoundRobin::default(),
            binding: seat.map(|seat| Binding { seat, board: CachePadded::default() }),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.queues.iter().map(SingleLane::len).sum()
    }

    /// Which worker a job here needs.
    pub(super) fn whom(&self) -> Whom {
        self.binding.as_ref().map_or(Whom::Anyone, |binding| Whom::Owner(binding.seat))
    }
}
