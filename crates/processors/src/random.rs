//! A small random generator, by which a thief picks its first victim.

use std::cell::Cell;

/// Picks victims: xorshift64*, a few instructions per number (Vigna, "An experimental exploration
/// of Marsaglia's xorshift generators, scrambled", 2016). Thieves need to differ from each other,
/// not to be unpredictable.
#[derive(Debug)]
pub(crate) struct Random(Cell<u64>);

impl Random {
    /// Makes one sequence per seed. Consecutive seeds are spread by an odd constant, and none
    /// becomes zero.
    pub(crate) fn new(seed: usize) -> Self {
        Self(Cell::new(
            (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        ))
    }

    /// Returns a number below `n`, which is not zero.
    pub(crate) fn below(&self, n: usize) -> usize {
        let mut state = self.0.get();
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        self.0.set(state);
        let high = state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        ((high * n as u64) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn every_victim_gets_its_turn() {
        for seed in 0..8 {
            let random = Random::new(seed);
            let mut seen = [0_u32; 7];
            for _ in 0..7000 {
                seen[random.below(7)] += 1;
            }
            assert!(
                seen.iter().all(|&times| (800..1200).contains(&times)),
                "{seen:?}"
            );
        }
    }
}
