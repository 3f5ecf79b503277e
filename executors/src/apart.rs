//! A value with nothing beside it.

use std::{mem::MaybeUninit, ops::Deref};

/// Keeps whatever lies before or behind a value in memory off its cache lines, and off those that the processor fetches
/// along with them.
///
/// By distance, where `CachePadded` aligns. For what is allocated by itself, once in a pool's life or for a spawner:
/// glibc takes some 600 instructions for aligned memory, and 50 for other. A value of more than a word may lie across
/// two lines.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Apart<T> {
    before: Distance,
    value: T,
    behind: Distance,
}

/// As two lines are fetched at a time, all that shares 128 bytes with one word.
type Distance = [MaybeUninit<u64>; 15];

impl<T> Apart<T> {
    pub(crate) const fn new(value: T) -> Self {
        const NOTHING: Distance = [MaybeUninit::uninit(); 15];
        Apart { before: NOTHING, value, behind: NOTHING }
    }
}

impl<T> Deref for Apart<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_share_a_pair_of_lines() {
        let pair = |place: &Apart<u64>| std::ptr::from_ref(&**place).addr() / 128;
        let row: Vec<_> = (0..100).map(Apart::new).collect();
        assert!(row.windows(2).all(|two| pair(&two[0]) != pair(&two[1])));
    }
}
