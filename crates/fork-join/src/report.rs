//! The jobs on a thread's stack, readable by others: for a human who wonders why a pool hangs.

use std::fmt;
// std's in a model, too: it orders nothing.
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use crate::job::{Name, NameCell};
use crate::shared::Shared;

/// The number of jobs that are kept by name, from the outermost on.
const NAMED: usize = 8;

/// The occupation of a thread of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doing {
    /// It runs the innermost of its jobs.
    Runs,
    /// In the middle of a job it waits for another one, and looks for something to do meanwhile.
    Looks,
    /// In the middle of a job it sleeps until another one is done, or there is something to do.
    Sleeps,
    /// It is in a [`blocking`](crate::Worker::blocking) call.
    Blocks,
    /// It has no job: it looks for one or sleeps; or it is a [caller](crate::Config::with_caller),
    /// who does something else.
    Idle,
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Runs => "runs",
            Self::Looks => "looks for work",
            Self::Sleeps => "sleeps",
            Self::Blocks => "blocks",
            Self::Idle => "has no job",
        })
    }
}

/// The jobs that a thread has begun and not ended, each in the middle of the one before, and what
/// it does in the innermost.
///
/// Written by the thread alone, and read word by word: a reader that comes in between sees some of
/// before and some of after.
#[derive(Debug, Default)]
pub(crate) struct JobStack {
    names: [NameCell; NAMED],
    /// The number of jobs on the stack.
    depth: AtomicU32,
    doing: AtomicU8,
}

impl JobStack {
    pub(crate) fn begin(&self, name: &'static Name) {
        let depth = self.depth();
        if let Some(place) = self.names.get(depth) {
            place.set(name);
        }
        self.set_depth(depth + 1);
    }

    pub(crate) fn end(&self) {
        self.set_depth(self.depth() - 1);
    }

    /// Says what the thread does from now on.
    pub(crate) fn set_doing(&self, doing: Doing) {
        // ORDERING: Relaxed: a report, by which nobody goes.
        self.doing.store(doing as u8, Ordering::Relaxed);
    }

    /// Reports on the thread with that index.
    pub(crate) fn read(&self, index: usize) -> ThreadReport {
        let depth = self.depth();
        let names = self.names.iter().take(depth).filter_map(NameCell::get);
        ThreadReport {
            index,
            doing: match self.doing() {
                Doing::Runs if depth == 0 => Doing::Idle,
                doing => doing,
            },
            depth,
            jobs: names.collect(),
        }
    }

    fn depth(&self) -> usize {
        // ORDERING: Relaxed: the thread's own word. For others, a report, by which nobody goes.
        self.depth.load(Ordering::Relaxed) as usize
    }

    fn set_depth(&self, depth: usize) {
        // ORDERING: Relaxed: as in `depth`.
        self.depth.store(depth as u32, Ordering::Relaxed);
    }

    fn doing(&self) -> Doing {
        // ORDERING: Relaxed: as in `set_doing`.
        match self.doing.load(Ordering::Relaxed) {
            doing if doing == Doing::Looks as u8 => Doing::Looks,
            doing if doing == Doing::Sleeps as u8 => Doing::Sleeps,
            doing if doing == Doing::Blocks as u8 => Doing::Blocks,
            _ => Doing::Runs,
        }
    }
}

/// The report on a thread of a pool: see [`Pool::report`](crate::Pool::report).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadReport {
    /// The [index](crate::Worker::index) of its worker.
    pub index: usize,
    /// The occupation of the thread in the innermost of its jobs.
    pub doing: Doing,
    /// The number of jobs on its stack.
    pub depth: usize,
    /// The jobs that stand on its stack, each begun while the one before waited: the outermost
    /// first, eight at most. A job is called as its closure is: after the function that this
    /// stands in.
    pub jobs: Vec<&'static str>,
}

impl fmt::Display for ThreadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {} {}", self.index, self.doing)?;
        for (level, name) in self.jobs.iter().enumerate() {
            let place = if level == 0 {
                " in"
            } else {
                ", on top of which is"
            };
            write!(f, "{place} {name}")?;
        }
        match self.depth - self.jobs.len() {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

impl Shared {
    /// Reports on each thread that is seated.
    pub fn report(&self) -> Vec<ThreadReport> {
        let seated = (0..self.seat_count()).filter(|&index| self.is_seated(index));
        let report = seated.map(|index| self.seat(index).stack.read(index));
        report.collect()
    }
}
