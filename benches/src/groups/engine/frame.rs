//! A frame of a thousand systems of 100 ns, frame after frame.

mod bevy;
mod filch;

use crate::bar::Bar;
use crate::harness::{Effort, Scenario, time};

/// Frames before the clock starts.
const FIRST: u64 = 20;

const BEVY: &str = "bevy_ecs, multi-threaded";

pub(super) fn scenarios(effort: Effort) -> [Scenario; 1] {
    let frames = effort.operations(400);
    let scenario = Scenario::new("a frame of 1 000 systems of 100 ns", "us")
        .floor("a plain loop", move || plain(frames))
        .contender("filch-engine", move || filch::driven(frames))
        .contender("filch-engine, asked from outside", move || {
            filch::asked(frames, 1)
        })
        .contender("filch-engine, two schedulers", move || {
            filch::shared(frames)
        })
        .contender("filch-engine, two, asked from outside", move || {
            filch::asked(frames, 2)
        })
        .contender(BEVY, move || timed(frames, bevy::many_threads()))
        .contender("bevy_ecs, single-threaded", move || {
            timed(frames, bevy::one_thread())
        })
        .bar(Bar::times("filch-engine", 1.5, &["a plain loop"]))
        .bar(Bar::times("filch-engine", 0.6, &[BEVY]))
        .bar(Bar::times("filch-engine, two schedulers", 0.6, &[BEVY]));
    [scenario]
}

/// A loop that calls each system.
fn plain(frames: u64) -> f64 {
    let mut systems = filch_frames::plain::systems();
    timed(frames, || systems.iter_mut().for_each(|system| system()))
}

/// Microseconds a frame.
fn timed(frames: u64, mut frame: impl FnMut()) -> f64 {
    (0..FIRST).for_each(|_| frame());
    let elapsed = time(|| (0..frames).for_each(|_| frame()));
    elapsed.as_secs_f64() * 1e6 / frames as f64
}
