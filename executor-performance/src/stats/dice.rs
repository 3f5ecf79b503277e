//! Numbers that look random and are the same in each run.

/// SplitMix64.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Dice that show one of many sequences of numbers.
    pub fn new(sequence: u64) -> Self {
        Dice(sequence)
    }

    /// A number below `limit`, which must not be 0. With a `limit` that is not a power of two, small numbers are
    /// favoured, by less than one in 2^64 / `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

#[cfg(test)]
pub(crate) mod mock {
    use super::*;

    /// A number with an approximately normal distribution, with a standard deviation of 1.
    pub(crate) fn normal(dice: &mut Dice) -> f64 {
        (0..12).map(|_| dice.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_faces_come_up_about_equally_often() {
        let mut dice = Dice::new(0);
        let mut faces = [0_u32; 6];
        for _ in 0..6000 {
            faces[dice.below(6) as usize] += 1;
        }
        assert!(faces.iter().all(|face| (900..1100).contains(face)), "{faces:?}");
    }
}
