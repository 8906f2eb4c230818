//! Turn-taking: at times a processor does not take the newest of its own tasks, but serves the
//! global queue and those that have waited longest, however busily tasks on top of the deque wake
//! each other. Common tasks pass one door, the [clock](TurnClock)'s tick, and do not come here: the
//! clock counts turns, which costs nothing, and corrects itself by the time, which costs as much to
//! read as a short task.

use std::cell::Cell;
use std::time::Instant;

use filch_injector::{Injector, Mark};

use crate::queues::source::Found;
use crate::queues::task_queues::{GlobalMark, GlobalQueue, Local, Processor, Shared, TaskQueues};

/// A processor's knowledge of whose turn it is.
#[derive(Debug)]
pub(crate) struct Fairness {
    /// Tells when the time is to be read.
    pub(crate) clock: TurnClock,
    /// `true` if the last reading of the time brought a task of the global queue, or an external
    /// task.
    took_outside: Cell<bool>,
    /// `true` if the last of these was an external task.
    took_external: Cell<bool>,
    /// `true` if the last rotation was for a task that had given way.
    took_yielded: Cell<bool>,
    /// The age of tasks that have given way, beside those of the global queue.
    age_order: AgeOrder,
    /// The end of the turn that tasks have before threads that wait, since something long has made
    /// way for them.
    pub(crate) turn_of_tasks: Cell<Option<Instant>>,
}

impl Fairness {
    pub(crate) fn new(age_order: AgeOrder, now: Instant) -> Self {
        Self {
            clock: TurnClock::new(now),
            took_outside: Cell::new(false),
            took_external: Cell::new(false),
            took_yielded: Cell::new(false),
            age_order,
            turn_of_tasks: Cell::new(None),
        }
    }
}

impl<T: Send + 'static> Local<T> {
    /// Reads the time, after so many turns that it is to be read, and returns what comes first, if
    /// so much time has passed that something does: by turns the oldest task of the global queue,
    /// or an external task of the source; and behind it, if that is due, a task that has waited
    /// while newer ones ran. The calling thread has its permit in hand: what the source calls must
    /// not find it where tasks find it. It has no turn if it `may_take_external` not.
    #[cold]
    #[inline(never)]
    pub(crate) fn check_fairness(
        &self,
        shared: &Shared<T>,
        may_take_external: bool,
    ) -> Option<Found<T>> {
        let now = self.fair.clock.since_it_began((shared.clock)());
        // Beside a flood of long tasks from outside each look is due.
        let in_a_row = self.fair.took_outside.replace(false) && self.fair.clock.interval() == 1;
        let due = self.fair.clock.read(now);
        let mut outside = None;
        if due != Due::Nothing {
            shared.queues.counters(self.own).looks.add(1);
            if !in_a_row {
                outside = self.take_from_outside(shared, now, may_take_external);
            }
        }
        let waited = match due {
            Due::Rotation => {
                // Beside tasks that never rest no thread goes idle, which would do that.
                shared.coordinator.restore_missing(&shared.queues);
                self.rotate(shared, now)
            }
            Due::Nothing | Due::Look => None,
        };
        if outside.is_none() && waited.is_none() {
            return None;
        }
        if !self.deque.is_empty() {
            // One that gave way, and was kept as the next to run, has woken nobody.
            let coordinator = &shared.coordinator;
            coordinator.wake_one_for_deque(self.own, || self.has_one());
        }
        match (outside, waited) {
            (None, waited) => waited.map(Found::Task),
            (outside, None) => outside,
            // A processor that finds one outside each time would else never balance with another
            // one.
            (outside, Some(next)) => {
                if let Err(next) = self.deque.try_push(next) {
                    shared.queues.global.new.push(next);
                }
                outside
            }
        }
    }

    /// Takes one task of the global queue; or by turns an external task, if the source has had no
    /// turn for so long as a look is away.
    fn take_from_outside(
        &self,
        shared: &Shared<T>,
        now: Nanos,
        may_take_external: bool,
    ) -> Option<Found<T>> {
        let is_sources = may_take_external
            && shared.queues.source.is_attached()
            && self.fair.clock.is_source_due(now);
        let external = || {
            self.fair.clock.source_was_asked(now);
            shared.queues.source.take().map(Found::ExternalTask)
        };
        let task = || {
            // Mostly it is, and then that costs less than the attempt to take one.
            if shared.queues.global.is_empty() {
                return None;
            }
            self.take_global(shared, 0).map(Found::Task)
        };
        let found = match (is_sources, self.fair.took_external.get()) {
            (false, _) => task(),
            (true, false) => external().or_else(task),
            (true, true) => task().or_else(external),
        }?;
        self.fair.took_outside.set(true);
        let is_external = matches!(found, Found::ExternalTask(_));
        self.fair.took_external.set(is_external);
        self.fair.clock.doubt(now);
        Some(found)
    }

    /// Takes by turns one that has given way, or the oldest of a deque; stays due if there is none.
    fn rotate(&self, shared: &Shared<T>, now: Nanos) -> Option<T> {
        let yielded = match self.fair.took_yielded.get() {
            true => None,
            false => self.take_senior(shared),
        };
        self.fair.took_yielded.set(!self.fair.took_yielded.get());
        let processor = shared.queues.processor(self.own);
        let task = yielded
            .or_else(|| self.balance(shared))
            .or_else(|| oldest(processor))?;
        self.fair.clock.rotated(now);
        processor.counters.rotated.add(1);
        Some(task)
    }

    /// Takes the oldest of those that have given way, unless turns are long and it would overtake a
    /// task of the global queue. It may overtake short ones, or a flood of them would hold it up
    /// for as long as it grows: that costs a newcomer no more than if the short turn before had
    /// been a long one.
    fn take_senior(&self, shared: &Shared<T>) -> Option<T> {
        let TaskQueues {
            yielded, global, ..
        } = &shared.queues;
        let is_older = self.fair.age_order.is_older(yielded, global);
        match is_older || self.fair.clock.interval() > 1 {
            true => self.take_yielded(shared),
            false => None,
        }
    }

    /// Takes the oldest task of a random other processor, if that has more: processors that are all
    /// busy do not steal, and what they have would stay as unequal as it is.
    fn balance(&self, shared: &Shared<T>) -> Option<T> {
        let count = shared.queues.count_in_reach();
        let others = count.checked_sub(2)? + 1;
        let victim = (self.own + 1 + self.random.below(others)) % count;
        let victim = shared.queues.processor(victim);
        if victim.stealer.len() < self.deque.len() + 2 {
            return None;
        }
        let task = oldest(victim)?;
        shared.queues.counters(self.own).balanced.add(1);
        Some(task)
    }
}

