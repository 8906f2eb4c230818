//! The world: boids, and their motion in a step.
//!
//! The rules are Reynolds's (*Flocks, Herds, and Schools*, 1987): keep apart, fly like the others,
//! stay with them; and an attractor, which the player moves. All sums are taken in a fixed order,
//! from exactly rounded operations alone, so that a world is the same on every machine.

use super::checksum::Checksum;
use super::grid::Grid;
use super::vector::Vector;
use crate::random::Random;

/// The size of the world. A pixel of the picture is one by one.
pub(super) const SIZE: Vector = Vector {
    x: 1280.0,
    y: 720.0,
};

/// Steps a second.
pub(super) const STEPS_A_SECOND: u32 = 60;

const SIGHT: f32 = 24.0;
const APART: f32 = 10.0;
const TOUCH: f32 = 2.0;
const SLOWEST: f32 = 1.0;
const FASTEST: f32 = 4.0;
const WEIGHT_APART: f32 = 0.06;
const WEIGHT_ALIKE: f32 = 0.06;
const WEIGHT_TOGETHER: f32 = 0.002;
const WEIGHT_ATTRACTOR: f32 = 0.05;
/// The distance to a wall from which a boid turns away, by `TURN` in a step.
const MARGIN: f32 = 40.0;
const TURN: f32 = 0.2;

/// All boids, and the attractor.
#[derive(Debug, Clone)]
pub(super) struct World {
    places: Vec<Vector>,
    speeds: Vec<Vector>,
    attractor: Vector,
    /// The speeds of the next step: each depends on all the old ones.
    next: Vec<Vector>,
    grid: Grid,
}

/// The pairs of boids that touch each other in a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Touches {
    pub(super) pairs: u32,
    /// The sum of the horizontal places of one boid of each pair.
    pub(super) x: f32,
}

impl Touches {
    /// Returns their mean horizontal place, from 0, which is left, to 1.
    pub(super) fn across(self) -> f32 {
        self.x / (self.pairs.max(1) as f32 * SIZE.x)
    }
}

impl World {
    /// Makes a world with boids in random places.
    pub(super) fn new(boids: u32, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let places: Vec<_> = (0..boids)
            .map(|_| Vector::new(random.between(0.0, SIZE.x), random.between(0.0, SIZE.y)))
            .collect();
        let speeds =
            (0..boids).map(|_| Vector::new(random.between(-2.0, 2.0), random.between(-2.0, 2.0)));
        Self {
            speeds: speeds
                .map(|speed| speed.clamped(SLOWEST, FASTEST))
                .collect(),
            next: vec![Vector::ZERO; places.len()],
            grid: Grid::new(SIZE, SIGHT),
            attractor: SIZE * 0.5,
            places,
        }
    }

    /// Moves the attractor.
    pub(super) fn attract(&mut self, to: Vector) {
        self.attractor = to;
    }

    pub(super) fn attractor(&self) -> Vector {
        self.attractor
    }

    /// Returns the place and the speed of each boid.
    pub(super) fn boids(&self) -> impl Iterator<Item = (Vector, Vector)> {
        self.places.iter().copied().zip(self.speeds.iter().copied())
    }

    /// Returns the mean speed of the boids, as a part of the highest.
    pub(super) fn haste(&self) -> f32 {
        let sum: f32 = self.speeds.iter().map(|speed| speed.length()).sum();
        sum / (self.speeds.len() as f32 * FASTEST)
    }

    /// Moves the world by a step. Returns the boids that touched each other before the move.
    pub(super) fn step(&mut self) -> Touches {
        self.grid.fill(&self.places);
        let mut touches = Touches::default();
        for index in 0..self.places.len() {
            self.next[index] = self.steer(index, &mut touches);
        }
        std::mem::swap(&mut self.speeds, &mut self.next);
        for (place, speed) in self.places.iter_mut().zip(&self.speeds) {
            *place += *speed;
            place.x = place.x.clamp(0.0, SIZE.x);
            place.y = place.y.clamp(0.0, SIZE.y);
        }
        touches
    }

