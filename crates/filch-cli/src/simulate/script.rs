//! A player that always plays the same.

use super::tasks::Input;
use super::vector::Vector;
use super::world::SIZE;
use crate::random::Random;

/// A player that leads the attractor straight to a place, then to another one.
#[derive(Debug, Clone)]
pub(super) struct Script {
    random: Random,
    at: Vector,
    way: Vector,
    /// The steps until it is there.
    left: u32,
}

/// The steps from one place to the next.
const STEPS: u32 = 90;

impl Script {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed, 1),
            at: SIZE * 0.5,
            way: Vector::ZERO,
            left: 0,
        }
    }

    /// Returns the player's input of the next step.
    pub(super) fn next_input(&mut self) -> Input {
        if self.left == 0 {
            let x = self.random.between(0.1, 0.9) * SIZE.x;
            let y = self.random.between(0.1, 0.9) * SIZE.y;
            self.way = (Vector::new(x, y) - self.at) * (1.0 / STEPS as f32);
            self.left = STEPS;
        }
        self.left -= 1;
        self.at += self.way;
        Input { attractor: self.at }
    }
}
