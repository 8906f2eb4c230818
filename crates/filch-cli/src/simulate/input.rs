//! The worker that plays: it says what each frame is made of, and when. In a fiber, with a `run` of
//! its own.
//!
//! It reads like the loop of a game, and waits for others wherever it likes: in a fiber, nobody has
//! to stand still for that.

use std::time::Instant;

use filch_engine::{Context, Worker};

use super::frame_times::FrameTimes;
use super::script::Script;
use super::tasks::{Over, Ready, Step, Stepped};

/// Plays so many frames, one after the other.
pub(super) fn worker(seed: u64, frames: u32) -> Worker {
    Worker::new("input")
        .in_fiber()
        .owns(FrameTimes::new)
        .receives::<Ready>()
        .run(move |context| {
            // `None`: it is to end. If another worker does, render misses that one's data.
            let _ = play(context, Script::new(seed), frames);
        })
}

fn play(context: Context<'_>, mut script: Script, frames: u32) -> Option<()> {
    drop(context.receive::<Ready>().ok()?);
    for _ in 0..frames {
        let began = Instant::now();
        context.broadcast(script.next_input());
        context.complete(Step).ok()?;
        // Until it is heard and drawn.
        context.complete(Stepped).ok()?;
        let add = |times: &mut FrameTimes| times.add(began.elapsed());
        context.lock(add).ok()?;
    }
    context.broadcast(Over);
    // What it owns lives as long as it does.
    context.wait_until(|| false).ok()
}
