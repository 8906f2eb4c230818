//! Turn-taking: at times a processor does not take the newest of its own tasks, but serves the
//! global queue and those that have waited longest, however busily tasks on top of the deque wake
//! each other. Common tasks pass one door, the [clock](TurnClock)'s tick, and do not come here.

use std::cell::Cell;
use std::time::Instant;

use filch_injector::{Injector, Mark};

use crate::queues::source::Found;
use crate::queues::task_queues::{GlobalMark, GlobalQueue, Local, Processor, Shared, TaskQueues};
use crate::queues::turn_clock::{Due, Nanos, TurnClock};

/// A processor's knowledge of whose turn it is.
#[derive(Debug)]
pub(crate) struct Fairness {
    /// Tells when the time is to be read.
    pub(crate) clock: TurnClock,
    /// `true` if the last reading of the time brought a task of the global queue, or a piece.
    took_outside: Cell<bool>,
    /// `true` if the last of these was a piece.
    took_piece: Cell<bool>,
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
            took_piece: Cell::new(false),
            took_yielded: Cell::new(false),
            age_order,
            turn_of_tasks: Cell::new(None),
        }
    }
}

impl<T: Send + 'static> Local<T> {
    /// Reads the time, after so many turns that it is to be read, and returns what comes first, if
    /// so much time has passed that something does: by turns the oldest task of the global queue,
    /// or a piece of the source; and behind it, if that is due, a task that has waited while newer
    /// ones ran. The calling thread has its permit in hand: what the source calls must not find it
    /// where tasks find it. It has no turn if it `may_take_piece` not.
    #[cold]
    #[inline(never)]
    pub(crate) fn check_fairness(
        &self,
        shared: &Shared<T>,
        may_take_piece: bool,
    ) -> Option<Found<T>> {
        let now = self.fair.clock.since_it_began((shared.clock)());
        // Beside a flood of long tasks from outside each look is due.
        let in_a_row = self.fair.took_outside.replace(false) && self.fair.clock.interval() == 1;
        let due = self.fair.clock.read(now);
        let processor = &shared.queues.processors[self.own];
        let mut outside = None;
        if due != Due::Nothing {
            processor.counters.looks.add(1);
            if !in_a_row {
                outside = self.take_from_outside(shared, now, may_take_piece);
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
        if (outside.is_some() || waited.is_some()) && !self.deque.is_empty() {
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
                    shared.queues.global.push(next);
                }
                outside
            }
        }
    }

    /// Takes one task of the global queue; or by turns a piece, if the source has had no turn for
    /// so long as a look is away.
    fn take_from_outside(
        &self,
        shared: &Shared<T>,
        now: Nanos,
        may_take_piece: bool,
    ) -> Option<Found<T>> {
        let is_sources = may_take_piece
            && shared.queues.source.is_attached()
            && self.fair.clock.is_source_due(now);
        let piece = || {
            self.fair.clock.source_was_asked(now);
            shared.queues.source.take().map(Found::Piece)
        };
        let task = || {
            // Mostly it is, and then that costs less than the attempt to take one.
            if shared.queues.global.is_empty() {
                return None;
            }
            self.take_global(shared, 0).map(Found::Task)
        };
        let found = match (is_sources, self.fair.took_piece.get()) {
            (false, _) => task(),
            (true, false) => piece().or_else(task),
            (true, true) => task().or_else(piece),
        }?;
        self.fair.took_outside.set(true);
        let is_piece = matches!(found, Found::Piece(_));
        self.fair.took_piece.set(is_piece);
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
        let processor = &shared.queues.processors[self.own];
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
        let processors = shared.queues.in_reach();
        let others = processors.len().checked_sub(2)? + 1;
        let victim = (self.own + 1 + self.random.below(others)) % processors.len();
        if processors[victim].stealer.len() < self.deque.len() + 2 {
            return None;
        }
        let task = oldest(&processors[victim])?;
        let counters = &shared.queues.processors[self.own].counters;
        counters.balanced.add(1);
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
    /// The end of those that are known to be older.
    older: Cell<Mark>,
    /// The ends of those that have given way, and then of the global queue, when it was last past.
    marked: Cell<(Mark, GlobalMark)>,
}

impl AgeOrder {
    pub(crate) fn new<T: Send>(yielded: &Injector<T>, global: &GlobalQueue<T>) -> Self {
        let marked = (yielded.end(), global.end());
        Self {
            older: Cell::new(marked.0),
            marked: Cell::new(marked),
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
            self.older.set(gave_way);
            self.marked.set((yielded.end(), global.end()));
        }
        !yielded.is_past(self.older.get())
    }
}
