//! What is pending, in the order in which it is due: a value under the service's lock, without a
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

impl TimerKey {
    /// No timer's key: their numbers count from 0.
    pub(crate) const NONE: Self = Self(u64::MAX);
}

/// What happens when a timer fires.
pub(super) enum Action {
    /// This, once.
    Once(Box<dyn FnOnce() + Send>),
    /// This, each time that the period has passed, until it says `false`.
    Every(Duration, Box<dyn FnMut() -> bool + Send>),
    /// This, once, if it is still wanted.
    While(Box<dyn While>),
    /// A sleep is over.
    Wake(Waker),
}

/// A call that may come to be wanted no more.
pub(super) trait While: Send {
    fn is_wanted(&self) -> bool;

    fn call(self: Box<Self>);
}

/// For whom timers are set: a number that means something to the caller, or [`Owner::NONE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner(pub(super) usize);

impl Owner {
    /// All that these timers serve.
    pub(super) const NONE: Self = Self(0);
}

pub(super) struct Pending {
    deadline: Instant,
    owner: Owner,
    /// Taken out while an interval fires.
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
    /// Ascending by deadline, then by number: of one deadline, what was registered first.
    order: BTreeSet<(Instant, u64)>,
    /// No hash map: that would keep the memory of the most timers that there ever were, and move
    /// all of them under the lock when it grows.
    timers: BTreeMap<u64, Pending>,
    /// The number of the timer that was looked at last, to see whether it is still wanted.
    looked_at: Option<u64>,
    closed: bool,
    /// All for whom timers have been set.
    served: Vec<Owner>,
    /// For whom the calls were set that are being made just now.
    firing: Vec<Owner>,
    /// When the thread looks next.
    pub(super) looks: Looks,
    /// How many threads wait for more timers.
    pub(super) watchers: usize,
    /// Since when the thread that fires timers has been in a call, if it is in one.
    pub(super) in_call_since: Option<Instant>,
    /// That thread fires nothing any more.
    pub(super) left: bool,
}

impl Queue {
    /// Puts a timer in and returns its key, which no other timer in the program has.
    ///
    /// # Errors
    /// The action, if the queue is closed.
    pub(super) fn insert(
        &mut self,
        deadline: Instant,
        owner: Owner,
        action: Action,
    ) -> Result<TimerKey, Action> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        if self.closed {
            return Err(action);
        }
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
        Ok(TimerKey(number))
    }

    /// Takes the first timer that is due by `now`. An interval keeps its place among the pending
    /// until [`again`](Self::again). A call stays known until it [has fired](Self::fired).
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

    /// What was due for that owner has been done.
    pub(super) fn fired(&mut self, owner: Owner) {
        if let Some(at) = self.firing.iter().position(|&one| one == owner) {
            self.firing.swap_remove(at);
        }
    }

    /// What may still wake that owner, or call one of its `wakers`: how many timers, and the first
    /// deadline; none if it is being kept just now. A call that was set for nobody counts for all
    /// that have been served here.
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

    /// After an interval has fired: its next turn is a whole number of periods after the one
    /// before, and after `now`.
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
        // Turns that were missed are left out: a stalled machine must not cause a burst.
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

    /// Takes a timer out. The caller drops it without the lock: its destructor is user code.
    pub(super) fn cancel(&mut self, key: TimerKey) -> Option<Pending> {
        let pending = self.timers.remove(&key.0)?;
        self.order.remove(&(pending.deadline, key.0));
        Some(pending)
    }

    /// Takes out the next timer, if it is wanted no more. Each call looks behind where the one
    /// before has looked, and around.
    ///
    /// With two calls for each timer that comes in, a round takes as many timers as there were. So
    /// there are never many more that nobody wants than others; and no call takes longer when there
    /// are many.
    pub(super) fn sweep(&mut self) -> Option<Pending> {
        let behind = self.looked_at.map_or(Bound::Unbounded, Bound::Excluded);
        let next = self.timers.range((behind, Bound::Unbounded)).next();
        // Behind the last one, the first one comes.
        self.looked_at = next.map(|(&number, _)| number);
        let (&number, pending) = next?;
        match &pending.action {
            Some(Action::While(call)) if !call.is_wanted() => self.cancel(TimerKey(number)),
            _ => None,
        }
    }

    /// While the sleep is pending, makes `waker` the one that it wakes. The one before comes back,
    /// to be dropped without the lock.
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

    /// Takes everything out, and lets nothing in from now on.
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
    /// Ends a timer that will never fire. A sleeper is woken, to see that.
    pub(super) fn give_up(self) {
        if let Some(Action::Wake(waker)) = self.action {
            waker.wake();
        }
    }
}

