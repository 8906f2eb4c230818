//! What a process has of its events before others come, and what becomes of the rest.

use std::time::{Duration, Instant};

use crate::Protocol;
use crate::backlog::Backlog;
use crate::body::Slot;
use crate::body::{Body, Waits};

/// What a process with a backlog has before others come.
pub(crate) struct Share {
    /// How many events a step is given at most: more than none.
    pub(crate) events: usize,
    /// How long it goes on so, step after step.
    pub(crate) slice: Duration,
}

/// How a process stands to its events after a turn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lag {
    /// It has caught up, or waits for what is not there.
    None,
    /// It has more, and goes on at once.
    GoesOn,
    /// It has more, and others come first.
    GivesWay,
}

/// A turn that looks for the completion of a command moves so many times more events than a step is
/// given: it takes no step's time.
const LOOK_AHEAD: usize = 16;

impl Share {
    /// How many events to move where what matters stands behind the share: all, if there is `word`
    /// of a signal; it may end the process.
    pub(crate) const fn look_ahead(&self, word: bool) -> usize {
        if word {
            usize::MAX
        } else {
            self.events.saturating_mul(LOOK_AHEAD)
        }
    }

    /// How the process stands to its events; there is `more` in its queue or not.
    ///
    /// # Safety
    /// The caller has the process whose slot and body these are.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn lag<P: Protocol>(
        &self,
        slot: &Slot<P>,
        body: &mut Body<P>,
        more: bool,
    ) -> Lag {
        // SAFETY: as ours.
        if !unsafe { is_behind(slot, body, more) } {
            Lag::None
        } else if self.goes_on(body) {
            Lag::GoesOn
        } else {
            Lag::GivesWay
        }
    }

    /// Whether a process that is behind goes on at once. If not, its next slice begins when it has
    /// its next turn.
    fn goes_on<P: Protocol>(&self, body: &mut Body<P>) -> bool {
        if body.waits == Waits::Turn || self.slice.is_zero() {
            return false;
        }
        let since = &mut body.held().since;
        let goes_on = since.get_or_insert_with(Instant::now).elapsed() < self.slice;
        if !goes_on {
            *since = None;
        }
        goes_on
    }
}

/// Whether a process has more to look at than it was given: in its queue, where there is `more`; or
/// in what was drained already, unless it waits for commands, and nothing in there ends that. One
/// that has caught up gives back the memory that its backlog took.
///
/// # Safety
/// The caller has the process whose slot and body these are.
unsafe fn is_behind<P: Protocol>(slot: &Slot<P>, body: &mut Body<P>, more: bool) -> bool {
    if !more && body.held.is_none() {
        return false;
    }
    let waits = body.waits;
    let held = body.held();
    let left = match waits {
        Waits::Commands => held.backlog.has_ender(),
        Waits::Turn | Waits::Events | Waits::Wakes => !held.backlog.is_empty(),
    };
    if more || left {
        held.behind = true;
        return true;
    }
    if held.behind && held.backlog.is_empty() && slot.events.is_empty() {
        // SAFETY: the caller, which has the process, is its queue's one consumer.
        unsafe { slot.events.shrink() };
        if held.bonds.is_empty() {
            body.held = None;
        } else {
            (held.backlog, held.behind, held.since) = (Backlog::new(), false, None);
        }
    }
    false
}