    /// Returns the next speed of a boid.
    fn steer(&self, index: usize, touches: &mut Touches) -> Vector {
        let (place, speed) = (self.places[index], self.speeds[index]);
        let (mut apart, mut alike, mut together) = (Vector::ZERO, Vector::ZERO, Vector::ZERO);
        let mut seen = 0.0;
        for other in self.grid.around(place) {
            let way = self.places[other] - place;
            let distance_squared = way.length_squared();
            if other == index || distance_squared >= SIGHT * SIGHT {
                continue;
            }
            if distance_squared < APART * APART {
                apart = apart - way;
            }
            // The first of a pair reports it.
            if distance_squared < TOUCH * TOUCH && index < other {
                touches.pairs += 1;
                touches.x += place.x;
            }
            alike += self.speeds[other];
            together += way;
            seen += 1.0;
        }
        let mut next = speed + apart * WEIGHT_APART;
        if seen > 0.0 {
            let others = 1.0 / seen;
            next += (alike * others - speed) * WEIGHT_ALIKE;
            next += together * others * WEIGHT_TOGETHER;
        }
        next += (self.attractor - place).clamped(0.0, 1.0) * WEIGHT_ATTRACTOR;
        next.x += away_from_walls(place.x, SIZE.x);
        next.y += away_from_walls(place.y, SIZE.y);
        next.clamped(SLOWEST, FASTEST)
    }

    /// Returns the checksum of all places and speeds, to the last bit.
    pub(super) fn checksum(&self) -> Checksum {
        let mut sum = Checksum::EMPTY;
        for (place, speed) in self.boids() {
            for number in [place.x, place.y, speed.x, speed.y] {
                sum.add(&number.to_bits().to_le_bytes());
            }
        }
        sum
    }
}

fn away_from_walls(place: f32, size: f32) -> f32 {
    if place < MARGIN {
        TURN
    } else if place > size - MARGIN {
        -TURN
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::{FASTEST, SIZE, SLOWEST, Vector, World};

    #[test]
    fn nobody_leaves_the_world_or_the_limits_of_speed() {
        let mut world = World::new(300, 3);
        for step in 0..300_u16 {
            // Leads the boids into a corner and beyond.
            world.attract(Vector::new(f32::from(step) * 10.0, -100.0));
            world.step();
            for (place, speed) in world.boids() {
                assert!((0.0..=SIZE.x).contains(&place.x) && (0.0..=SIZE.y).contains(&place.y));
                let speed = speed.length();
                assert!((SLOWEST - 1e-4..FASTEST + 1e-4).contains(&speed), "{speed}");
            }
        }
    }

    #[test]
    fn boids_come_to_the_attractor() {
        let mut world = World::new(300, 4);
        let to = Vector::new(320.0, 180.0);
        let distance = |world: &World| {
            let ways = world.boids().map(|(place, _)| (place - to).length());
            ways.sum::<f32>() / 300.0
        };
        let before = distance(&world);
        world.attract(to);
        (0..300).for_each(|_| {
            world.step();
        });
        assert!(
            distance(&world) < before / 2.0,
            "{before}, {}",
            distance(&world)
        );
    }

    #[test]
    fn a_pair_that_touches_is_told_once_and_where() {
        let mut world = World::new(3, 1);
        world.places = [(640.0, 300.0), (641.0, 300.0), (900.0, 300.0)]
            .map(|(x, y)| Vector::new(x, y))
            .into();
        let touches = world.step();
        assert_eq!((touches.pairs, touches.across()), (1, 0.5));
    }

    #[test]
    fn one_boid_alone_or_two_at_one_place_are_no_matter() {
        for boids in [1, 2] {
            let mut world = World::new(boids, 1);
            world.places.fill(SIZE * 0.5);
            world.attract(SIZE * 0.5);
            world.step();
            assert!(world.haste().is_finite() && world.haste() > 0.0);
        }
    }
}
