//! bevy's schedules.

use bevy_ecs::schedule::{MultiThreadedExecutor, SingleThreadedExecutor};
use bevy_tasks::{ComputeTaskPool, TaskPoolBuilder};
use filch_frames::schedule;

/// The calling thread runs each system.
pub(super) fn one_thread() -> impl FnMut() {
    let (mut world, mut schedule) = schedule();
    schedule.set_executor(SingleThreadedExecutor::new());
    move || schedule.run(&mut world)
}

/// The threads of bevy's pool, which stays, do.
pub(super) fn many_threads(threads: usize) -> impl FnMut() {
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(threads).build());
    let (mut world, mut schedule) = schedule();
    schedule.set_executor(MultiThreadedExecutor::new());
    move || schedule.run(&mut world)
}
