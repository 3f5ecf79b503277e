//! The board: which queues have jobs, and which gates are open, in one word.

use crate::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire},
};
use std::fmt;

/// How many levels of priority there are. The highest has the highest number.
pub(crate) const LEVELS: usize = 5;

/// How many subpools a board has room for.
pub(crate) const SLOTS: usize = 10;

/// A bit for each queue, which says that it has jobs; and one for each subpool, which says that its gate is open.
///
/// These are hints: [`Entrance`](super::entrance::Entrance) says how they are corrected, and which fences that takes.
/// Changes acquire and release, so that a thread that finds a bit as another has left it sees why.
#[derive(Default)]
pub(super) struct Board(AtomicU64);

/// What was on a board at one moment.
#[derive(Clone, Copy)]
pub(super) struct View(u64);

/// A set of queues: bit `level * SLOTS + slot` for each.
pub(super) type Queues = u64;

/// One thing for each of the two boards that concern a worker.
#[derive(Clone, Copy, Default)]
pub(super) struct Both<T> {
    /// For the board of the subpools that share threads.
    pub(super) shared: T,
    /// For that of the subpool which is bound to the worker's thread.
    pub(super) bound: T,
}

impl Both<Queues> {
    pub(super) fn is_empty(self) -> bool {
        self.shared | self.bound == 0
    }
}

const OPEN: usize = LEVELS * SLOTS;
const ALL_SLOTS: u64 = (1 << SLOTS) - 1;
/// Multiplied with a set of slots, it makes the set of all their queues.
const EACH_LEVEL: u64 = {
    let (mut level, mut word) = (0, 0);
    while level < LEVELS {
        word |= 1 << (level * SLOTS);
        level += 1;
    }
    word
};

/// The queue of `slot` at `level`.
#[inline]
pub(super) fn queue(level: usize, slot: usize) -> Queues {
    1 << (level * SLOTS + slot)
}

/// All queues of `slot`.
pub(super) fn queues_of(slot: usize) -> Queues {
    EACH_LEVEL << slot
}

/// The slots of all `queues`.
pub(super) fn slots(queues: Queues) -> u64 {
    (0..LEVELS).fold(0, |slots, level| slots | at_level(queues, level))
}

/// All queues at `level` and above.
pub(super) fn from_level(level: usize) -> Queues {
    u64::MAX << (level * SLOTS) & ((1 << OPEN) - 1)
}

/// The slots of those of `queues` that are at `level`.
pub(super) fn at_level(queues: Queues, level: usize) -> u64 {
    queues >> (level * SLOTS) & ALL_SLOTS
}

/// The highest level at which there is one of `queues`.
pub(super) fn highest_level(queues: Queues) -> Option<usize> {
    Some(queues.checked_ilog2()? as usize / SLOTS)
}

impl Board {
    #[inline]
    pub(super) fn view(&self) -> View {
        View(self.0.load(Acquire))
    }

    pub(super) fn set(&self, queues: Queues) {
        self.0.fetch_or(queues, AcqRel);
    }

    pub(super) fn clear(&self, queues: Queues) {
        self.0.fetch_and(!queues, AcqRel);
    }

    pub(super) fn open(&self, slot: usize) {
        self.0.fetch_or(1 << (OPEN + slot), AcqRel);
    }

    pub(super) fn close(&self, slot: usize) {
        self.0.fetch_and(!(1 << (OPEN + slot)), AcqRel);
    }
}

impl View {
    /// The queues that have jobs.
    #[inline]
    fn jobs(self) -> Queues {
        self.0 & ((1 << OPEN) - 1)
    }

    /// Whether one of `queues` has jobs, whether it is eligible or not.
    #[inline]
    pub(super) fn has_any(self, queues: Queues) -> bool {
        self.0 & queues != 0
    }

    #[inline]
    pub(super) fn has(self, queues: Queues) -> bool {
        self.0 & queues == queues
    }

    #[inline]
    pub(super) fn is_open(self, slot: usize) -> bool {
        self.0 & 1 << (OPEN + slot) != 0
    }

    /// The queues with jobs that a worker may take that holds tokens of the slots `held`.
    #[inline]
    pub(super) fn eligible(self, held: u64) -> Queues {
        self.jobs() & ((self.0 >> OPEN | held) & ALL_SLOTS).wrapping_mul(EACH_LEVEL)
    }

    /// The queues of `slot` that have jobs.
    pub(super) fn jobs_of(self, slot: usize) -> Queues {
        self.jobs() & queues_of(slot)
    }

    /// Whether one of the queues of an open `slot` has jobs.
    pub(super) fn has_eligible(self, slot: usize) -> bool {
        self.eligible(0) & queues_of(slot) != 0
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let View(word) = self.view();
        f.debug_struct("Board")
            .field("open", &format_args!("{:b}", word >> OPEN))
            .field("jobs", &format_args!("{:b}", View(word).jobs()))
            .finish()
    }
}

#[cfg(all(test, not(executors_loom)))]
mod tests {
    use super::*;

    #[test]
    fn queues_with_jobs_are_eligible_by_an_open_gate_or_a_token() {
        let board = Board::default();
        board.set(queue(0, 3) | queue(4, 3) | queue(2, 9));
        assert_eq!(board.view().eligible(0), 0);
        assert_eq!(board.view().eligible(1 << 9), queue(2, 9));
        board.open(3);
        assert_eq!(board.view().eligible(0), queue(0, 3) | queue(4, 3));
        assert!(board.view().has_eligible(3) && !board.view().has_eligible(9));
        board.clear(queue(4, 3));
        assert_eq!(board.view().eligible(1 << 9), queue(0, 3) | queue(2, 9));
        board.close(3);
        assert_eq!(board.view().eligible(0), 0);
        assert!(board.view().has(queue(0, 3)) && !board.view().has(queue(4, 3)));
    }

    #[test]
    fn levels_are_told_apart() {
        let queues = queue(1, 0) | queue(1, 9) | queue(3, 5);
        assert_eq!(highest_level(queues), Some(3));
        assert_eq!(highest_level(queues & !from_level(3)), Some(1));
        assert_eq!(highest_level(0), None);
        assert_eq!(at_level(queues, 1), 1 << 9 | 1);
        assert_eq!(at_level(queues, 2), 0);
        assert_eq!(from_level(LEVELS - 1), at_level(u64::MAX, 0) << ((LEVELS - 1) * SLOTS));
    }
}
