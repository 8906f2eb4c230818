//! Jobs that were found, and what is known of them.

use crate::job::JobRef;
use crate::latch::MAX_SEATS;
use crate::shared::Stolen;

/// A job that was taken out of its queue. Of two words, so that no frame beneath the job keeps it.
pub(crate) struct Found {
    pub(crate) job: JobRef,
    /// Where it lay in the deque of the thread that forked it.
    pub(crate) index: u32,
    /// The seat of that thread, or [`NOWHERE`].
    pub(crate) seat: u16,
    /// It was forked in an isolated region. (One that was spawned knows that itself.)
    pub(crate) is_isolated: bool,
    /// It is known to be a part of what the thread that has it waits for.
    pub(crate) is_part: bool,
}

/// No seat: the job was not forked.
const NOWHERE: u16 = u16::MAX;

const _: () = assert!(MAX_SEATS < NOWHERE as usize);

impl Found {
    pub(crate) fn stolen(stolen: Stolen, seat: usize) -> Self {
        Self {
            index: stolen.index,
            seat: seat as u16,
            is_isolated: stolen.is_isolated,
            ..Self::from(stolen.job)
        }
    }

    pub(crate) fn part(job: JobRef) -> Self {
        Self {
            is_part: true,
            ..Self::from(job)
        }
    }

    /// In which seat it was forked, and where it lay in the deque there.
    pub(crate) fn forked_at(&self) -> Option<(usize, u32)> {
        (self.seat != NOWHERE).then_some((self.seat.into(), self.index))
    }
}

impl From<JobRef> for Found {
    fn from(job: JobRef) -> Self {
        Self {
            job,
            index: 0,
            seat: NOWHERE,
            is_isolated: false,
            is_part: false,
        }
    }
}
