//! The result, for people.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::accounts::Share;
use super::area::Area;
use super::colour::Colour;
use super::size::Size;

/// The picture, and the gain of fork/join.
#[derive(Debug)]
pub(crate) struct Report {
    pub(super) file: PathBuf,
    pub(super) size: Size,
    /// Set if the workers' colours are in the picture.
    pub(super) who: bool,
    /// The time of one thread, without a pool.
    pub(super) alone: Duration,
    /// The time of all workers.
    pub(super) together: Duration,
    /// The work of each worker, by their index.
    pub(super) shares: Vec<Share>,
}

impl Report {
    /// Returns the part of all workers' time that went into tiles, in percent.
    fn utilisation(&self) -> f64 {
        let busy: Duration = self.shares.iter().map(|share| share.busy).sum();
        self.percentage(busy) / self.shares.len() as f64
    }

    fn percentage(&self, busy: Duration) -> f64 {
        100.0 * busy.as_secs_f64() / self.together.as_secs_f64()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tiles: u64 = self.shares.iter().map(|share| share.tiles).sum();
        let stolen: u64 = self.shares.iter().map(|share| share.stolen).sum();
        let workers = self.shares.len();
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        writeln!(
            f,
            "picture         {}, {} pixels",
            self.file.display(),
            self.size
        )?;
        writeln!(
            f,
            "tiles           {tiles}, of {} pixels at most",
            Area::TILE
        )?;
        writeln!(
            f,
            "jobs            {}, stolen {stolen}",
            tiles.saturating_sub(1)
        )?;
        writeln!(f, "one thread      {:.1} ms", milliseconds(self.alone))?;
        writeln!(
            f,
            "{:<16}{:.1} ms",
            threads(workers),
            milliseconds(self.together)
        )?;
        let speed_up = self.alone.as_secs_f64() / self.together.as_secs_f64();
        writeln!(f, "speed-up        {speed_up:.2}")?;
        writeln!(f)?;

        let tint = if self.who { "     tint" } else { "" };
        writeln!(
            f,
            "worker     tiles    stolen    busy ms  utilisation{tint}"
        )?;
        for (worker, share) in self.shares.iter().enumerate() {
            write!(
                f,
                "{worker:<7}{:>9}{:>10}{:>11.1}{:>11.1} %",
                share.tiles,
                share.stolen,
                milliseconds(share.busy),
                self.percentage(share.busy),
            )?;
            if self.who {
                write!(f, "{:>9}", Colour::of_worker(worker, workers))?;
            }
            writeln!(f)?;
        }
        let busy = self.shares.iter().map(|share| share.busy).sum();
        writeln!(
            f,
            "all    {tiles:>9}{stolen:>10}{:>11.1}{:>11.1} %",
            milliseconds(busy),
            self.utilisation(),
        )
    }
}

/// Returns the name of the line with the time of the pool.
fn threads(number: usize) -> String {
    match number {
        1 => "1 worker".to_owned(),
        _ => format!("{number} workers"),
    }
}
