//! The way into a subpool: its gate, and what the board says about it. The steps are those of `dispatcher/README.md`.

use super::{
    board::{self, Board},
    gate::{Gate, State},
};
use crate::sync::atomic::{Ordering::SeqCst, fence};
use std::cell::Cell;

/// Keeps the board true to the gate and to the queues behind it.
///
/// The board may promise too much, which costs a look. A thread that makes it promise less looks at the gate or the
/// queue itself afterwards, with a fence in between. Each of the fences here pairs with all others, and with those of
/// submitters (S2) and of workers that fall asleep (W3): of two threads that are in each other's way, the second one
/// sees what the first has done before its fence.
#[derive(Clone, Copy)]
pub(super) struct Entrance<'a> {
    pub(super) gate: &'a Gate,
    pub(super) board: &'a Board,
    pub(super) slot: usize,
}

impl Entrance<'_> {
    /// P3, P4: a job was put into the queue at `level`, and a fence has followed. Returns whether a worker may take it.
    #[inline]
    pub(super) fn expose(self, level: usize) -> bool {
        self.announce(level);
        self.board.view().is_open(self.slot)
    }

    fn announce(self, level: usize) {
        let queue = board::queue(level, self.slot);
        if !self.board.view().has(queue) {
            self.board.set(queue);
            fence(SeqCst);
        }
    }

    /// T1: the queue at `level` was found empty. If it is not, it was hidden for a moment, and `left_open` is set: as
    /// in [`found_shut`](Self::found_shut).
    pub(super) fn found_empty(self, level: usize, is_empty: impl FnOnce() -> bool, left_open: &Cell<bool>) {
        self.board.clear(board::queue(level, self.slot));
        fence(SeqCst);
        if !is_empty() {
            self.announce(level);
            left_open.set(true);
        }
    }

    /// T2: takes a token. Returns whether there was one. If the gate only seemed shut for a moment, `left_open` is set:
    /// see [`found_shut`](Self::found_shut).
    pub(super) fn enter(self, left_open: &Cell<bool>) -> bool {
        let taken = self.gate.take();
        if !taken.is_some_and(State::is_open) && self.found_shut() {
            left_open.set(true);
        }
        taken.is_some()
    }

    /// The gate was shut just now. Returns whether it is open again: then a worker must be called for the jobs that
    /// have come meanwhile, because their submitters, and workers that have fallen asleep, relied on what the board
    /// said.
    pub(super) fn found_shut(self) -> bool {
        self.board.close(self.slot);
        fence(SeqCst);
        let is_open = self.gate.read().is_open();
        if is_open {
            self.board.open(self.slot);
            fence(SeqCst);
        }
        is_open
    }

    /// G1 to G3: gives a token back. Returns whether there are jobs that a worker may take now. If so, and if the gate
    /// was shut until now, `left_open` is set.
    pub(super) fn leave(self, has_more: impl FnOnce() -> bool, left_open: &Cell<bool>) -> bool {
        let was_shut = !self.gate.give_back().is_open();
        let has_more = self.changed(has_more);
        if was_shut && has_more {
            left_open.set(true);
        }
        has_more
    }

    /// G2, G3: the gate may have become open. Returns whether there are jobs that a worker may take now: those on the
    /// board, and those that the subpool has elsewhere.
    pub(super) fn changed(self, has_more: impl FnOnce() -> bool) -> bool {
        fence(SeqCst);
        if self.gate.read().is_open() && !self.board.view().is_open(self.slot) {
            self.board.open(self.slot);
            fence(SeqCst);
        }
        self.has_eligible() || self.board.view().is_open(self.slot) && has_more()
    }

    /// Whether, by the board, there are jobs, and tokens for them.
    pub(super) fn has_eligible(self) -> bool {
        self.board.view().has_eligible(self.slot)
    }
}