/// Takes the oldest task of a processor, unless a thief gets it, which runs it: fair enough.
pub(crate) fn oldest<T: Send>(processor: &Processor<T>) -> Option<T> {
    processor.stealer.steal().success()
}

/// Finds out which tasks gave way before all that wait in the global queue came. Such a task
/// overtakes nobody; another one would have its second turn before the first turn of a task that
/// was there before.
///
/// The two queues have no common order. So both ends are marked at once, time and again: when the
/// global queue is past its mark, those that are before the other mark are the older ones.
#[derive(Debug)]
pub(crate) struct AgeOrder {
    /// The end of those that are known to be older, if any are.
    older: Cell<Option<Mark>>,
    /// The ends of those that have given way, and then of the global queue, when it was last past.
    marked: Cell<(Mark, GlobalMark)>,
}

impl AgeOrder {
    pub(crate) fn new<T: Send>(yielded: &Injector<T>, global: &GlobalQueue<T>) -> Self {
        Self {
            older: Cell::new(None),
            marked: Cell::new((yielded.end(), global.end())),
        }
    }

    /// Returns whether the oldest that has given way is older than all that wait in the global
    /// queue. May say no of one that is, while as many come to that queue as leave it.
    pub(crate) fn is_older<T: Send>(&self, yielded: &Injector<T>, global: &GlobalQueue<T>) -> bool {
        if global.is_empty() {
            return true;
        }
        let (gave_way, came) = self.marked.get();
        if global.is_past(came) {
            self.older.set(Some(gave_way));
            self.marked.set((yielded.end(), global.end()));
        }
        (self.older.get()).is_some_and(|older| !yielded.is_past(older))
    }
}

/// Nanoseconds since the clock began: to be compared at less cost than two [`Instant`]s.
pub(crate) type Nanos = u64;

/// The time of the turns between two looks, where a turn takes no longer itself.
pub(crate) const LOOK: Nanos = 100_000;

/// The time that the newest tasks of a deque go on before it is another one's turn.
pub(crate) const ROTATION: Nanos = 200_000;

/// The largest number of turns between two readings.
pub(crate) const MAX_INTERVAL: u32 = 122;

/// The largest number of tasks that come along with one from a global queue.
const MAX_BATCH: u32 = 16;

/// The actions that are due after a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Nothing,
    /// A look at the global queue.
    Look,
    /// The same, and then it is another task's turn.
    Rotation,
}

