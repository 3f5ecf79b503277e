//! Numbers that look random, for choices that only need to differ.

use std::cell::Cell;

/// A xorshift generator (Marsaglia, 2003).
pub(super) struct Dice(Cell<u64>);

impl Dice {
    /// The `seed` must not be 0.
    pub(super) fn new(seed: u64) -> Self {
        debug_assert_ne!(seed, 0, "a xorshift generator does not leave 0");
        Dice(Cell::new(seed))
    }

    /// A number below `limit`.
    pub(super) fn below(&self, limit: usize) -> usize {
        let mut x = self.0.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.0.set(x);
        (x % limit as u64) as usize
    }
}
