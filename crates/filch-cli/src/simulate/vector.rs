//! Places and speeds in the plane.

use std::ops::{Add, AddAssign, Mul, Sub};

/// A place, a way or a speed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Vector {
    pub(super) x: f32,
    pub(super) y: f32,
}

impl Vector {
    pub(super) const ZERO: Self = Self { x: 0.0, y: 0.0 };

    pub(super) fn new(x: f32, y: f32) -> Self {
        Self { x, y }
    }

    pub(super) fn length_squared(self) -> f32 {
        self.x * self.x + self.y * self.y
    }

    /// Returns the length. The root is exact to the last bit on every machine, unlike a sine.
    pub(super) fn length(self) -> f32 {
        self.length_squared().sqrt()
    }

    /// Returns the same direction, with a length between both; if it has none, to the right.
    pub(super) fn clamped(self, least: f32, most: f32) -> Self {
        let length = self.length();
        if length == 0.0 {
            return Self::new(least, 0.0);
        }
        self * (length.clamp(least, most) / length)
    }
}

impl Add for Vector {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y)
    }
}

impl AddAssign for Vector {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Vector {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y)
    }
}

impl Mul<f32> for Vector {
    type Output = Self;

    fn mul(self, by: f32) -> Self {
        Self::new(self.x * by, self.y * by)
    }
}
