//! The head of a stack: one word that says where its oldest item is, and who may take it.

/// Where the oldest item is, and which thread it goes to.
///
/// | state | the oldest item goes to | who ends the state |
/// |---|---|---|
/// | open | the thread whose exchange moves `top` | the owner, by reserving the stack |
/// | reserved | the owner | any thread, by recalling it; or the owner, by opening it |
/// | recalled | the owner | the owner, or a recaller after a heavy fence, by opening it |
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Head(u64);

impl Head {
    const RESERVED: u64 = 1 << 63;
    const RECALLED: u64 = 1 << 62;
    /// How often the stack was reserved, in units of this; below is `top`.
    const ONE_TIME: u64 = 1 << 32;
    const TIMES: u64 = Self::RECALLED - Self::ONE_TIME;
    const TOP: u64 = Self::ONE_TIME - 1;

    #[inline(always)]
    pub(super) fn of(word: u64) -> Self {
        Head(word)
    }

    #[inline(always)]
    pub(super) fn word(self) -> u64 {
        self.0
    }

    /// The head of a stack that has never been reserved.
    pub(super) fn open_at(top: u32) -> Self {
        Head(u64::from(top))
    }

    #[inline(always)]
    pub(super) fn is_open(self) -> bool {
        self.0 < Self::RECALLED
    }

    #[inline(always)]
    pub(super) fn is_reserved(self) -> bool {
        self.0 >= Self::RESERVED
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
        Head(Self::RESERVED | times | self.0 & Self::TOP)
    }

    pub(super) fn recalled(self) -> Self {
        Head(Self::RECALLED | self.0 & (Self::TIMES | Self::TOP))
    }

    pub(super) fn opened(self) -> Self {
        Head(self.0 & (Self::TIMES | Self::TOP))
    }
}
