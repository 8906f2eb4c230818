//! A small random generator, by which a worker picks one of its queues.

/// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled",
/// 2016): a few instructions per number, and the same numbers for the same seed.
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number below `n`, which is not zero.
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        ((high * n as u64) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn each_of_three_gets_its_third() {
        for seed in 0..8 {
            let mut random = Random::new(seed);
            let mut seen = [0_u32; 3];
            (0..3000).for_each(|_| seen[random.below(3)] += 1);
            let is_fair = seen.iter().all(|times| (850..1150).contains(times));
            assert!(is_fair, "{seen:?}");
        }
    }
}
