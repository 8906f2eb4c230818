//! The pending timers: a value under the service's lock, without a thread and without a clock.

mod arena;
mod list;
mod wheel;

use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;
use std::time::{Duration, Instant};

use crate::looks::Looks;
use arena::Arena;
use list::{CONDITIONAL, Links, List};
use wheel::Wheel;

/// Names one timer, to [cancel](crate::Timers::cancel) it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimerKey {
    /// Of no other timer in the program, and not 0.
    number: u64,
    place: u32,
}

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Owner(pub(super) usize);

impl Owner {
    /// No owner in particular: every owner that these timers serve.
    pub(super) const NONE: Self = Self(0);
}

#[derive(Default)]
pub(super) struct Pending {
    /// 0 in a free place.
    number: u64,
    /// The deadline, in nanoseconds since the queue was made.
    time: u64,
    owner: Owner,
    /// `None` while an interval fires, which is then in no slot, and in a free place.
    action: Option<Action>,
    links: Links,
    /// Its place in the wheel.
    slot: u16,
}

/// A timer whose time has come.
pub(super) struct Due {
    pub(super) key: TimerKey,
    pub(super) owner: Owner,
    pub(super) action: Action,
}

pub(super) struct Queue {
    start: Instant,
    /// The number of the last timer; a multiple of a block's size at the end of a block.
    last: u64,
    timers: Arena,
    order: Wheel,
    /// Those that may become unwanted, in the order in which they were set.
    conditional: List<CONDITIONAL>,
    /// The one of these to look at next; `None` at their end.
    looks_at: Option<u32>,
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
    pub(super) fn new(start: Instant) -> Self {
        Self {
            start,
            last: 0,
            timers: Arena::default(),
            order: Wheel::new(),
            conditional: List::EMPTY,
            looks_at: None,
            closed: false,
            served: Vec::new(),
            firing: Vec::new(),
            looks: Looks::default(),
            watchers: 0,
            in_call_since: None,
            left: false,
        }
    }

    /// Adds a timer. The queue is not [closed](Self::is_closed).
    pub(super) fn insert(&mut self, deadline: Instant, owner: Owner, action: Action) -> TimerKey {
        /// The numbers that a queue takes at a time.
        const BLOCK: u64 = 1 << 16;
        static TAKEN: AtomicU64 = AtomicU64::new(0);
        if owner != Owner::NONE && !self.served.contains(&owner) {
            self.served.push(owner);
        }
        if self.last.is_multiple_of(BLOCK) {
            // ORDERING: Relaxed: the numbers only have to differ.
            self.last = TAKEN.fetch_add(BLOCK, Ordering::Relaxed);
        }
        self.last += 1;
        let is_conditional = matches!(action, Action::While(_));
        let (number, time) = (self.last, self.time(deadline));
        let place = self.timers.take_place();
        let pending = &mut self.timers[place];
        (pending.number, pending.time, pending.owner) = (number, time, owner);
        pending.action = Some(action);
        self.order.insert(&mut self.timers, place);
        if is_conditional {
            self.conditional.push(&mut self.timers, place);
        }
        TimerKey { number, place }
    }

    /// Takes the first timer that is due by `now`. An interval stays among the pending timers until
    /// [`again`](Self::again). The owner of a call stays known until it [has fired](Self::fired).
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<Due> {
        let now = self.time(now);
        let place = self.order.pop_due(&mut self.timers, now)?;
        let pending = &mut self.timers[place];
        let (number, owner) = (pending.number, pending.owner);
        let action = pending.action.take()?;
        if !matches!(action, Action::Every(..)) {
            self.forget(place, matches!(action, Action::While(_)));
        }
        self.firing.push(owner);
        Some(Due {
            key: TimerKey { number, place },
            owner,
            action,
        })
    }

