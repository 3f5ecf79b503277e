//! Where a job of a subpool goes.

use super::{CPU, NORMAL};

/// A subpool and a level. Made by [`DispatchSource::address`](super::DispatchSource::address), which knows whether that
/// is the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address {
    pub(super) subpool: u32,
    pub(super) level: u16,
    /// Whether jobs are in the stream instead of the queue of this level.
    pub(super) is_stream: bool,
}

impl Address {
    /// The stream, whose jobs are those of the CPU subpool at the normal level.
    pub(super) const STREAM: Address = Address { subpool: CPU as u32, level: NORMAL as u16, is_stream: true };

    /// A queue.
    pub(super) const fn new(subpool: usize, level: usize) -> Self {
        Address { subpool: subpool as u32, level: level as u16, is_stream: false }
    }

    pub(crate) fn subpool(self) -> usize {
        self.subpool as usize
    }

    pub(crate) fn level(self) -> usize {
        usize::from(self.level)
    }

    #[inline]
    pub(super) fn is_stream(self) -> bool {
        self.is_stream
    }
}

/// Where jobs go unless the user has chosen an address.
impl Default for Address {
    fn default() -> Self {
        Address::STREAM
    }
}
