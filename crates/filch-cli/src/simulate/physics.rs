//! The worker that owns the world. It has neither a fiber nor a `run`: it runs its tasks as they
//! come.

use filch_engine::{Context, Worker};

use super::tasks::{Collisions, Input, Step};
use super::world::World;

pub(super) fn worker(boids: u32, seed: u64) -> Worker {
    Worker::new("physics")
        .owns(move || World::new(boids, seed))
        .on(|input: &Input, world: &mut World| world.attract(input.attractor))
        .on(|_: &Step, world: &mut World, context: Context<'_>| {
            let touches = world.step();
            if touches.pairs > 0 {
                context.broadcast(Collisions(touches));
            }
        })
}
