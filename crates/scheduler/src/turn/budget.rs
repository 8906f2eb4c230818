//! How many of its events a process gets before others run, and what becomes of the rest.
//!
//! A share by time, and not by number: an event may cost 20 ns or 20 ms. A process with more events
//! than its step is given has that step timed, and its next steps are given as many as are likely
//! to take a quarter of its slice. It goes on until the next step would no longer fit in. A process
//! that keeps up with its events pays nothing: no clock is read for it, but once, when it first has
//! many: it is given one of them, to see what that takes.

use std::mem;
use std::time::{Duration, Instant};

use crate::Protocol;
use crate::table::body::{Backlog, Body, TimedStep, Waits};
use crate::table::slot::Slot;

/// What a process with a backlog gets before others run.
#[derive(Debug)]
pub(crate) struct Budget {
    /// How many events a step is given at most: at least one.
    events: u32,
    /// How long it goes on with them, step after step.
    slice: Duration,
    clock: Clock,
}

/// Tells the time: the system's, or what a test makes of it.
pub(crate) type Clock = fn() -> Instant;

/// Whether a process has more events than it was given in a turn, and what it does then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backlogged {
    /// It has caught up, or waits for what is not there.
    No,
    /// It has more, and goes on at once.
    Continue,
    /// It has more, and others come first.
    Yield,
}

/// The first step of a process is given no more than this.
const FIRST_ALLOWANCE: u32 = 64;

/// A process of whose events nothing is known is given so many without a look at the time; if it
/// has more, one first.
pub(crate) const UNSAMPLED: usize = 16;

/// A slice has room for so many steps of a process that is behind. With more, it ends closer to
/// its time, and the clock is read more often.
const STEPS_PER_SLICE: u128 = 4;

/// A turn that looks for the completion of a command moves this many times the events of a step: it
/// takes no step's time.
const LOOK_AHEAD: usize = 16;

impl Budget {
    /// At most `events` a step, which is at least one. Without a slice they are given by number
    /// alone.
    pub(crate) fn new(events: usize, slice: Duration, clock: Clock) -> Self {
        let events = u32::try_from(events).unwrap_or(u32::MAX);
        Self {
            events,
            slice,
            clock,
        }
    }

    /// How many events the first step of a process is given: at least one.
    pub(crate) fn first_allowance(&self) -> u32 {
        if self.slice.is_zero() {
            self.events
        } else {
            self.events.min(FIRST_ALLOWANCE)
        }
    }

    /// How many events to move where what matters stands behind those of the step: `all`, if there
    /// is an urgent signal, which may end the process, or somebody waits for room.
    pub(crate) const fn look_ahead(&self, all: bool) -> usize {
        if all {
            usize::MAX
        } else {
            (self.events as usize).saturating_mul(LOOK_AHEAD)
        }
    }

    /// Before a step with so many `events`, of a process that has perhaps more than these: in its
    /// queue, where there is `more` or not, or drained already. If so, the step is timed. The slice
    /// begins here, so that the first step counts, however slow it is.
    #[cold]
    #[inline(never)]
    pub(crate) fn begin_step<P: Protocol>(&self, body: &mut Body<P>, events: usize, more: bool) {
        let cold = body.cold();
        cold.more = more;
        if self.slice.is_zero() || !more && cold.backlog.is_empty() {
            return;
        }
        let began = (self.clock)();
        cold.since.get_or_insert(began);
        cold.timed = Some(TimedStep {
            began,
            events: events as u32,
        });
    }

    /// Before the one event by which a process is judged. None if the time does not matter.
    pub(crate) fn begin_sample(&self) -> Option<Instant> {
        (!self.slice.is_zero()).then(self.clock)
    }

