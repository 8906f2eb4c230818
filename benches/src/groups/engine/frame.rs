//! A frame of a thousand systems of 100 ns, frame after frame.

mod bevy;
mod filch;

use crate::bar::Bar;
use crate::harness::{Effort, Scenario, time};
use crate::memory::of_a_program;
use crate::rivals::WORKERS;

/// Frames before the clock starts.
const FIRST: u64 = 20;

const BEVY: &str = "bevy_ecs, multi-threaded";

pub(super) fn scenario(effort: Effort) -> Scenario {
    let frames = effort.operations(400);
    of(
        "a frame of 1 000 systems of 100 ns",
        WORKERS,
        frames,
        |ours| {
            ours.contender("filch-engine", move || filch::shared(frames, 1))
                .contender("filch-engine, asked from outside", move || {
                    filch::asked(frames, 1)
                })
                .contender("filch-engine, two schedulers", move || {
                    filch::shared(frames, 2)
                })
                .contender("filch-engine, two, asked from outside", move || {
                    filch::asked(frames, 2)
                })
        },
    )
    .bar(Bar::times("filch-engine", 1.5, &["a plain loop"]))
    .bar(Bar::times("filch-engine", 0.6, &[BEVY]))
    .bar(Bar::times("filch-engine, two schedulers", 0.6, &[BEVY]))
}

/// The systems on so many schedulers, and on as many threads of bevy's.
pub(super) fn on_schedulers(schedulers: usize, effort: Effort) -> Scenario {
    let frames = effort.operations(400);
    let name = format!("a frame of 1 000 systems of 100 ns, schedulers: {schedulers}");
    of(&name, schedulers, frames, |ours| {
        ours.contender("filch-engine", move || filch::shared(frames, schedulers))
            .contender("filch-engine, asked from outside", move || {
                filch::asked(frames, schedulers)
            })
    })
}

/// Ours, bevy's with so many threads and with one, and a loop.
fn of(
    name: &str,
    threads: usize,
    frames: u64,
    ours: impl FnOnce(Scenario) -> Scenario,
) -> Scenario {
    let [threads, count] = [threads.to_string(), frames.to_string()];
    let loops = Scenario::new(name, "us").floor("a plain loop", move || plain(frames));
    ours(loops)
        .contender(BEVY, move || of_a_program(&["--bevy", &threads, &count]))
        .contender("bevy_ecs, single-threaded", move || {
            timed(frames, bevy::one_thread())
        })
}

/// The microseconds of each of so many frames on so many threads of bevy's: for a program of its
/// own. Its pool is one for a program, and stays as it was made.
///
/// # Panics
/// If one of them is no number.
pub(crate) fn bevy_frames(threads: &str, frames: &str) -> f64 {
    let threads = threads.parse().expect("a number");
    let frames = frames.parse().expect("a number");
    timed(frames, bevy::many_threads(threads))
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