    /// Removes a timer that is in no slot, and has no action any more.
    fn forget(&mut self, place: u32, is_conditional: bool) {
        if is_conditional {
            if self.looks_at == Some(place) {
                self.looks_at = self.conditional.next(&self.timers, place);
            }
            self.conditional.remove(&mut self.timers, place);
        }
        self.timers.remove(place);
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
            // A free place, or an interval that fires just now, which is counted below.
            None => false,
            Some(_) => counts(pending.owner),
        };
        let firing = self.firing.iter().filter(|&&owner| counts(owner)).count();
        let (mut count, mut next) = (firing, None::<u64>);
        for pending in self.timers.iter().filter(is_its) {
            count += 1;
            next = Some(next.map_or(pending.time, |next| next.min(pending.time)));
        }
        let next = next.filter(|_| firing == 0);
        (count, next.map(|time| self.instant(time)))
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
        let Some(last) = self.find(key).map(|pending| pending.time) else {
            return Err(action);
        };
        let last = self.instant(last);
        let late = now.saturating_duration_since(last).as_nanos();
        // Missed turns are left out: a stalled machine must not cause a burst.
        let missed = late / period.as_nanos().max(1);
        let next = u32::try_from(missed + 1)
            .ok()
            .and_then(|turns| period.checked_mul(turns))
            .and_then(|step| last.checked_add(step));
        let time = self.time(next.unwrap_or_else(|| after(now, period)));
        let pending = &mut self.timers[key.place];
        (pending.time, pending.action) = (time, Some(action));
        self.order.insert(&mut self.timers, key.place);
        Ok(())
    }

    /// Removes a timer, and returns its action; none, if an interval fires just now. The caller
    /// drops it without the lock: its destructor is user code.
    pub(super) fn cancel(&mut self, key: TimerKey) -> Option<Option<Action>> {
        let action = self.find(key)?.action.take();
        let is_conditional = matches!(action, Some(Action::While(_)));
        if action.is_some() {
            self.order.remove(&mut self.timers, key.place);
        }
        self.forget(key.place, is_conditional);
        Some(action)
    }

    /// Removes the next timer that may become unwanted, if it is.
    ///
    /// At two calls for each new timer, a round takes as many new timers as there were. So unwanted
    /// timers never outnumber the others by much, and no call takes longer when there are many.
    pub(super) fn sweep(&mut self) -> Option<Action> {
        // After the last one it begins again at the first.
        let place = self.looks_at.or(self.conditional.first())?;
        self.looks_at = self.conditional.next(&self.timers, place);
        let Pending { number, action, .. } = &self.timers[place];
        match action {
            Some(Action::While(call)) if !call.is_wanted() => {
                let number = *number;
                self.cancel(TimerKey { number, place })?
            }
            _ => None,
        }
    }

    /// Makes `waker` the one that a pending sleep wakes. Returns the old one, to be dropped without
    /// the lock.
    ///
    /// # Errors
    /// The waker, if the sleep is over.
    pub(super) fn rewake(&mut self, key: TimerKey, waker: Waker) -> Result<Waker, Waker> {
        match self.find(key).map(|pending| &mut pending.action) {
            Some(Some(Action::Wake(own))) => Ok(std::mem::replace(own, waker)),
            _ => Err(waker),
        }
    }

    /// Removes all timers; none is to be added from now on.
    pub(super) fn close(&mut self) -> impl Iterator<Item = Pending> + use<> {
        self.closed = true;
        self.order = Wheel::new();
        let timers = std::mem::take(&mut self.timers).into_iter();
        timers.filter(|pending| pending.action.is_some())
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns the first deadline, or, after timers were cancelled, an earlier time. A look at that
    /// time leads on.
    pub(super) fn next(&self) -> Option<Instant> {
        self.order.next().map(|time| self.instant(time))
    }

    pub(super) fn len(&self) -> usize {
        self.timers.len()
    }

    fn find(&mut self, key: TimerKey) -> Option<&mut Pending> {
        let pending = self.timers.get_mut(key.place);
        pending.filter(|pending| pending.number == key.number)
    }

    /// Returns a time as the wheel has it: 0 before the start, and centuries on the last one.
    fn time(&self, at: Instant) -> u64 {
        let since = at.saturating_duration_since(self.start);
        let seconds = since.as_secs().saturating_mul(1_000_000_000);
        seconds.saturating_add(since.subsec_nanos().into())
    }

    fn instant(&self, time: u64) -> Instant {
        after(self.start, Duration::from_nanos(time))
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
