//! Small lists of numbers, and a set of many.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Deref;

/// Numbers; up to three of them take no memory of their own.
pub(super) enum Numbers {
    Few { len: u8, numbers: [u32; FEW] },
    Many(Box<Many>),
}

pub(super) struct Many(Vec<u32>);

const FEW: usize = 3;

impl Numbers {
    pub(super) const NONE: Self = Self::Few {
        len: 0,
        numbers: [0; FEW],
    };

    pub(super) fn push(&mut self, number: u32) {
        match self {
            Self::Many(many) => many.0.push(number),
            Self::Few { len, numbers } => match numbers.get_mut(usize::from(*len)) {
                Some(free) => {
                    *free = number;
                    *len += 1;
                }
                None => {
                    let all = numbers.iter().copied().chain([number]).collect();
                    *self = Self::Many(Box::new(Many(all)));
                }
            },
        }
    }

    /// Takes one number out, if it is there. The order of the others may change.
    pub(super) fn remove(&mut self, number: u32) {
        let Some(at) = self.iter().position(|&other| other == number) else {
            return;
        };
        match self {
            Self::Many(many) => {
                many.0.swap_remove(at);
            }
            Self::Few { len, numbers } => {
                *len -= 1;
                numbers[at] = numbers[usize::from(*len)];
            }
        }
    }
}

impl From<&[u32]> for Numbers {
    fn from(all: &[u32]) -> Self {
        let mut numbers = [0; FEW];
        match numbers.get_mut(..all.len()) {
            Some(few) => {
                few.copy_from_slice(all);
                let len = all.len() as u8;
                Self::Few { len, numbers }
            }
            None => Self::Many(Box::new(Many(all.to_vec()))),
        }
    }
}

impl Deref for Numbers {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match self {
            Self::Few { len, numbers } => &numbers[..usize::from(*len)],
            Self::Many(many) => &many.0,
        }
    }
}

/// A set of numbers that the planner itself gave out.
pub(super) type NumberSet = HashSet<u32, BuildHasherDefault<NumberHasher>>;

/// Hashes by multiplication: nobody can choose these numbers so that they collide (Knuth, "The Art
/// of Computer Programming", volume 3, 6.4).
#[derive(Default)]
pub(super) struct NumberHasher(u64);

/// 2^64 divided by the golden ratio.
pub(super) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(byte.into()));
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(GOLDEN);
    }

    /// Swaps the halves: the upper one is better, and the set looks at the lower one first.
    fn finish(&self) -> u64 {
        self.0.rotate_left(32)
    }
}

#[cfg(test)]
mod tests {
    use super::{FEW, Numbers};

    #[test]
    fn few_and_many_are_the_same_to_their_user() {
        let mut numbers = Numbers::NONE;
        for length in 0..8 {
            let all: Vec<_> = (0..length).collect();
            assert_eq!(*numbers, *all);
            assert_eq!(*Numbers::from(&*all), *all);
            let is_few = matches!(Numbers::from(&*all), Numbers::Few { .. });
            assert_eq!(is_few, all.len() <= FEW);
            numbers.push(length);
        }
        for mut numbers in [numbers, Numbers::from(&[0, 1, 2][..])] {
            let mut left = numbers.to_vec();
            for number in [1, 9, 0, 2] {
                numbers.remove(number);
                left.retain(|&other| other != number);
                let mut found = numbers.to_vec();
                found.sort_unstable();
                assert_eq!(found, left);
            }
        }
    }
}
