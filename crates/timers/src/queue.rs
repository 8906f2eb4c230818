//! The pending timers, in the order of their deadlines: a value under the service's lock, without a
//! thread and without a clock.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;
use std::time::{Duration, Instant};

use crate::looks::Looks;

/// Names one timer, to [cancel](crate::Timers::cancel) it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimerKey(u64);

/// The action of a timer that fires.
pub(super) enum Action {
    /// Makes this call, once.
    Once(Box<dyn FnOnce() + Send>),
    /// Makes this call after each period, until it returns `false`.
    Every(Duration, Box<dyn FnMut() -> bool + Send>),
    /// Makes this call, once, if it is still wanted.
    While(Box<dyn While>),
    /// Wakes a sleeper.
    Wake(Waker),
}

/// A call that may become unwanted.
pub(super) trait While: Send {
    fn is_wanted(&self) -> bool;

    fn call(self: Box<Self>);
}

/// The owner of timers: a number with a meaning to the caller, or [`Owner::NONE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner(pub(super) usize);

impl Owner {
    /// No owner in particular: every owner that these timers serve.
    pub(super) const NONE: Self = Self(0);
}

pub(super) struct Pending {
    deadline: Instant,
    owner: Owner,
    /// `None` while an interval fires.
    action: Option<Action>,
}

/// A timer whose time has come.
pub(super) struct Due {
    pub(super) key: TimerKey,
    pub(super) owner: Owner,
    pub(super) action: Action,
}

#[derive(Default)]
pub(super) struct Queue {
    /// Ascending by deadline, then by number: timers of one deadline in the order of registration.
    order: BTreeSet<(Instant, u64)>,
    /// Not a hash map, which would keep the memory of the most timers ever, and move all of them
    /// under the lock when it grows.
    timers: BTreeMap<u64, Pending>,
    /// The number of the timer that was last checked for being wanted.
    looked_at: Option<u64>,
    closed: bool,
    /// Every owner for which a timer was set.
    served: Vec<Owner>,
    /// The owners of the calls that run now.
    firing: Vec<Owner>,
    /// The time of the thread's next look.
    pub(super) looks: Looks,
    /// The number of threads that wait for more timers.
    pub(super) watchers: usize,
    /// The start of the call in which the firing thread is, if any.
    pub(super) in_call_since: Option<Instant>,
    /// Set when that thread fires no more.
    pub(super) left: bool,
}

impl Queue {
    /// Adds a timer and returns its key, which no other timer in the program has. The queue is not
    /// [closed](Self::is_closed).
    pub(super) fn insert(&mut self, deadline: Instant, owner: Owner, action: Action) -> TimerKey {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // ORDERING: Relaxed: the numbers only have to differ, and to ascend in this queue. Its
        // lock orders the calls, and one atomic's values never go back.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.order.insert((deadline, number));
        if owner != Owner::NONE && !self.served.contains(&owner) {
            self.served.push(owner);
        }
        let pending = Pending {
            deadline,
            owner,
            action: Some(action),
        };
        self.timers.insert(number, pending);
        TimerKey(number)
    }

    /// Takes the first timer that is due by `now`. An interval stays among the pending timers until
    /// [`again`](Self::again). The owner of a call stays known until it [has fired](Self::fired).
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<Due> {
        let &(deadline, number) = self.order.first()?;
        if deadline > now {
            return None;
        }
        self.order.pop_first();
        let pending = self.timers.get_mut(&number)?;
        let (action, owner) = (pending.action.take()?, pending.owner);
        if !matches!(action, Action::Every(..)) {
            self.timers.remove(&number);
        }
        self.firing.push(owner);
        Some(Due {
            key: TimerKey(number),
            owner,
            action,
        })
    }

    /// Notes the end of a call for that owner.
    pub(super) fn fired(&mut self, owner: Owner) {
        if let Some(at) = self.firing.iter().position(|&one| one == owner) {
            self.firing.swap_remove(at);
        }
    }

