//! Bodies that attract each other: each step, every body looks at all others.

use rayon::prelude::*;

use crate::program::{Effort, Prepared, Program, mixed};

pub(crate) const BODIES: Program = Program {
    name: "nbody",
    prepare,
};

const STEP: f64 = 0.01;

/// Added to the square of each distance, so that no two bodies are at the same place.
const SOFTENING: f64 = 0.05;

#[derive(Clone, Debug, PartialEq)]
struct Body {
    place: [f64; 3],
    velocity: [f64; 3],
    mass: f64,
}

fn prepare(effort: Effort) -> Prepared {
    let bodies: Vec<_> = (0..effort.pick(2_000, 100)).map(Body::new).collect();
    let steps = effort.pick(10, 2);
    Prepared::new(
        move || bodies.clone(),
        move |bodies| {
            for _ in 0..steps {
                *bodies = bodies.iter().map(|body| body.after(bodies)).collect();
            }
            bodies.clone()
        },
        move |bodies| {
            for _ in 0..steps {
                *bodies = bodies.par_iter().map(|body| body.after(bodies)).collect();
            }
            bodies.clone()
        },
    )
}

impl Body {
    fn new(number: u64) -> Self {
        // From 0 to 1.
        let random = |axis| mixed(4 * number + axis) as f64 / u64::MAX as f64;
        Self {
            place: [0, 1, 2].map(random),
            velocity: [0.0; 3],
            mass: random(3),
        }
    }

    /// Returns this body one step later.
    fn after(&self, bodies: &[Self]) -> Self {
        let mut pull = [0.0; 3];
        for other in bodies {
            let way: [f64; 3] = std::array::from_fn(|axis| other.place[axis] - self.place[axis]);
            let square = way.iter().map(|part| part * part).sum::<f64>() + SOFTENING;
            let force = other.mass / (square * square.sqrt());
            for (pull, part) in pull.iter_mut().zip(way) {
                *pull += force * part;
            }
        }
        let velocity: [f64; 3] =
            std::array::from_fn(|axis| self.velocity[axis] + STEP * pull[axis]);
        Self {
            place: std::array::from_fn(|axis| self.place[axis] + STEP * velocity[axis]),
            velocity,
            mass: self.mass,
        }
    }
}
