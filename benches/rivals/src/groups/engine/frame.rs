//! A frame of a thousand systems of 100 ns, frame after frame.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bevy_ecs::schedule::{MultiThreadedExecutor, SingleThreadedExecutor};
use bevy_tasks::{ComputeTaskPool, TaskPoolBuilder};
use filch_engine::{Context, LocalScheduler, Worker};
use filch_frames::{Frame, SYSTEMS, Settings, schedule, share};

use super::{Ends, add};
use crate::alone;
use crate::clock::time;
use crate::harness::Scenario;
use crate::work::WORKERS;

/// Frames before the clock starts.
const FIRST: u64 = 20;

pub(super) fn scenario() -> Scenario {
    let frames = 50;
    let [threads, count] = [WORKERS.to_string(), frames.to_string()];
    Scenario::new("a frame of 1 000 systems of 100 ns with settings", "us")
        .floor("a plain loop", move || plain(frames))
        .contender("filch-engine", move || shared(frames, 1))
        .contender("filch-engine, two schedulers", move || shared(frames, 2))
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

/// A worker is through with a frame.
#[derive(Clone)]
struct Done;

/// A worker in a scheduler that the calling thread drives, and one in each of those that have
/// threads. Their [`Done`] wakes the caller.
pub(super) fn shared(frames: u64, schedulers: usize) -> f64 {
    let engine = Ends::new();
    let drive = |local: &LocalScheduler| {
        let done = Arc::new(AtomicU64::new(0));
        let mut workers = workers(schedulers, &done);
        local
            .handle()
            .add(workers.next().expect("the first"))
            .expect("it fits");
        if schedulers > 1 {
            let hears = Worker::new("hears").on(|_: &Done| {});
            local.handle().add(hears).expect("it fits");
        }
        // The others read what the first owns.
        local.update();
        for worker in workers {
            add(&engine.start("other"), worker);
        }
        let sender = engine.0.sender::<Frame>();
        let mut sent = 0;
        timed(frames, || {
            sender.send(Frame);
            sent += schedulers as u64;
            while done.load(Ordering::Acquire) < sent {
                local.update();
            }
        })
    };
    engine
        .0
        .local_scheduler("local", drive)
        .expect("the first one")
}

/// Makes `count` workers with equal shares of the systems. Each adds one to `done` when it is
/// through with a frame. The settings are the first one's.
fn workers(count: usize, done: &Arc<AtomicU64>) -> impl Iterator<Item = Worker> {
    (0..count).map(move |number| {
        let worker = Worker::new(number.to_string());
        let worker = match number {
            0 => worker.owns(Settings::default),
            _ => worker.shared::<Settings>(),
        };
        let part = number * SYSTEMS / count..(number + 1) * SYSTEMS / count;
        let worker = share(worker, part);
        let done = Arc::clone(done);
        worker.on(move |_: &Frame, context: Context<'_>| {
            done.fetch_add(1, Ordering::Release);
            context.broadcast(Done);
        })
    })
}
