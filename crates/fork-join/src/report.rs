//! What the threads of a pool do at the moment, for a human who wonders why it hangs.

use std::fmt;

use crate::shared::Shared;
use crate::standing::Doing;

/// What a thread of a pool does: see [`Pool::report`](crate::Pool::report).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadReport {
    index: usize,
    doing: Doing,
    depth: usize,
    names: Vec<&'static str>,
}

impl ThreadReport {
    /// The [index](crate::Worker::index) of its worker.
    pub fn index(&self) -> usize {
        self.index
    }

    /// What it does in the innermost of its jobs.
    pub fn doing(&self) -> Doing {
        self.doing
    }

    /// The jobs that stand on its stack, each begun while the one before waited: the outermost
    /// first, eight at most. A job is called as its closure is: after the function that this
    /// stands in.
    pub fn jobs(&self) -> &[&'static str] {
        &self.names
    }

    /// How many jobs stand on its stack.
    pub fn depth(&self) -> usize {
        self.depth
    }
}

impl fmt::Display for ThreadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {} {}", self.index, self.doing)?;
        for (level, name) in self.names.iter().enumerate() {
            let place = if level == 0 {
                " in"
            } else {
                ", on top of which is"
            };
            write!(f, "{place} {name}")?;
        }
        match self.depth - self.names.len() {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

impl Shared {
    /// What each thread that is seated does.
    pub fn report(&self) -> Vec<ThreadReport> {
        let seated = (0..self.seat_count()).filter(|&index| self.is_seated(index));
        let report = seated.map(|index| {
            let (doing, depth, names) = self.seat(index).standing.read();
            ThreadReport {
                index,
                doing,
                depth: depth.max(names.len()),
                names,
            }
        });
        report.collect()
    }
}