    /// After that event: what the next steps are given, but no more than without it. When it ended,
    /// and how long it took.
    pub(crate) fn learn_sample<P: Protocol>(
        &self,
        body: &mut Body<P>,
        began: Instant,
    ) -> (Instant, Duration) {
        let present = body.allowance;
        let learnt = self.learn(body, TimedStep { began, events: 1 });
        body.allowance = body.allowance.min(present);
        learnt
    }

    /// After a turn: whether the process is behind with its events.
    ///
    /// # Safety
    /// The caller has the process whose slot and body these are.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn backlogged<P: Protocol>(
        &self,
        slot: &Slot<P>,
        body: &mut Body<P>,
    ) -> Backlogged {
        let step = body.cold.as_mut().and_then(|cold| cold.timed.take());
        let timed = step.map(|step| self.learn(body, step));
        // SAFETY: as ours.
        unsafe { self.backlogged_after(slot, body, timed) }
    }

    /// The same, after a step that ended then, and took so long.
    ///
    /// # Safety
    /// The caller has the process whose slot and body these are.
    pub(crate) unsafe fn backlogged_after<P: Protocol>(
        &self,
        slot: &Slot<P>,
        body: &mut Body<P>,
        timed: Option<(Instant, Duration)>,
    ) -> Backlogged {
        // SAFETY: as ours.
        if !unsafe { is_behind(slot, body) } {
            Backlogged::No
        } else if self.goes_on(body, timed) {
            Backlogged::Continue
        } else {
            Backlogged::Yield
        }
    }

    /// What the next steps are given, by what this one took. When it ended, and how long it took.
    fn learn<P: Protocol>(&self, body: &mut Body<P>, step: TimedStep) -> (Instant, Duration) {
        let ended = (self.clock)();
        let took = ended.saturating_duration_since(step.began);
        // A turn may have had nothing but signals.
        if step.events > 0 {
            body.allowance = self.next_allowance(body.allowance, step.events, took);
        }
        (ended, took)
    }

    /// As many events as take a step's part of the slice, if each costs as much as one of these
    /// `events` did. At most twice the `present` allowance, because a few may have been cheap by
    /// accident; at least one, and at most what a step is given at all.
    fn next_allowance(&self, present: u32, events: u32, took: Duration) -> u32 {
        let time = self.slice.as_nanos() / STEPS_PER_SLICE;
        let fitting = u128::from(events).saturating_mul(time) / took.as_nanos().max(1);
        let most = present.saturating_mul(2).min(self.events);
        u32::try_from(fitting).unwrap_or(u32::MAX).clamp(1, most)
    }

    /// Whether a process that is behind goes on at once: if another step like the one that was
    /// `timed` fits into its slice. If not, its next slice begins with its next turn.
    fn goes_on<P: Protocol>(&self, body: &mut Body<P>, timed: Option<(Instant, Duration)>) -> bool {
        if self.slice.is_zero() {
            return false;
        }
        let (now, next) = timed.unwrap_or_else(|| ((self.clock)(), Duration::ZERO));
        let since = &mut body.cold().since;
        let elapsed = now.saturating_duration_since(*since.get_or_insert(now));
        let goes_on = elapsed.saturating_add(next) <= self.slice;
        if !goes_on {
            *since = None;
        }
        goes_on
    }
}

/// Whether a process has more to look at than it was given: in its queue, where there was more; or
/// in its backlog, unless it waits for commands and nothing in there ends that. A process that has
/// caught up gives the memory of its backlog back.
///
/// # Safety
/// The caller has the process whose slot and body these are.
unsafe fn is_behind<P: Protocol>(slot: &Slot<P>, body: &mut Body<P>) -> bool {
    let waits = body.waits;
    let Some(cold) = &mut body.cold else {
        return false;
    };
    let more = mem::take(&mut cold.more);
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
        if cold.watchers.is_empty() {
            body.cold = None;
        } else {
            (cold.backlog, cold.behind, cold.since) = (Backlog::new(), false, None);
        }
    }
    false
}

#[cfg(test)]
mod tests;
