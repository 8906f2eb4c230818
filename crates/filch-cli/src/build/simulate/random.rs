//! Numbers that only the seed decides.

/// A sequence of numbers: `SplitMix64` by Steele, Lea and Flood.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// Makes a sequence. Each `stream` of a seed is another one.
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

    /// Returns a number below `n`, which is not zero.
    pub(super) fn below(&mut self, n: u32) -> u32 {
        ((u64::from(n) * (self.next() >> 32)) >> 32) as u32
    }

    /// Returns a number from zero to below one.
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a nearly normally distributed number: the sum of twelve from zero to one, less six.
    /// Mean zero, deviation one, and the same bits on every machine.
    pub(super) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
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
    fn numbers_below_a_bound_are_equally_frequent() {
        let mut random = Random::new(7, 0);
        let mut seen = [0; 5];
        (0..10_000).for_each(|_| seen[random.below(5) as usize] += 1);
        assert!(
            seen.iter().all(|times| (1_800..2_200).contains(times)),
            "{seen:?}"
        );
    }

    #[test]
    fn normal_numbers_have_their_mean_and_their_deviation() {
        let mut random = Random::new(3, 0);
        let numbers: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let mean = numbers.iter().sum::<f64>() / 20_000.0;
        let squares = numbers.iter().map(|number| (number - mean).powi(2));
        let variance = squares.sum::<f64>() / 20_000.0;
        assert!(
            mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05,
            "{mean} {variance}"
        );
    }
}
