//! bevy's schedules, with the systems' data as resources.

use bevy_ecs::schedule::{MultiThreadedExecutor, Schedule, SingleThreadedExecutor};
use bevy_ecs::system::{Res, ResMut};
use bevy_ecs::world::World;
use bevy_tasks::{ComputeTaskPool, TaskPoolBuilder};

use crate::groups::engine::systems::{Own, Settings, Visitor, one, two, visit};
use crate::rivals::WORKERS;

/// The calling thread runs each system.
pub(super) fn one_thread() -> impl FnMut() {
    let mut systems = Systems::new();
    systems.schedule.set_executor(SingleThreadedExecutor::new());
    move || systems.run()
}

/// The threads of bevy's pool, which stays, do. They sleep when no schedule runs.
pub(super) fn many_threads() -> impl FnMut() {
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(WORKERS).build());
    let mut systems = Systems::new();
    systems.schedule.set_executor(MultiThreadedExecutor::new());
    move || systems.run()
}

struct Systems {
    world: World,
    schedule: Schedule,
}

impl Systems {
    fn new() -> Self {
        let mut systems = Self {
            world: World::new(),
            schedule: Schedule::default(),
        };
        systems.world.insert_resource(Settings::new());
        visit(&mut systems);
        systems
    }

    fn run(&mut self) {
        self.schedule.run(&mut self.world);
    }
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
