//! A schedule of bevy's, with the systems' data as resources.

use bevy_ecs::schedule::Schedule;
use bevy_ecs::system::{Res, ResMut};
use bevy_ecs::world::World;

use crate::systems::{Own, Settings, Visitor, one, two, visit};

/// The data, and all systems, in no order.
pub fn schedule() -> (World, Schedule) {
    let mut systems = Systems {
        world: World::new(),
        schedule: Schedule::default(),
    };
    systems.world.insert_resource(Settings::default());
    visit(&mut systems);
    (systems.world, systems.schedule)
}

struct Systems {
    world: World,
    schedule: Schedule,
}

impl Visitor for Systems {
    fn one<const N: usize>(&mut self) {
        self.world.insert_resource(Own::<N>::new());
        self.schedule
            .add_systems(|mut own: ResMut<'_, Own<N>>| one(&mut own));
    }

    fn two<const N: usize>(&mut self) {
        self.world.insert_resource(Own::<N>::new());
        let system = |mut own: ResMut<'_, Own<N>>, settings: Res<'_, Settings>| {
            two(&mut own, &settings);
        };
        self.schedule.add_systems(system);
    }
}
