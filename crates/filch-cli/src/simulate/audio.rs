//! The worker that makes the sound, in a fiber, without a `run` of its own: it runs its tasks as
//! they come, and could wait within one.

use filch_engine::Worker;

use super::sound::Sound;
use super::tasks::{Collisions, Stepped};
use super::world::World;

pub(super) fn worker(seed: u64) -> Worker {
    Worker::new("audio")
        .in_fiber()
        .owns(move || Sound::new(seed))
        .shared::<World>()
        .on(|collisions: &Collisions, sound: &mut Sound| sound.strike(collisions.0))
        .on(|_: &Stepped, world: &World, sound: &mut Sound| sound.mix(world.haste()))
}
