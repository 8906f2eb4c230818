//! The share of its events that a process gets before others run, and the fate of the rest.
//!
//! A share by time, and not by number: an event may cost 20 ns or 20 ms. If a process has more
//! events than its step is given, the step is timed, and its next steps are given as many as
//! probably take a quarter of its slice. It goes on until another step would not fit into the
//! slice. A process that keeps up with its events pays nothing: the clock is read for it only when
//! it first has many; it is then given one of them, to measure its cost.

use std::time::{Duration, Instant};

use crate::Protocol;
use crate::table::body::{Backlog, Body, EventList, TimedStep, Waits};
use crate::table::slot::Slot;
use crate::turn::driver::After;
use crate::turn::inbox::Inbox;

/// The share of a process with a backlog before others run.
#[derive(Debug)]
pub(crate) struct Budget {
    /// The most events that a step is given: at least one.
    pub(crate) events: u32,
    /// The time that it goes on with them, step after step. If it is zero, only their number
    /// counts.
    pub(crate) slice: Duration,
    pub(crate) clock: Clock,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            events: 1024,
            slice: Duration::from_millis(4),
            clock: filch_sync::time::now,
        }
    }
}

/// The clock: the system's, or a test's.
pub(crate) type Clock = fn() -> Instant;

/// The most events for the first step of a process: given untimed, as their cost is unknown. If it
/// has more, one is timed first.
pub(crate) const FIRST_ALLOWANCE: u32 = 32;

/// The number of steps in a slice, for a process that is behind. More would end the slice closer to
/// its time, and read the clock more often.
const STEPS_PER_SLICE: u128 = 4;

/// The factor by which a turn that looks for a completion may exceed the events of a step: moving
/// them takes no step's time.
const LOOK_AHEAD: usize = 16;

impl Budget {
    /// Returns the number of events for the first step of a process: at least one.
    pub(crate) fn first_allowance(&self) -> u32 {
        if self.slice.is_zero() {
            self.events
        } else {
            self.events.min(FIRST_ALLOWANCE)
        }
    }

    /// Returns the number of events to move in search of one that ends a wait, behind those of the
    /// step.
    pub(crate) fn look_ahead(&self) -> usize {
        (self.events as usize).saturating_mul(LOOK_AHEAD)
    }

    /// Prepares a step with so many `events`, of a process that has more. The step is timed. The
    /// slice begins here, so that the first step counts, however slow it is.
    #[cold]
    #[inline(never)]
    pub(crate) fn begin_step<P: Protocol>(&self, body: &mut Body<P>, events: usize) {
        let cold = body.cold();
        if !self.slice.is_zero() {
            let (began, events) = ((self.clock)(), events as u32);
            cold.since.get_or_insert(began);
            cold.timed = Some(TimedStep { began, events });
        }
    }

    /// Leaves one of many events for the step, while their cost is unknown: one that ends the wait,
    /// if the process waits for commands. The others become its backlog, so that the step is timed.
    #[cold]
    #[inline(never)]
    pub(crate) fn sample<P: Protocol>(
        &self,
        body: &mut Body<P>,
        events: &mut EventList<P>,
        inbox: &mut Inbox<P>,
    ) {
        body.sampled = true;
        if !self.slice.is_zero() {
            inbox.put_back(body, events);
            inbox.recall(body, events, 1);
        }
    }

    /// Returns what becomes of a process that is behind with its events after a turn, with `more`
    /// in its queue or not; `None` if it has caught up, or waits for an event that is not there.
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
    ) -> Option<After> {
        let step = body.cold.as_mut().and_then(|cold| cold.timed.take());
        let timed = step.map(|step| self.learn(body, step));
        // SAFETY: as ours.
        unsafe { is_behind(slot, body, more) }.then(|| match self.goes_on(body, timed) {
            true => After::Again,
            false => After::GaveWay,
        })
    }

    /// Sets the next allowance by this step. Returns the time of its end, and its duration.
    fn learn<P: Protocol>(&self, body: &mut Body<P>, step: TimedStep) -> (Instant, Duration) {
        let ended = (self.clock)();
        let took = ended.saturating_duration_since(step.began);
        // A turn may have had nothing but signals.
        if step.events > 0 {
            body.allowance = self.next_allowance(body.allowance, step.events, took);
        }
        (ended, took)
    }

    /// Returns the number of events that fill a step's part of the slice, if each costs as much as
    /// one of these `events` did. More than the `present` allowance only up to twice their number,
    /// as a few may have been cheap by accident; at least one, and at most the limit for a step.
    fn next_allowance(&self, present: u32, events: u32, took: Duration) -> u32 {
        let time = self.slice.as_nanos() / STEPS_PER_SLICE;
        let fitting = u128::from(events).saturating_mul(time) / took.as_nanos().max(1);
        let most = present.max(events.saturating_mul(2)).min(self.events);
        u32::try_from(fitting).unwrap_or(u32::MAX).clamp(1, most)
    }

    /// Checks if a process that is behind goes on at once: if another step like the one that was
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

/// Checks if a process has more events than it was given: in its queue; or in its backlog, unless
/// it waits for commands and no event there ends the wait. A process that has caught up frees the
/// memory of its backlog.
///
/// # Safety
/// The caller has the process whose slot and body these are.
unsafe fn is_behind<P: Protocol>(slot: &Slot<P>, body: &mut Body<P>, more: bool) -> bool {
    let left = match (&body.cold, body.waits) {
        (None, _) => false,
        (Some(cold), Waits::Commands) => cold.backlog.has_wait_end(),
        (Some(cold), _) => !cold.backlog.is_empty(),
    };
    if more || left {
        body.cold().behind = true;
        return true;
    }
    if let Some(cold) = &mut body.cold
        && cold.behind
        && cold.backlog.is_empty()
        && slot.events.is_empty()
    {
        // SAFETY: the caller, which has the process, is its queue's one consumer.
        unsafe { slot.events.shrink() };
        if cold.watches.as_slice().is_empty() {
            body.cold = None;
        } else {
            (cold.backlog, cold.behind, cold.since) = (Backlog::new(), false, None);
        }
    }
    false
}

#[cfg(test)]
mod tests;
