//! What stands on a thread's stack, for others to read at any time.

use std::fmt;
// std's in a model, too: it orders nothing.
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use crate::job::{Name, NameCell};

/// So many jobs are kept by name, from the outermost on.
const NAMED: usize = 8;

/// What a thread of a pool does.
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
pub(crate) struct Standing {
    names: [NameCell; NAMED],
    /// How many there are.
    depth: AtomicU32,
    doing: AtomicU8,
}

impl Standing {
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

    /// What the thread does, how many jobs there are, and the names of the outer ones, the
    /// outermost first.
    pub(crate) fn read(&self) -> (Doing, usize, Vec<&'static str>) {
        let depth = self.depth();
        let names = self.names.iter().take(depth).filter_map(NameCell::get);
        let doing = match self.doing() {
            Doing::Runs if depth == 0 => Doing::Idle,
            doing => doing,
        };
        (doing, depth, names.collect())
    }

    /// The name of the innermost one, if there is one and it is kept.
    pub(crate) fn innermost(&self) -> Option<&'static str> {
        self.names.get(self.depth().checked_sub(1)?)?.get()
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
