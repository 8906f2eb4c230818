//! Drawing the Mandelbrot set by fork/join: a recursion over rectangles. Some of its leaves take
//! forty times as long as others.
//!
//! The same code, `drawing`, draws the picture in two forms: by one thread without a pool, and by a
//! pool's workers. Both pictures must be equal, and their times are the speed-up.
//!
//! Read in this order: `area`, which cuts; `canvas`, which is why no two branches share memory;
//! `drawing`, which forks; then `run` below. The others know nothing of fork/join.

mod accounts;
mod area;
mod canvas;
mod colour;
mod drawing;
mod error;
mod plane;
mod report;
mod size;
#[cfg(test)]
mod tests;

use std::collections::TryReserveError;
use std::fs::File;
use std::mem;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use filch::fork_join::{Config, Pool};

use accounts::{Accounts, Share};
use area::Area;
use canvas::{Canvas, Pixel};
use colour::Colour;
use drawing::{Alone, Drawing};
pub(crate) use error::MandelbrotError;
use plane::Plane;
pub(crate) use report::Report;
pub(crate) use size::Size;

/// The settings of a picture.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The file of the picture.
    pub(crate) file: PathBuf,
    pub(crate) size: Size,
    /// Threads of the pool; `None`: as many as the system has cores.
    pub(crate) threads: Option<usize>,
    /// Set if each tile is tinted by the worker that drew it.
    pub(crate) who: bool,
}

/// The number of drawings in each form: the machine has other work, too, and least in the fastest
/// round.
const ROUNDS: usize = 3;

/// Draws the picture in both forms, and compares. Writes the picture of the report: the workers'
/// fastest.
pub(crate) fn run(settings: &Settings) -> Result<Report, MandelbrotError> {
    let size = settings.size;
    let no_memory = |_: TryReserveError| MandelbrotError::NoMemory(size);
    let unwritable = |error| MandelbrotError::File(settings.file.clone(), error);

    // Refusals come before the work.
    let mut config = Config::default();
    if let Some(threads) = settings.threads {
        config = config.threads(threads);
    }
    let pool = Pool::start(config).map_err(MandelbrotError::Start)?;
    let blank = || Canvas::new(size).map_err(no_memory);
    let mut canvases = [blank()?, blank()?, blank()?];
    let file = File::create(&settings.file).map_err(unwritable)?;

    let (alone, together) = compare(&mut canvases, |canvas| draw_together(canvas, &pool))?;
    let [.., fastest] = canvases;
    let who = settings.who.then_some(pool.threads());
    let rows = fastest.rows(|pixel| paint(pixel, who)).map_err(no_memory)?;
    crate::png::write(file, (size.width(), size.height()), &rows).map_err(unwritable)?;
    Ok(Report {
        file: settings.file.clone(),
        size,
        who: settings.who,
        alone,
        together: together.time,
        shares: together.shares,
    })
}

/// Draws the picture alone and by `draw_together`, by turns. Returns the best time alone, and the
/// fastest drawing of the others, whose picture is in the last canvas.
fn compare(
    [expected, picture, fastest]: &mut [Canvas; 3],
    draw_together: impl Fn(&mut Canvas) -> Drawn,
) -> Result<(Duration, Drawn), MandelbrotError> {
    let mut alone = Duration::MAX;
    let mut together = Drawn::never();
    for _ in 0..ROUNDS {
        alone = alone.min(draw_alone(expected).time);
        let drawn = draw_together(picture);
        let differences = picture.differences(expected);
        if differences > 0 {
            return Err(MandelbrotError::Wrong(differences));
        }
        if drawn.time < together.time {
            together = drawn;
            mem::swap(picture, fastest);
        }
    }
    Ok((alone, together))
}

/// The time and the work of a drawing.
struct Drawn {
    time: Duration,
    /// Indexed by worker.
    shares: Vec<Share>,
}

impl Drawn {
    /// Makes one that is slower than any drawing.
    fn never() -> Self {
        Self {
            time: Duration::MAX,
            shares: Vec::new(),
        }
    }
}

/// Draws the whole picture on the calling thread.
fn draw_alone(canvas: &mut Canvas) -> Drawn {
    draw(canvas, 1, |drawing, whole, pixels| {
        drawing.draw(&Alone, whole, pixels);
    })
}

/// Draws the picture by the pool's workers.
fn draw_together(canvas: &mut Canvas, pool: &Pool) -> Drawn {
    draw(canvas, pool.threads(), |drawing, whole, pixels| {
        pool.install(|worker| drawing.draw(worker, whole, pixels));
    })
}

fn draw(
    canvas: &mut Canvas,
    workers: usize,
    begin: impl FnOnce(&Drawing, Area, &mut [Pixel]),
) -> Drawn {
    let drawing = Drawing {
        plane: Plane::of(canvas.size()),
        accounts: Accounts::of(workers),
    };
    let began = Instant::now();
    begin(&drawing, Area::whole(canvas.size()), canvas.pixels_mut());
    Drawn {
        time: began.elapsed(),
        shares: drawing.accounts.shares(),
    }
}

/// Returns the colour of a pixel in the file, tinted for its worker if `who` has their number.
fn paint(pixel: Pixel, who: Option<usize>) -> Colour {
    match who {
        Some(workers) => pixel
            .colour
            .tinted(Colour::of_worker(pixel.worker.into(), workers)),
        None => pixel.colour,
    }
}
