//! A value with nothing else nearby in memory.

use std::{fmt, mem::MaybeUninit, ops::Deref};

/// Keeps whatever lies before or after a value in memory off its cache lines, and off those that the processor fetches
/// along with them.
///
/// It adds distance where `CachePadded` aligns. For what is allocated once in the life of a pool or of a worker: glibc
/// takes some 600 instructions for aligned memory, and 50 for other memory. A value of more than a word may lie across
/// two lines.
#[repr(C)]
pub(crate) struct Apart<T> {
    before: Distance,
    value: T,
    behind: Distance,
}

/// All that can share 128 bytes with one word, because lines are fetched two at a time.
type Distance = [MaybeUninit<usize>; WORDS];

const WORDS: usize = 128 / size_of::<usize>() - 1;

impl<T> Apart<T> {
    pub(crate) const fn new(value: T) -> Self {
        const NOTHING: Distance = [MaybeUninit::uninit(); WORDS];
        Apart { before: NOTHING, value, behind: NOTHING }
    }
}

impl<T: Default> Default for Apart<T> {
    fn default() -> Self {
        Apart::new(T::default())
    }
}

impl<T> Deref for Apart<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Apart<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn neighbours_are_in_another_pair_of_cache_lines() {
        const PAIR: usize = 128;
        let (begin, end) = (offset_of!(Apart<usize>, value), offset_of!(Apart<usize>, behind));
        let pair = |byte: usize| byte / PAIR;
        for place in (PAIR..2 * PAIR).step_by(align_of::<Apart<usize>>()) {
            assert!(pair(place - 1) < pair(place + begin), "its neighbour before it");
            assert!(pair(place + end - 1) < pair(place + size_of::<Apart<usize>>()), "its neighbour after it");
        }
        assert_eq!(format!("{:?}", Apart::new(7)), "7");
    }
}
