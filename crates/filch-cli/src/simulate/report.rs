//! The result, for people.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::canvas::Canvas;
use super::render::Remains;

/// The simulation, and its time.
#[derive(Debug)]
pub(crate) struct Report {
    pub(super) boids: u32,
    pub(super) seed: u64,
    pub(super) file: Option<PathBuf>,
    /// The time from the first worker to the end of the last frame.
    pub(super) time: Duration,
    pub(super) remains: Remains,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Remains {
            world,
            sound,
            times,
            workers,
            ..
        } = &self.remains;
        let (frames, seconds) = (times.frames(), self.time.as_secs_f64());
        writeln!(f, "boids           {}, seed {}", self.boids, self.seed)?;
        let rate = frames as f64 / seconds;
        writeln!(
            f,
            "frames          {frames}, in {seconds:.3} s: {rate:.0} a second"
        )?;
        if let Some(file) = &self.file {
            let (width, height) = (Canvas::WIDTH, Canvas::HEIGHT);
            writeln!(
                f,
                "picture         {}, {width}x{height} pixels",
                file.display()
            )?;
        }
        let (length, level) = (sound.seconds(), sound.level());
        writeln!(
            f,
            "sound           {length:.2} s, {level:.1} dB, checksum {}",
            sound.checksum()
        )?;
        writeln!(f, "world           checksum {world}")?;
        writeln!(f, "\n{times}")?;
        writeln!(
            f,
            "{:<12}{:<12}{:>12}{:>12}",
            "worker", "scheduler", "tasks run", "gave way"
        )?;
        for scheduler in &workers.schedulers {
            for worker in &scheduler.workers {
                let (worker_name, name) = (&worker.name, &scheduler.name);
                let (ran, gave_way) = (worker.ran, worker.gave_way);
                writeln!(f, "{worker_name:<12}{name:<12}{ran:>12}{gave_way:>12}")?;
            }
        }
        Ok(())
    }
}
