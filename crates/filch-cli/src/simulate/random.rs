//! Numbers that only the seed decides.

/// A sequence of numbers: `SplitMix64` by Steele, Lea and Flood.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// Another `stream` of the same seed is another sequence: the world's is not the audio's.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self(seed ^ stream.wrapping_mul(0xd1b5_4a32_d192_ed03));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// From `least` to below `most`, exact to the last bit on every machine.
    pub(super) fn between(&mut self, least: f32, most: f32) -> f32 {
        let fraction = (self.next() >> 40) as f32 / (1_u32 << 24) as f32;
        least + (most - least) * fraction
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_and_a_stream_decide_the_numbers() {
        let take = |seed, stream| {
            let mut random = Random::new(seed, stream);
            [(); 4].map(|()| random.next())
        };
        assert_eq!(take(1, 0), take(1, 0));
        assert_ne!(take(1, 0), take(2, 0));
        assert_ne!(take(1, 0), take(1, 1));
    }

    #[test]
    fn numbers_stay_between_their_bounds() {
        let mut random = Random::new(7, 0);
        let numbers: Vec<f32> = (0..10_000).map(|_| random.between(-3.0, 5.0)).collect();
        assert!(numbers.iter().all(|number| (-3.0..5.0).contains(number)));
        assert!(numbers.iter().any(|&number| number < -2.9));
        assert!(numbers.iter().any(|&number| number > 4.9));
    }
}