/// Counts the turns of a processor, and reads the time in one of `interval` turns only.
///
/// The turns to come are taken to be as long as the last ones. That is wrong when other tasks run
/// than before, so then it forgets, and reads the time after one turn, two, four and so on.
#[derive(Debug)]
pub(crate) struct TurnClock {
    began: Instant,
    /// Turns before the next reading.
    pub(crate) left: Cell<u32>,
    /// Turns from one reading to the next.
    interval: Cell<u32>,
    /// Turns that would take as long as a look is away, going by the last that were measured.
    estimate: Cell<u32>,
    /// The last reading, if all that has passed since was turns.
    read: Cell<Option<Nanos>>,
    looked: Cell<Nanos>,
    rotated: Cell<Nanos>,
    pub(crate) doubted: Cell<Nanos>,
    /// The time of the source's last turn.
    asked: Cell<Nanos>,
}

impl TurnClock {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            began: now,
            left: Cell::new(1),
            interval: Cell::new(1),
            estimate: Cell::new(1),
            read: Cell::new(None),
            looked: Cell::new(0),
            rotated: Cell::new(0),
            doubted: Cell::new(0),
            asked: Cell::new(0),
        }
    }

    /// Returns how long after its beginning `now` is. 584 years fit.
    pub(crate) fn since_it_began(&self, now: Instant) -> Nanos {
        now.saturating_duration_since(self.began).as_nanos() as Nanos
    }

    /// Counts a turn that begins; returns whether the time is to be read before.
    #[inline]
    pub(crate) fn tick(&self) -> bool {
        match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                false
            }
            None => true,
        }
    }

    /// Takes the reading `now`: sets the number of turns until the next, and returns what is due.
    pub(crate) fn read(&self, now: Nanos) -> Due {
        let turns = self.interval.get();
        if let Some(last) = self.read.replace(Some(now)) {
            let took = now.saturating_sub(last);
            let estimate = turns_per_look(turns, took);
            self.estimate.set(estimate);
            self.interval.set(estimate.min(2 * turns));
        }
        self.left.set(self.interval.get() - 1);
        // At the largest interval the turns are so short that no time need have passed.
        let has_passed = |time: &Cell<Nanos>, long| now.saturating_sub(time.get()) >= long;
        if turns < MAX_INTERVAL && !has_passed(&self.looked, LOOK * 3 / 4) {
            return Due::Nothing;
        }
        self.looked.set(now);
        match has_passed(&self.rotated, ROTATION) {
            true => Due::Rotation,
            false => Due::Look,
        }
    }

    /// Notes a rotation that was due: the tasks that run from now on are others.
    pub(crate) fn rotated(&self, now: Nanos) {
        self.rotated.set(now);
        self.forget(0);
    }

    /// Reads the time soon, since a task from outside is going to run, and perhaps others after it.
    /// Not more often than costs nothing: where turns are short, looks are frequent.
    pub(crate) fn doubt(&self, now: Nanos) {
        if now.saturating_sub(self.doubted.get()) >= LOOK {
            self.doubted.set(now);
            self.forget(0);
        }
    }

    /// Returns whether the source has had no turn for as long as a look is away. Looks are more
    /// frequent where turns are short, and an external task may be long: little time would be left
    /// for these turns.
    pub(crate) fn is_source_due(&self, now: Nanos) -> bool {
        now.saturating_sub(self.asked.get()) >= LOOK * 3 / 4
    }

    /// Notes that the source has had its turn.
    pub(crate) fn source_was_asked(&self, now: Nanos) {
        self.asked.set(now);
    }

    /// Notes that what passes from now on is no turn: the processor goes idle, or waits for a call.
    /// The task that runs then is unknown.
    pub(crate) fn pause(&self) {
        self.forget(1);
    }

    /// Notes a pause in the middle of a turn, at a call that may block. The next reading is not put
    /// off: it would never come where each task makes such a call.
    pub(crate) fn pause_in_turn(&self) {
        self.forget(self.left.get().min(1));
    }

    /// Reads the time after each turn, once `left` have passed, until turns are known to be short.
    fn forget(&self, left: u32) {
        self.read.set(None);
        self.interval.set(1);
        self.left.set(left);
    }

    /// Turns from one reading to the next.
    pub(crate) fn interval(&self) -> u32 {
        self.interval.get()
    }

    /// Returns how many more tasks may come along with one that is taken from the global queue: few
    /// of long ones, as those of a batch run backwards. Not less after a doubt, or a stream of
    /// short tasks from outside would come singly at times, which costs its producer.
    pub(crate) fn batch(&self) -> usize {
        MAX_BATCH.min(self.estimate.get() / 4) as usize
    }
}

/// Returns how many turns take [`LOOK`] if they are as long as so many, which `took` so long
/// together.
pub(crate) fn turns_per_look(turns: u32, took: Nanos) -> u32 {
    let wanted = LOOK * u64::from(turns) / took.max(1);
    u32::try_from(wanted).map_or(MAX_INTERVAL, |wanted| wanted.clamp(1, MAX_INTERVAL))
}
