//! What is pending, in the order in which it is due. No thread and no time: a value under
//! somebody's lock.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;
use std::time::{Duration, Instant};

/// What happens when a timer fires.
pub(super) enum Action {
    /// This, once.
    Once(Box<dyn FnOnce() + Send>),
    /// This, every so often, until it says `false`.
    Every(Duration, Box<dyn FnMut() -> bool + Send>),
    /// A [`Sleep`](super::Sleep) is over.
    Wake(Waker),
}

pub(super) struct Pending {
    deadline: Instant,
    /// Taken out while an interval fires.
    action: Option<Action>,
}

#[derive(Default)]
pub(super) struct Queue {
    /// Deadline, then number: those that are due first, and of these those that were registered
    /// first.
    order: BTreeSet<(Instant, u64)>,
    timers: HashMap<u64, Pending>,
    closed: bool,
    /// How many threads wait for more timers.
    pub(super) watchers: usize,
}

impl Queue {
    /// Puts a timer in and returns its number, which no other timer in the program has.
    ///
    /// # Errors
    /// The action, if the queue is closed.
    pub(super) fn insert(&mut self, deadline: Instant, action: Action) -> Result<u64, Action> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        if self.closed {
            return Err(action);
        }
        // ORDERING: Relaxed: only to be different each time, and ascending in this queue: its lock
        // sees to that.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.order.insert((deadline, number));
        let action = Some(action);
        self.timers.insert(number, Pending { deadline, action });
        Ok(number)
    }

    /// Takes the first timer that is due by `now`. An interval keeps its place among the pending
    /// until [`again`](Self::again).
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<(u64, Action)> {
        let &(deadline, number) = self.order.first()?;
        if deadline > now {
            return None;
        }
        self.order.pop_first();
        let pending = self.timers.get_mut(&number)?;
        let action = pending.action.take()?;
        if !matches!(action, Action::Every(..)) {
            self.timers.remove(&number);
        }
        Some((number, action))
    }

    /// After an interval has fired: its next turn is a whole number of periods after the one
    /// before, and after `now`.
    ///
    /// # Errors
    /// The action, if the timer was cancelled meanwhile.
    pub(super) fn again(
        &mut self,
        number: u64,
        period: Duration,
        action: Action,
        now: Instant,
    ) -> Result<(), Action> {
        let Some(pending) = self.timers.get_mut(&number) else {
            return Err(action);
        };
        let late = now.saturating_duration_since(pending.deadline).as_nanos();
        // Turns that were missed altogether are left out: a stalled machine must not cause a burst.
        let missed = late / period.as_nanos().max(1);
        let next = u32::try_from(missed + 1)
            .ok()
            .and_then(|turns| period.checked_mul(turns))
            .and_then(|step| pending.deadline.checked_add(step));
        pending.deadline = next.unwrap_or_else(|| super::after(now, period));
        pending.action = Some(action);
        self.order.insert((pending.deadline, number));
        Ok(())
    }

    /// Takes a timer out. The caller drops it, without the lock: it may be anybody's code.
    pub(super) fn cancel(&mut self, number: u64) -> Option<Pending> {
        let pending = self.timers.remove(&number)?;
        self.order.remove(&(pending.deadline, number));
        Some(pending)
    }

    /// While the sleep is pending: `waker` is who is woken from now on. The one before comes back,
    /// to be dropped without the lock.
    ///
    /// # Errors
    /// The waker, if the sleep is over.
    pub(super) fn rewake(&mut self, number: u64, waker: Waker) -> Result<Waker, Waker> {
        match self
            .timers
            .get_mut(&number)
            .map(|pending| &mut pending.action)
        {
            Some(Some(Action::Wake(own))) => Ok(std::mem::replace(own, waker)),
            _ => Err(waker),
        }
    }

    /// Takes everything out, and lets nothing in from now on.
    pub(super) fn close(&mut self) -> HashMap<u64, Pending> {
        self.closed = true;
        self.order.clear();
        std::mem::take(&mut self.timers)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.order.first().map(|&(deadline, _)| deadline)
    }

    pub(super) fn len(&self) -> usize {
        self.timers.len()
    }
}

impl Pending {
    /// What is due to whoever waits for a timer that will never fire: a sleeper must look again.
    pub(super) fn give_up(self) {
        if let Some(Action::Wake(waker)) = self.action {
            waker.wake();
        }
    }
}
