//! Jobs that were found, and what is known of them.

use crate::job::JobRef;
use crate::shared::Stolen;

/// A job that was taken out of its queue.
pub(crate) struct Found<W: 'static> {
    pub(crate) job: JobRef<W>,
    /// It was forked in an isolated region. (One that was spawned knows that itself.)
    pub(crate) is_isolated: bool,
    /// It is known to be a part of what the thread that has it waits for.
    pub(crate) is_part: bool,
    /// In which seat it was forked, and where it lay in the deque there.
    pub(crate) forked_at: Option<(usize, u32)>,
}

impl<W> Found<W> {
    pub(crate) fn stolen(stolen: Stolen<W>, seat: usize) -> Self {
        Self {
            job: stolen.job,
            is_isolated: stolen.is_isolated,
            is_part: false,
            forked_at: Some((seat, stolen.index)),
        }
    }

    pub(crate) fn part(job: JobRef<W>) -> Self {
        Self {
            is_part: true,
            ..Self::from(job)
        }
    }
}

impl<W> From<JobRef<W>> for Found<W> {
    fn from(job: JobRef<W>) -> Self {
        Self {
            job,
            is_isolated: false,
            is_part: false,
            forked_at: None,
        }
    }
}