/// What the clock cannot express is thirty years away.
pub(super) fn after(now: Instant, delay: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3600);
    now.checked_add(delay).unwrap_or_else(|| now + FAR)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    use super::{Action, Due, Owner, Queue, While, after};

    const SECOND: Duration = Duration::from_secs(1);

    fn every_second() -> Action {
        Action::Every(SECOND, Box::new(|| true))
    }

    #[test]
    fn missed_turns_of_an_interval_are_left_out() {
        let start = Instant::now();
        for (late, turn) in [(0, 1), (999, 1), (1_000, 2), (5_400, 6)] {
            let mut queue = Queue::default();
            assert!(queue.insert(start, Owner::NONE, every_second()).is_ok());
            let now = start + Duration::from_millis(late);
            let Due { key, action, .. } = queue.pop_due(now).unwrap();
            assert_eq!(queue.len(), 1, "it is pending while it fires");
            assert_eq!(queue.next(), None, "and not due");
            assert!(queue.again(key, SECOND, action, now).is_ok());
            assert_eq!(queue.next(), Some(start + turn * SECOND), "{late} ms late");
        }
    }

    #[test]
    fn the_shortest_period_leads_past_now_as_well() {
        let (start, nanosecond) = (Instant::now(), Duration::from_nanos(1));
        let now = start + 5 * nanosecond;
        let mut queue = Queue::default();
        assert!(queue.insert(start, Owner::NONE, every_second()).is_ok());
        let Due { key, action, .. } = queue.pop_due(now).unwrap();
        assert!(queue.again(key, nanosecond, action, now).is_ok());
        assert_eq!(queue.next(), Some(now + nanosecond));
    }

    #[test]
    fn what_the_clock_cannot_express_is_thirty_years_away() {
        let now = Instant::now();
        let years = 30 * 365 * 24 * 3600 * SECOND;
        assert_eq!(after(now, Duration::MAX), now + years);
    }

    #[test]
    fn a_cancelled_timer_is_not_the_next() {
        let start = Instant::now();
        let mut queue = Queue::default();
        let [first, second] = [SECOND, 2 * SECOND].map(|delay| {
            let key = queue.insert(start + delay, Owner::NONE, every_second());
            key.ok().unwrap()
        });
        assert!(queue.cancel(first).is_some());
        assert_eq!(queue.next(), Some(start + 2 * SECOND));
        assert!(queue.cancel(second).is_some());
        assert_eq!((queue.len(), queue.next()), (0, None));
    }

    #[test]
    fn an_owner_is_noted_once() {
        let mut queue = Queue::default();
        for owner in [Owner(1), Owner::NONE, Owner(2), Owner(1)] {
            assert!(queue.insert(Instant::now(), owner, every_second()).is_ok());
        }
        assert_eq!(queue.served, [Owner(1), Owner(2)]);
    }

    #[test]
    fn an_interval_cancelled_while_it_fires_does_not_come_back() {
        let start = Instant::now();
        let mut queue = Queue::default();
        let key = queue
            .insert(start, Owner::NONE, every_second())
            .ok()
            .unwrap();
        let due = queue.pop_due(start).unwrap();
        let (fired, action) = (due.key, due.action);
        assert_eq!(fired, key);
        assert!(queue.cancel(key).is_some());
        assert!(queue.again(key, SECOND, action, start).is_err());
        assert_eq!((queue.len(), queue.next()), (0, None));
    }

    #[test]
    fn nothing_enters_a_closed_queue() {
        let start = Instant::now();
        let mut queue = Queue::default();
        assert!(queue.insert(start, Owner::NONE, every_second()).is_ok());
        assert!(!queue.is_closed());
        assert_eq!(queue.close().len(), 1);
        assert!(queue.is_closed());
        assert_eq!(queue.next(), None);
        assert!(queue.insert(start, Owner::NONE, every_second()).is_err());
        assert!(queue.pop_due(start).is_none());
    }

    /// A call that is wanted while the flag is set.
    struct Flagged(Arc<AtomicBool>);

    impl While for Flagged {
        fn is_wanted(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }

        fn call(self: Box<Self>) {}
    }

    #[test]
    fn a_sweep_looks_at_one_after_the_other_and_around() {
        let start = Instant::now();
        let mut queue = Queue::default();
        assert!(queue.sweep().is_none());
        let flags = [true, false, true].map(AtomicBool::new).map(Arc::new);
        for flag in &flags {
            let action = Action::While(Box::new(Flagged(Arc::clone(flag))));
            assert!(queue.insert(start, Owner::NONE, action).is_ok());
        }
        assert!(queue.insert(start, Owner::NONE, every_second()).is_ok());
        let round = |queue: &mut Queue| [(); 5].map(|()| queue.sweep().is_some());
        // The last one of each round finds the end.
        assert_eq!(round(&mut queue), [false, true, false, false, false]);
        flags[0].store(false, Ordering::Relaxed);
        assert_eq!(round(&mut queue)[..2], [true, false]);
        assert_eq!((queue.len(), queue.order.len()), (2, 2));
    }

    #[test]
    fn of_those_that_nobody_wants_few_stay() {
        let start = Instant::now();
        let mut queue = Queue::default();
        let insert = |queue: &mut Queue, is_wanted| {
            let flag = Arc::new(AtomicBool::new(is_wanted));
            let action = Action::While(Box::new(Flagged(flag)));
            assert!(queue.insert(start, Owner::NONE, action).is_ok());
        };
        (0..100).for_each(|_| insert(&mut queue, true));
        let mut most = 0;
        for _ in 0..10_000 {
            drop([queue.sweep(), queue.sweep()]);
            insert(&mut queue, false);
            most = most.max(queue.len());
        }
        assert!(most < 400, "{most}");
    }

    /// Of two owners, each is told of its own timers, and of those that anybody may have set.
    #[test]
    fn each_owner_is_told_what_may_wake_it() {
        let start = Instant::now();
        let (one, other) = (Owner(1), Owner(2));
        let told = |queue: &Queue, owner| queue.pending_for(owner, &|_| false);
        let once = || Action::Once(Box::new(|| ()));
        let mut queue = Queue::default();
        for (turns, owner) in [(3, one), (5, Owner::NONE), (4, one)] {
            assert!(queue.insert(start + turns * SECOND, owner, once()).is_ok());
        }
        assert_eq!(told(&queue, one), (3, Some(start + 3 * SECOND)));
        assert_eq!(told(&queue, other), (0, None), "never served here");
        let due = queue.pop_due(start + 3 * SECOND).unwrap();
        assert_eq!(told(&queue, one), (3, None), "it is being called");
        queue.fired(due.owner);
        assert_eq!(told(&queue, one), (2, Some(start + 4 * SECOND)));
        assert!(queue.insert(start, other, every_second()).is_ok());
        assert_eq!(told(&queue, other), (2, Some(start)));
        let due = queue.pop_due(start).unwrap();
        assert_eq!(told(&queue, other), (2, None));
        let again = queue.again(due.key, SECOND, due.action, start);
        queue.fired(due.owner);
        assert!(again.is_ok());
        assert_eq!(told(&queue, other), (2, Some(start + SECOND)));
        let sleep = Action::Wake(std::task::Waker::noop().clone());
        assert!(queue.insert(start, Owner::NONE, sleep).is_ok());
        assert_eq!(
            told(&queue, other),
            (2, Some(start + SECOND)),
            "no waker of its"
        );
        assert_eq!(queue.pending_for(other, &|_| true), (3, Some(start)));
    }
}
