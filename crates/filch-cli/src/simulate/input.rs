//! The worker that plays: it decides the content and the time of each frame. In a fiber, with a
//! `run` of its own.
//!
//! It reads like the loop of a game, and waits for others anywhere: in a fiber, no other worker
//! stands still for that.

use std::time::{Duration, Instant};

use filch_engine::{Context, Worker};

use super::frame_times::FrameTimes;
use super::script::Script;
use super::tasks::{Over, Ready, Step, Stepped};

/// Makes a worker that plays `frames` frames: in turn, or, with a `pace`, one in that time.
pub(super) fn worker(seed: u64, frames: u32, pace: Option<Duration>) -> Worker {
    Worker::new("input")
        .in_fiber()
        .owns(FrameTimes::new)
        .receives::<Ready>()
        .run(move |context| {
            // `None`: it must end. If another worker must, render misses that one's data.
            let _ = play(context, Script::new(seed), frames, pace);
        })
}

fn play(
    context: Context<'_>,
    mut script: Script,
    frames: u32,
    pace: Option<Duration>,
) -> Option<()> {
    drop(context.receive::<Ready>().ok()?);
    let mut due = Instant::now();
    for _ in 0..frames {
        let began = Instant::now();
        context.broadcast(script.next_input());
        context.complete(Step).ok()?;
        // Waits until the frame is heard and drawn.
        context.complete(Stepped).ok()?;
        let add = |times: &mut FrameTimes| times.add(began.elapsed());
        context.lock(add).ok()?;
        if let Some(pace) = pace {
            due += pace;
            context.sleep_until(due).ok()?;
        }
    }
    context.broadcast(Over);
    // Its data lives as long as it does.
    context.wait_until(|| false).ok()
}
