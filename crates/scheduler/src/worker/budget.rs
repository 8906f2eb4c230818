//! How many of its events a process gets before others run, and what becomes of the rest.

use std::time::{Duration, Instant};

use crate::Protocol;
use crate::table::backlog::Backlog;
use crate::table::body::{Body, Slot, Waits};

/// What a process with a backlog gets before others run.
#[derive(Debug)]
pub(crate) struct Budget {
    /// How many events a step is given at most: at least one.
    pub(crate) events: usize,
    /// How long it goes on with them, step after step.
    pub(crate) slice: Duration,
}

/// Whether a process has more events than it was given in a turn, and what it does then.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backlogged {
    /// It has caught up, or waits for what is not there.
    No,
    /// It has more, and goes on at once.
    Continue,
    /// It has more, and others come first.
    Yield,
}

/// A turn that looks for the completion of a command moves this many times the events of a step: it
/// takes no step's time.
const LOOK_AHEAD: usize = 16;

impl Budget {
    /// How many events to move where what matters stands behind those of the step: all, if there is
    /// an urgent signal; it may end the process.
    pub(crate) const fn look_ahead(&self, has_urgent_signal: bool) -> usize {
        if has_urgent_signal {
            usize::MAX
        } else {
            self.events.saturating_mul(LOOK_AHEAD)
        }
    }

    /// Whether the process is behind with its events; there is `more` in its queue or not.
    ///
    /// # Safety
    /// The caller has the process whose slot and body these are.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn backlogged<P: Protocol>(
        &self,
        slot: &Slot<P>,
        body: &mut Body<P>,
        more: bool,
    ) -> Backlogged {
        // SAFETY: as ours.
        if !unsafe { is_behind(slot, body, more) } {
            Backlogged::No
        } else if self.goes_on(body) {
            Backlogged::Continue
        } else {
            Backlogged::Yield
        }
    }

    /// Whether a process that is behind goes on at once. If not, its next slice begins with its
    /// next turn.
    fn goes_on<P: Protocol>(&self, body: &mut Body<P>) -> bool {
        if body.waits == Waits::Turn || self.slice.is_zero() {
            return false;
        }
        let since = &mut body.cold().since;
        let goes_on = since.get_or_insert_with(Instant::now).elapsed() < self.slice;
        if !goes_on {
            *since = None;
        }
        goes_on
    }
}

/// Whether a process has more to look at than it was given: in its queue, where there is `more`; or
/// in its backlog, unless it waits for commands and nothing in there ends that. A process that has
/// caught up gives the memory of its backlog back.
///
/// # Safety
/// The caller has the process whose slot and body these are.
unsafe fn is_behind<P: Protocol>(slot: &Slot<P>, body: &mut Body<P>, more: bool) -> bool {
    if !more && body.cold.is_none() {
        return false;
    }
    let waits = body.waits;
    let cold = body.cold();
    let left = match waits {
        Waits::Commands => cold.backlog.has_wait_end(),
        Waits::Turn | Waits::Events | Waits::Wakes => !cold.backlog.is_empty(),
    };
    if more || left {
        cold.behind = true;
        return true;
    }
    if cold.behind && cold.backlog.is_empty() && slot.events.is_empty() {
        // SAFETY: the caller, which has the process, is its queue's one consumer.
        unsafe { slot.events.shrink() };
        if cold.watches.is_empty() {
            body.cold = None;
        } else {
            (cold.backlog, cold.behind, cold.since) = (Backlog::new(), false, None);
        }
    }
    false
}
