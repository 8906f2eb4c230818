//! A frame of a thousand systems of 100 ns, frame after frame.

mod filch;

use bevy_ecs::schedule::{MultiThreadedExecutor, SingleThreadedExecutor};
use bevy_tasks::{ComputeTaskPool, TaskPoolBuilder};
use filch_frames::schedule;

use crate::alone;
use crate::clock::time;
use crate::harness::{Effort, Scenario};
use crate::workers::WORKERS;

/// Frames before the clock starts.
const FIRST: u64 = 20;

pub(super) fn scenario(effort: Effort) -> Scenario {
    let frames = effort.operations(400);
    let [threads, count] = [WORKERS.to_string(), frames.to_string()];
    Scenario::new("a frame of 1 000 systems of 100 ns with settings", "us")
        .floor("a plain loop", move || plain(frames))
        .contender("filch-engine", move || filch::shared(frames, 1))
        .contender("filch-engine, two schedulers", move || {
            filch::shared(frames, 2)
        })
        .contender("bevy_ecs, multi-threaded", move || {
            alone::figures(&["bevy", &threads, &count])[0]
        })
        .contender("bevy_ecs, single-threaded", move || bevy_alone(frames))
}

/// The microseconds of each of so many frames on so many threads of bevy's: for a program of its
/// own. Its pool is one for a program, and stays as it was made.
pub(crate) fn bevy(threads: usize, frames: u64) -> f64 {
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(threads).build());
    let (mut world, mut schedule) = schedule();
    schedule.set_executor(MultiThreadedExecutor::new());
    timed(frames, || schedule.run(&mut world))
}

/// The calling thread runs each system.
fn bevy_alone(frames: u64) -> f64 {
    let (mut world, mut schedule) = schedule();
    schedule.set_executor(SingleThreadedExecutor::new());
    timed(frames, || schedule.run(&mut world))
}

/// A loop that calls each system.
fn plain(frames: u64) -> f64 {
    let mut systems = filch_frames::list();
    timed(frames, || systems.iter_mut().for_each(|system| system()))
}

/// Microseconds a frame.
fn timed(frames: u64, mut frame: impl FnMut()) -> f64 {
    (0..FIRST).for_each(|_| frame());
    let elapsed = time(|| (0..frames).for_each(|_| frame()));
    elapsed.as_secs_f64() * 1e6 / frames as f64
}
