//! The head of a ring: one word that says which thread the first job belongs to.

use crate::source::queue::reservation::{RESERVED, Reservation};

/// The counts in a head, and whether they are valid.
///
/// | state | the first job goes to | who ends the state |
/// |---|---|---|
/// | open | the thread whose exchange moves `next` | the owner, by reserving the ring when nothing is held |
/// | reserved | the owner; `taken` is in the place of `next` | any thread, by recalling it; or the owner, by opening it |
/// | recalled | no thread, until it is known what the owner has taken | the owner, or a recaller, by opening it |
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Head(u64);

impl Reservation for Head {
    #[inline(always)]
    fn of(word: u64) -> Self {
        Head(word)
    }

    #[inline(always)]
    fn word(self) -> u64 {
        self.0
    }
}

impl Head {
    /// What `next` was when the ring was opened, modulo 2: see [`was_opened_at`](Self::was_opened_at).
    const OPENED_AT_ODD: u64 = 1 << 61;
    const COUNTS: u64 = Self::OPENED_AT_ODD - 1;

    #[inline(always)]
    fn open(next: u32, held: u32) -> Self {
        Head(u64::from(held) << 32 | u64::from(next))
    }

    /// The first job that has not been taken, if the ring is open.
    #[inline(always)]
    pub(super) fn next(self) -> u32 {
        self.0 as u32
    }

    /// Jobs before `next` whose slots are not free, if the ring is open. If there are any, a thief is at it.
    #[inline(always)]
    pub(super) fn held(self) -> u32 {
        ((self.0 & Self::COUNTS) >> 32) as u32
    }

    pub(super) fn free(self) -> u32 {
        self.next().wrapping_sub(self.held())
    }

    /// The head when the owner has taken the next job.
    #[inline(always)]
    pub(super) fn behind_next(self) -> Self {
        if self.held() == 0 { Head::open(self.next().wrapping_add(1), 0) } else { self.with_next_held() }
    }

    /// The same if there is a thief. Cold, so that the compiler makes this a branch.
    #[cold]
    fn with_next_held(self) -> Self {
        Head::open(self.next().wrapping_add(1), self.held() + 1)
    }

    /// The head when a thief has claimed `jobs` jobs.
    pub(super) fn with_claimed(self, jobs: u32) -> Self {
        Head(Head::open(self.next().wrapping_add(jobs), jobs).0 | self.0 & Self::OPENED_AT_ODD)
    }

    /// The head when nothing is held any more.
    pub(super) fn with_all_free(self) -> Self {
        Head(Head::open(self.next(), 0).0 | self.0 & Self::OPENED_AT_ODD)
    }

    /// The head when the ring has been reserved this many `times`.
    pub(super) fn reserved(times: u64) -> Self {
        Head(RESERVED | times & Self::COUNTS)
    }

    /// The head when a ring that was reserved, or recalled, is open, and the owner has taken what is before `next`.
    pub(super) fn opened_at(next: u32) -> Self {
        Head(Head::open(next, 0).0 | if next.is_multiple_of(2) { 0 } else { Self::OPENED_AT_ODD })
    }

    /// Whether the ring was opened at `count`, for an owner that knows that it was there or one before, and that only
    /// thieves have written to the head since.
    pub(super) fn was_opened_at(self, count: u32) -> bool {
        Head::opened_at(count).0 & Self::OPENED_AT_ODD == self.0 & Self::OPENED_AT_ODD
    }
}
