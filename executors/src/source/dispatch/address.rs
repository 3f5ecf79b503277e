//! Where a job of a subpool goes.

use super::{CPU, NORMAL};

/// A subpool and a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address {
    pub(super) subpool: u32,
    pub(super) level: u32,
}

impl Address {
    pub(crate) fn new(subpool: usize, level: usize) -> Self {
        Address { subpool: subpool as u32, level: level as u32 }
    }

    pub(crate) fn subpool(self) -> usize {
        self.subpool as usize
    }

    pub(super) fn level(self) -> usize {
        self.level as usize
    }

    #[inline]
    pub(super) fn is_stream(self) -> bool {
        self == Address::default()
    }
}

impl Default for Address {
    fn default() -> Self {
        Address { subpool: CPU as u32, level: NORMAL as u32 }
    }
}
