//! The worker that draws. It has a `run` of its own and no fiber, and so a scheduler for itself: on
//! the main thread.

use std::sync::mpsc::Sender;

use filch_engine::{Context, Engine, Report, Worker};

use super::canvas::Canvas;
use super::checksum::Checksum;
use super::frame_times::FrameTimes;
use super::sound::Sound;
use super::tasks::{Over, Ready, Stepped};
use super::world::World;

/// What is left of a simulation.
#[derive(Debug)]
pub(super) struct Remains {
    pub(super) world: Checksum,
    pub(super) sound: Sound,
    pub(super) times: FrameTimes,
    pub(super) canvas: Canvas,
    /// What each worker did, as long as all were there.
    pub(super) workers: Report,
}

/// Draws so many frames, and tells what is left.
pub(super) fn worker(engine: Engine, frames: u32, tell: Sender<Remains>) -> Worker {
    Worker::new("render")
        .shared::<World>()
        .shared::<Sound>()
        .shared::<FrameTimes>()
        .local(Canvas::new)
        .receives::<Stepped>()
        .receives::<Over>()
        .run(move |context| {
            if let Some(remains) = render(context, &engine, frames) {
                // The one that started all this waits for it.
                let _ = tell.send(remains);
            }
        })
}

/// `None`: it is to end.
fn render(context: Context<'_>, engine: &Engine, frames: u32) -> Option<Remains> {
    context.broadcast(Ready);
    for _ in 0..frames {
        let stepped = context.receive::<Stepped>().ok()?;
        let draw = |world: &World, canvas: &mut Canvas| canvas.draw(world);
        context.lock(draw).ok()?;
        // The input goes on.
        drop(stepped);
    }
    // The last frame is accounted for.
    drop(context.receive::<Over>().ok()?);
    let workers = engine.report();
    let remain = |world: &World, sound: &Sound, times: &FrameTimes, canvas: &Canvas| Remains {
        world: world.checksum(),
        sound: sound.clone(),
        times: times.clone(),
        canvas: canvas.clone(),
        workers,
    };
    context.lock(remain).ok()
}
