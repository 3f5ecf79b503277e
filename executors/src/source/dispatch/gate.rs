//! The gate of a subpool: how many of its jobs may run at a time, and how many do.

use crate::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};
use std::fmt;

/// A token for each job that runs, or for a worker that is about to take one.
///
/// Every change is a read-modify-write that releases what its thread has done and acquires what earlier ones have: a
/// job that runs with the only token of a subpool sees all that the jobs before it have done. The order in which gates
/// and boards are looked at is a matter of fences, see [`Entrance`](super::entrance::Entrance).
pub(super) struct Gate(AtomicU64);

/// The word of a gate: tokens that are out, how many may be, whether it is paused; and a count of the tokens given out
/// so far, so that a thread that reads it twice can tell whether one was out meanwhile. (It has 22 bits. Only if
/// exactly 2^22 tokens, or a multiple of that, are given out between the two readings, and all come back, do these look
/// alike.)
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct State(u64);

const OUT: u64 = 1;
const LIMIT: u64 = 1 << 20;
const MASK: u64 = LIMIT - 1;
const PAUSED: u64 = 1 << 40;
/// Pauses have no effect any more.
const LIFTED: u64 = 1 << 41;
const GIVEN: u64 = 1 << 42;

/// The highest limit that a gate can tell from none.
pub(super) const MAX_LIMIT: usize = MASK as usize;

impl Gate {
    pub(super) fn new(limit: usize) -> Self {
        Gate(AtomicU64::new(limit.min(MAX_LIMIT) as u64 * LIMIT))
    }

    #[inline]
    pub(super) fn read(&self) -> State {
        State(self.0.load(Acquire))
    }

    /// Takes a token, if there is one. Returns the state with it.
    pub(super) fn take(&self) -> Option<State> {
        let with = |word| State(word).is_open().then(|| word.wrapping_add(OUT + GIVEN));
        let before = self.0.fetch_update(AcqRel, Acquire, with).ok()?;
        Some(State(before.wrapping_add(OUT + GIVEN)))
    }

    /// Gives a token back. Returns the state before.
    pub(super) fn give_back(&self) -> State {
        State(self.0.fetch_sub(OUT, AcqRel))
    }

    pub(super) fn pause(&self) {
        self.0.fetch_or(PAUSED, AcqRel);
    }

    pub(super) fn resume(&self) {
        self.0.fetch_and(!PAUSED, AcqRel);
    }

    /// Ends all pauses, for good.
    pub(super) fn lift(&self) {
        self.0.fetch_or(LIFTED, AcqRel);
    }

    pub(super) fn set_limit(&self, limit: usize) {
        let with = |word| Some((word & !(MASK * LIMIT)) | (limit.min(MAX_LIMIT) as u64 * LIMIT));
        let _ = self.0.fetch_update(AcqRel, Relaxed, with);
    }
}

impl State {
    /// Tokens that are out.
    pub(super) fn out(self) -> usize {
        (self.0 & MASK) as usize
    }

    pub(super) fn limit(self) -> usize {
        ((self.0 / LIMIT) & MASK) as usize
    }

    /// How many tokens have been given out so far, modulo 2^22.
    pub(super) fn given(self) -> u64 {
        self.0 / GIVEN
    }

    #[inline]
    pub(super) fn is_paused(self) -> bool {
        self.0 & (PAUSED | LIFTED) == PAUSED
    }

    /// How many tokens could be taken.
    pub(super) fn room(self) -> usize {
        if self.is_paused() { 0 } else { self.limit().saturating_sub(self.out()) }
    }

    /// Whether a token could be taken.
    pub(super) fn is_open(self) -> bool {
        self.room() > 0
    }

    /// Whether holders of tokens have to give them back when their jobs end.
    #[inline]
    pub(super) fn is_recalled(self) -> bool {
        self.is_paused() || self.out() > self.limit()
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.read();
        f.debug_struct("Gate")
            .field("out", &state.out())
            .field("limit", &state.limit())
            .field("paused", &state.is_paused())
            .finish()
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    #[test]
    fn no_more_tokens_are_out_than_the_limit_allows() {
        let gate = Gate::new(2);
        assert!(gate.take().unwrap().is_open());
        assert!(!gate.take().unwrap().is_open());
        assert!(gate.take().is_none());
        gate.give_back();
        assert_eq!(gate.take().unwrap().out(), 2);
    }

    #[test]
    fn a_lower_limit_recalls_tokens() {
        let gate = Gate::new(3);
        for _ in 0..3 {
            assert!(gate.take().is_some_and(|state| !state.is_recalled()));
        }
        gate.set_limit(1);
        assert!(gate.read().is_recalled());
        gate.give_back();
        assert!(gate.read().is_recalled());
        gate.give_back();
        assert!(!gate.read().is_recalled());
        assert!(gate.take().is_none());
        gate.set_limit(MAX_LIMIT + 1);
        assert_eq!((gate.read().limit(), gate.read().out()), (MAX_LIMIT, 1));
    }

    #[test]
    fn a_pause_recalls_tokens_until_it_is_lifted() {
        let gate = Gate::new(1);
        assert!(gate.take().is_some());
        gate.pause();
        assert!(gate.read().is_recalled());
        gate.give_back();
        assert!(gate.take().is_none());
        gate.resume();
        assert!(gate.take().is_some());
        gate.give_back();
        gate.lift();
        gate.pause();
        assert!(!gate.read().is_paused());
        assert!(gate.take().is_some());
    }

    #[test]
    fn the_state_shows_that_a_token_was_out() {
        let gate = Gate::new(1);
        let before = gate.read();
        assert!(gate.take().is_some());
        gate.give_back();
        assert!(gate.read() != before && gate.read().out() == before.out());
    }
}
