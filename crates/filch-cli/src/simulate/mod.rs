//! A game without a player: boids that a script leads, in steps of equal length, on the engine.
//!
//! Four workers, one of each kind:
//!
//! | worker | a stack of its own | a `run` of its own | does |
//! |---|---|---|---|
//! | input | yes, a fiber | yes | has the loop of the game: says what comes next, waits for it |
//! | physics | no | no | owns the world, and moves it |
//! | audio | yes, a fiber | no | owns the sound; reads the world |
//! | render | no | yes | reads the world, and draws it; alone on the main thread |
//!
//! Audio and render look at the world at the same time. Nobody changes it meanwhile: the workers
//! keep in step by tasks, and the engine would not let them.
//!
//! The same seed gives the same world, the same sound and the same picture, to the last bit,
//! whatever the schedulers are.
//!
//! Read in this order: `tasks`, which has the course of a frame; `input`, `physics`, `audio` and
//! `render`, which are the workers; then `run` below. The others know nothing of the engine.

mod audio;
mod canvas;
mod checksum;
mod error;
mod frame_times;
mod grid;
mod input;
mod physics;
mod render;
mod report;
mod script;
mod sound;
mod tasks;
#[cfg(test)]
mod tests;
mod vector;
mod world;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Instant;

use filch_engine::{Engine, Exit, LocalScheduler, Worker};

use canvas::Canvas;
pub(crate) use error::SimulateError;
use render::Remains;
pub(crate) use report::Report;

/// What is simulated, and by whom.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Where the last frame goes, if anywhere.
    pub(crate) file: Option<PathBuf>,
    pub(crate) frames: u32,
    pub(crate) boids: u32,
    pub(crate) seed: u64,
    /// Schedulers beside the main thread's: from one for all to one for each worker.
    pub(crate) schedulers: usize,
}

/// Simulates, and writes the last frame.
pub(crate) fn run(settings: &Settings) -> Result<Report, SimulateError> {
    // What may be refused comes before the work.
    let unwritable = |path: &Path| {
        let path = path.to_owned();
        |error| SimulateError::File(path, error)
    };
    let file = match &settings.file {
        Some(path) => Some((path, File::create(path).map_err(unwritable(path))?)),
        None => None,
    };
    let began = Instant::now();
    let remains = simulate(settings, workers(settings))?;
    let time = began.elapsed();
    if let Some((path, file)) = file {
        let size = (Canvas::WIDTH as u32, Canvas::HEIGHT as u32);
        crate::png::write(file, size, remains.canvas.rows()).map_err(unwritable(path))?;
    }
    Ok(Report {
        boids: settings.boids,
        seed: settings.seed,
        file: settings.file.clone(),
        time,
        remains,
    })
}

/// The workers beside the one that renders.
struct Workers {
    input: Worker,
    physics: Worker,
    audio: Worker,
}

fn workers(settings: &Settings) -> Workers {
    Workers {
        input: input::worker(settings.seed, settings.frames),
        physics: physics::worker(settings.boids, settings.seed),
        audio: audio::worker(settings.seed),
    }
}

/// On an engine of its own, which has ended when this returns.
fn simulate(settings: &Settings, workers: Workers) -> Result<Remains, SimulateError> {
    let engine = Engine::new();
    let remains = play(&engine, settings, workers);
    engine.terminate();
    engine.join();
    remains
}

fn play(engine: &Engine, settings: &Settings, workers: Workers) -> Result<Remains, SimulateError> {
    let (tell, told) = channel();
    let render = render::worker(engine.clone(), settings.frames, tell);
    let drive = |main: &LocalScheduler| {
        let start = |number| engine.scheduler(format!("thread {number}"));
        let threads = (1..=settings.schedulers).map(start);
        let threads = threads.collect::<Result<Vec<_>, _>>()?;
        // The input comes last: all that it sends reaches the others.
        let workers = [
            main.handle().add(render)?,
            threads[0].add(workers.physics)?,
            threads[1 % threads.len()].add(workers.audio)?,
            threads[2 % threads.len()].add(workers.input)?,
        ];
        // The first to end is the one that renders, if all goes well.
        while workers.iter().all(|worker| worker.exit().is_none()) {
            main.update();
        }
        Ok::<_, SimulateError>(workers)
    };
    let workers = engine.local_scheduler("main", drive)??;
    match told.try_recv() {
        Ok(remains) => Ok(remains),
        Err(_) => {
            let exits = workers.map(|worker| {
                // Refused if it has ended by itself, which is as good.
                let _ = worker.remove();
                (worker.name().to_owned(), worker.join())
            });
            Err(first_failure(exits))
        }
    }
}

/// One has ended by itself, and that has ended others: this one.
fn first_failure(mut exits: [(String, Exit); 4]) -> SimulateError {
    exits.sort_by_key(|(_, exit)| match exit {
        Exit::Panicked { .. } | Exit::NoStack => 0,
        Exit::Finished => 1,
        _ => 2,
    });
    let [(worker, exit), ..] = exits;
    SimulateError::Ended(worker, exit)
}