    /// Returns the number of timers that may still call something of that owner, or wake a waker of
    /// its, and their first deadline; `None` while such a call runs. A call without an owner counts
    /// for every owner that was served here.
    pub(super) fn pending_for(
        &self,
        owner: Owner,
        is_its: &dyn Fn(&Waker) -> bool,
    ) -> (usize, Option<Instant>) {
        let counts = |set_for: Owner| {
            set_for == owner || (set_for == Owner::NONE && self.served.contains(&owner))
        };
        let is_its = |pending: &&Pending| match &pending.action {
            Some(Action::Wake(waker)) => is_its(waker),
            // An interval that fires just now is counted below.
            None => false,
            Some(_) => counts(pending.owner),
        };
        let firing = self.firing.iter().filter(|&&owner| counts(owner)).count();
        let (mut count, mut next) = (firing, None::<Instant>);
        for pending in self.timers.values().filter(is_its) {
            count += 1;
            next = Some(next.map_or(pending.deadline, |next| next.min(pending.deadline)));
        }
        (count, if firing > 0 { None } else { next })
    }

    /// Sets an interval's next turn after it has fired: a whole number of periods after the last
    /// one, and after `now`.
    ///
    /// # Errors
    /// The action, if the timer was cancelled meanwhile.
    pub(super) fn again(
        &mut self,
        key: TimerKey,
        period: Duration,
        action: Action,
        now: Instant,
    ) -> Result<(), Action> {
        let Some(pending) = self.timers.get_mut(&key.0) else {
            return Err(action);
        };
        let late = now.saturating_duration_since(pending.deadline).as_nanos();
        // Missed turns are left out: a stalled machine must not cause a burst.
        let missed = late / period.as_nanos().max(1);
        let next = u32::try_from(missed + 1)
            .ok()
            .and_then(|turns| period.checked_mul(turns))
            .and_then(|step| pending.deadline.checked_add(step));
        pending.deadline = next.unwrap_or_else(|| after(now, period));
        pending.action = Some(action);
        self.order.insert((pending.deadline, key.0));
        Ok(())
    }

    /// Removes a timer. The caller drops it without the lock: its destructor is user code.
    pub(super) fn cancel(&mut self, key: TimerKey) -> Option<Pending> {
        let pending = self.timers.remove(&key.0)?;
        self.order.remove(&(pending.deadline, key.0));
        Some(pending)
    }

    /// Removes the timer after the one that the last call checked, if it is no longer wanted.
    /// Behind the last timer it starts again at the first.
    ///
    /// At two calls for each new timer, a round takes as many new timers as there were. So unwanted
    /// timers never outnumber the others by much, and no call takes longer when there are many.
    pub(super) fn sweep(&mut self) -> Option<Pending> {
        let behind = self.looked_at.map_or(Bound::Unbounded, Bound::Excluded);
        let next = self.timers.range((behind, Bound::Unbounded)).next();
        // After the last timer it begins again at the first.
        self.looked_at = next.map(|(&number, _)| number);
        let (&number, pending) = next?;
        match &pending.action {
            Some(Action::While(call)) if !call.is_wanted() => self.cancel(TimerKey(number)),
            _ => None,
        }
    }

    /// Makes `waker` the one that a pending sleep wakes. Returns the old one, to be dropped without
    /// the lock.
    ///
    /// # Errors
    /// The waker, if the sleep is over.
    pub(super) fn rewake(&mut self, key: TimerKey, waker: Waker) -> Result<Waker, Waker> {
        match self
            .timers
            .get_mut(&key.0)
            .map(|pending| &mut pending.action)
        {
            Some(Some(Action::Wake(own))) => Ok(std::mem::replace(own, waker)),
            _ => Err(waker),
        }
    }

    /// Removes all timers; none is to be added from now on.
    pub(super) fn close(&mut self) -> BTreeMap<u64, Pending> {
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
    /// Ends a timer that will never fire. A sleeper is woken, and sees that.
    pub(super) fn give_up(self) {
        if let Some(Action::Wake(waker)) = self.action {
            waker.wake();
        }
    }
}

/// Returns `now + delay`; thirty years from `now` if the clock cannot express that.
pub fn after(now: Instant, delay: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3600);
    now.checked_add(delay).unwrap_or_else(|| now + FAR)
}

#[cfg(test)]
mod tests;
