//! The head of a stack: one word that says where its oldest item is, and who may take it.

use crate::source::queue::reservation::{RECALLED, RESERVED, Reservation};

/// Where the oldest item is, and which thread it goes to.
///
/// | state | the oldest item goes to | who ends the state |
/// |---|---|---|
/// | open | the thread whose exchange moves `top` | the owner, by reserving the stack |
/// | reserved | the owner | any thread, by recalling it; or the owner, by opening it |
/// | recalled | the owner | the owner, or a recaller after a heavy fence, by opening it |
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
    /// How often the stack was reserved, in units of this; below is `top`.
    const ONE_TIME: u64 = 1 << 32;
    const TIMES: u64 = RECALLED - Self::ONE_TIME;
    const TOP: u64 = Self::ONE_TIME - 1;

    /// The head of a stack that has never been reserved.
    pub(super) fn open_at(top: u32) -> Self {
        Head(u64::from(top))
    }

    /// The oldest item, in every state.
    #[inline(always)]
    pub(super) fn top(self) -> u32 {
        self.0 as u32
    }

    /// The head when the oldest item of an open stack was taken.
    pub(super) fn behind_top(self) -> Self {
        Head(self.0 & Self::TIMES | u64::from(self.top().wrapping_add(1)))
    }

    /// The head when an open stack is reserved once more.
    pub(super) fn reserved(self) -> Self {
        let times = (self.0 & Self::TIMES).wrapping_add(Self::ONE_TIME) & Self::TIMES;
        Head(RESERVED | times | self.0 & Self::TOP)
    }

    pub(super) fn opened(self) -> Self {
        Head(self.0 & (Self::TIMES | Self::TOP))
    }
}
