//! The worker that draws. It has a `run` of its own and no fiber, and so a scheduler for itself: on
//! the main thread, which alone may have a window.

use std::sync::mpsc::Sender;

use filch_engine::{Context, Engine, Report, Worker};

use super::canvas::Canvas;
use super::checksum::Checksum;
use super::frame_times::FrameTimes;
use super::sound::Sound;
use super::tasks::{Over, Ready, Stepped};
use super::window::{Window, WindowError};
use super::world::World;

/// The results of a simulation.
#[derive(Debug)]
pub(super) struct Remains {
    pub(super) world: Checksum,
    pub(super) sound: Sound,
    pub(super) times: FrameTimes,
    pub(super) canvas: Canvas,
    /// The work of each worker, taken while all were there.
    pub(super) workers: Report,
}

/// Makes a worker that draws `frames` frames, in a window if `is_live`, and sends the results.
pub(super) fn worker(
    engine: Engine,
    frames: u32,
    is_live: bool,
    tell: Sender<Result<Remains, WindowError>>,
) -> Worker {
    Worker::new("render")
        .shared::<World>()
        .shared::<Sound>()
        .shared::<FrameTimes>()
        .local(Canvas::new)
        .receives::<Stepped>()
        .receives::<Over>()
        .run(move |context| {
            let window = match is_live {
                true => Window::open().map(Some),
                false => Ok(None),
            };
            let remains = match window {
                Ok(window) => render(context, &engine, frames, window).map(Ok),
                Err(error) => Some(Err(error)),
            };
            if let Some(remains) = remains {
                // The caller of the simulation waits for it.
                let _ = tell.send(remains);
            }
        })
}

/// Draws the frames. Returns `None` if the worker must end.
fn render(
    context: Context<'_>,
    engine: &Engine,
    frames: u32,
    mut window: Option<Window>,
) -> Option<Remains> {
    context.broadcast(Ready);
    let mut left = frames;
    while left > 0 {
        let stepped = context.receive::<Stepped>().ok()?;
        let draw = |world: &World, canvas: &mut Canvas| canvas.draw(world);
        context.lock(draw).ok()?;
        // The input goes on.
        drop(stepped);
        left -= 1;
        if let Some(window) = &mut window
            && !context.lock(|canvas: &Canvas| window.show(canvas)).ok()?
        {
            break;
        }
    }
    // The last frame counts, unless the window was closed.
    if left == 0 {
        drop(context.receive::<Over>().ok()?);
    }
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
