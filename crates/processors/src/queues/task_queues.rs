//! All the places where tasks wait, and what the threads of a pool share besides.

use std::array;
use std::cell::Cell;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use filch_deque::{Steal, Stealer, Worker};
use filch_injector::{Injector, Mark};
use filch_sync::CachePadded;
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::cell::UnsafeCell;

use crate::protocol::state::coordinator::Work;
use crate::protocol::state::grant::{Permit, ShownTask};
use crate::protocol::{Coordinator, LongTurns};
use crate::queues::bound_tasks::BoundTasks;
use crate::queues::fairness::{AgeOrder, Fairness};
use crate::queues::find_work::{Random, StealPolicy};
use crate::queues::source::{Found, SourceSlot};
use crate::stats::Counters;

/// The queues, and the protocol over them.
pub(crate) struct Shared<T> {
    pub(crate) queues: TaskQueues<T>,
    pub(crate) coordinator: Coordinator,
    pub(crate) bound_tasks: BoundTasks<T>,
    pub(crate) long_turns: LongTurns,
    /// The time that a machine sleeps between two looks at a processor that it watches. Zero: no
    /// processor is watched.
    pub(crate) watch_interval: Duration,
    /// The clock of turn-taking.
    pub(crate) clock: fn() -> Instant,
    /// Asks the cache for the memory of a task that will soon run here.
    pub(crate) prefetch: fn(&T),
}

/// The local part of a processor. Only the thread with its permit reaches it.
#[derive(Debug)]
pub(crate) struct Local<T> {
    /// The number of the processor.
    pub(crate) own: usize,
    pub(crate) deque: Worker<T>,
    /// Tells when it is another task's turn.
    pub(crate) fair: Fairness,
    /// The lane of the global queue that had the last turn, where both have tasks.
    pub(crate) took_woken: Cell<bool>,
    /// Picks the first victim of a round, and the one to balance with.
    pub(crate) random: Random,
    pub(crate) policy: StealPolicy,
    /// `true` if the last task from elsewhere came from the global queue and brought others along:
    /// in a stream from outside, each look takes a cache line from the thread that brings it.
    pub(crate) is_fed: Cell<bool>,
}

impl<T: Send + 'static> Local<T> {
    /// `false` for tasks of a type without values: there are none, and no queue is looked into. The
    /// source of such a pool has all the work.
    pub(crate) const HAS_TASKS: bool = size_of::<Option<T>>() > 0;

    /// Returns whether the deque holds exactly one task.
    pub(crate) fn has_one(&self) -> bool {
        self.deque.len() == 1
    }
}

/// A processor: what other threads see of it, where to steal from it and what it has done; and its
/// local part.
pub(crate) struct Processor<T> {
    pub(crate) stealer: Stealer<T>,
    pub(crate) counters: CachePadded<Counters>,
    /// The task that a guest runs on it.
    pub(crate) guest: ShownTask,
    local: CachePadded<UnsafeCell<Local<T>>>,
}

// SAFETY: `local` is reached through `TaskQueues::local` alone, with the permit of its processor
// borrowed for as long. There is one such permit, and it is not Sync: one thread has it at a time.
// From thread to thread it goes by one of the edges that ARCHITECTURE.md lists (idle stack, grant,
// lock), each of which is a happens-before edge; so the part must be Send, and need not be Sync.
unsafe impl<T: Send> Sync for Processor<T> {}

/// All the places where work waits, except for bound tasks that have been found.
pub(crate) struct TaskQueues<T> {
    /// The processors that there are from the start.
    first: Box<[Processor<T>]>,
    /// The others, once one of them is to run.
    rest: OnceLock<Box<[Processor<T>]>>,
    /// The number of all.
    pub(crate) places: usize,
    /// Tasks that come from outside.
    pub(crate) global: GlobalQueue<T>,
    /// Tasks that have given way to all others.
    pub(crate) yielded: Arc<Injector<T>>,
    /// Tasks that can wait until no processor has anything else to do.
    pub(crate) idle_priority: Arc<Injector<T>>,
    /// The slot of the source, whose external tasks are no tasks.
    pub(crate) source: SourceSlot,
    /// Processors from here on have never run anything.
    reach: CachePadded<AtomicUsize>,
}

impl<T: Send + 'static> TaskQueues<T> {
    /// Makes the queues for up to `places` processors, of which `count` run from the start.
    pub(crate) fn new(count: usize, places: usize, now: Instant) -> Self {
        let [new, woken, yielded, idle_priority] = Self::injectors();
        let mut queues = Self {
            first: Box::default(),
            rest: OnceLock::new(),
            places,
            global: GlobalQueue { new, woken },
            yielded,
            idle_priority,
            source: SourceSlot::default(),
            reach: CachePadded::new(AtomicUsize::new(count)),
        };
        queues.first = queues.make(0..count, now);
        queues
    }

    /// One for each kind of tasks, or where there are none, one for all.
    fn injectors() -> [Arc<Injector<T>>; 4] {
        if Local::<T>::HAS_TASKS {
            return array::from_fn(|_| Arc::default());
        }
        let one = Arc::default();
        array::from_fn(|_| Arc::clone(&one))
    }

    fn make(&self, numbers: Range<usize>, now: Instant) -> Box<[Processor<T>]> {
        let made = numbers.map(|own| {
            let age_order = AgeOrder::new(&self.yielded, &self.global);
            let local = Local {
                own,
                deque: Worker::new(),
                fair: Fairness::new(age_order, now),
                took_woken: Cell::new(false),
                random: Random::new(own),
                policy: StealPolicy::default(),
                is_fed: Cell::new(false),
            };
            Processor {
                stealer: local.deque.stealer(),
                counters: CachePadded::new(Counters::default()),
                guest: ShownTask::default(),
                local: CachePadded::new(UnsafeCell::new(local)),
            }
        });
        made.collect()
    }

    /// The processor of that number, which may run.
    #[inline]
    pub(crate) fn processor(&self, number: usize) -> &Processor<T> {
        match self.first.get(number) {
            Some(processor) => processor,
            None => self.later(number),
        }
    }

    #[cold] // Else its steps are mixed with the common ones.
    fn later(&self, number: usize) -> &Processor<T> {
        &self.rest()[number - self.first.len()]
    }

    fn rest(&self) -> &[Processor<T>] {
        self.rest.get().map_or(&[], |rest| rest)
    }

    /// The local part of the processor that `permit` is for: one of the same pool.
    #[inline]
    pub(crate) fn local<'a>(&'a self, permit: &'a Permit) -> &'a Local<T> {
        let local = &self.processor(permit.processor()).local;
        // SAFETY: shared references only, and all of them on the thread that has the permit: see
        // `Sync` of `Processor`.
        local.with(|local| unsafe { &*local })
    }

    /// The counters of a processor.
    pub(crate) fn counters(&self, processor: usize) -> &Counters {
        &self.processor(processor).counters
    }

    /// Takes an external task, unless a processor has tasks, which come first. The calling thread
    /// has its permit in hand. It asks before it searches: if each external task took a search, two
    /// processors with short ones would wake each other for each: the one that is woken counts as
    /// searching, the other one may not search then, and it would sleep beside the rest.
    pub(crate) fn take_external_task(&self) -> Option<Found<T>> {
        let has_task = |processor: &Processor<T>| !processor.stealer.is_empty();
        let any_has_tasks = || Local::<T>::HAS_TASKS && self.in_reach().any(has_task);
        if !self.source.is_attached() || any_has_tasks() {
            return None;
        }
        self.source.take().map(Found::ExternalTask)
    }

    /// Processors below `count` may run from now on.
    pub(crate) fn reach(&self, count: usize, now: Instant) {
        let first = self.first.len();
        if count > first {
            self.rest.get_or_init(|| self.make(first..self.places, now));
        }
        // ORDERING: Relaxed: such a processor runs only after this, so a thread that synchronises
        // with what it does sees this: a thief that looks into its deque, and the sleeper's second
        // look, by the fences of their handshake.
        self.reach.fetch_max(count, Ordering::Relaxed);
    }

    /// The processors that may have run, and may have something in their deques.
    pub(crate) fn in_reach(&self) -> impl Iterator<Item = &Processor<T>> + Clone {
        let made = self.first.iter().chain(self.rest());
        made.take(self.count_in_reach())
    }

    pub(crate) fn count_in_reach(&self) -> usize {
        let made = self.first.len() + self.rest().len();
        // ORDERING: Relaxed: see `reach`. A thread may hear of the reach before it hears of `rest`.
        self.reach.load(Ordering::Relaxed).min(made)
    }

    /// Returns whether any queue of tasks holds one, but for the only one of a `watched` processor.
    fn has_task_beside(&self, watched: impl Fn(usize) -> bool) -> bool {
        // While an owner replaces its ring it has more than one task.
        let counts = |(number, processor): (usize, &Processor<T>)| {
            let stealer = &processor.stealer;
            match watched(number) && stealer.sole().is_some() {
                true => false,
                false => !stealer.is_empty(),
            }
        };
        Local::<T>::HAS_TASKS
            && (!self.global.is_empty()
                || self.in_reach().enumerate().any(counts)
                || !self.yielded.is_empty()
                || !self.idle_priority.is_empty())
    }
}

impl<T: Send + 'static> Work for TaskQueues<T> {
    fn exists_beside(&self, watched: impl Fn(usize) -> bool) -> bool {
        self.has_task_beside(watched) || !self.source.is_empty()
    }

    fn may_exist(&self, watched: impl Fn(usize) -> bool) -> bool {
        self.has_task_beside(watched) || self.source.may_have_some()
    }

    fn evacuate(&self, permit: &Permit) -> bool {
        let stealer = &self.processor(permit.processor()).stealer;
        let mut moved = false;
        loop {
            match stealer.steal() {
                Steal::Success(task) => {
                    self.global.new.push(task);
                    moved = true;
                }
                // Lost to a thief, which has it.
                Steal::Retry => {}
                // Only the thread with the permit could add to it.
                Steal::Empty => return moved,
            }
        }
    }
}

/// The global queue: tasks that threads from outside make runnable, in two lanes, each first in,
/// first out. They leave them by turns while there are some in both, so that one that is woken does
/// not wait until all have begun that came before.
pub(crate) struct GlobalQueue<T> {
    /// Tasks that are new, as far as is known.
    pub(crate) new: Arc<Injector<T>>,
    /// Tasks that have run before, or for which a thread waits.
    pub(crate) woken: Arc<Injector<T>>,
}

/// The end of the queue at some moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GlobalMark {
    new: Mark,
    woken: Mark,
}

impl<T: Send> GlobalQueue<T> {
    /// The oldest task of the lane whose turn it is, or of the other one; and up to `more` of that
    /// lane's next ones into `sink`. The turns are those of one processor.
    pub(crate) fn pop_batch(
        &self,
        took_woken: &Cell<bool>,
        more: usize,
        mut sink: impl FnMut(T),
    ) -> Option<T> {
        let wants_woken = !took_woken.get();
        let [first, second] = match wants_woken {
            true => [&self.woken, &self.new],
            false => [&self.new, &self.woken],
        };
        if let Some(task) = first.pop_batch(more, &mut sink) {
            took_woken.set(wants_woken);
            return Some(task);
        }
        second.pop_batch(more, sink)
    }

    /// The oldest task that is new, or else that was woken.
    pub(crate) fn pop_new_first(&self) -> Option<T> {
        self.new.pop().or_else(|| self.woken.pop())
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.new.is_empty() && self.woken.is_empty()
    }

    /// Returns the numbers of new and of woken tasks.
    pub(crate) fn lengths(&self) -> (usize, usize) {
        (self.new.len(), self.woken.len())
    }

    /// Returns the mark behind all that is in there now.
    pub(crate) fn end(&self) -> GlobalMark {
        GlobalMark {
            new: self.new.end(),
            woken: self.woken.end(),
        }
    }

    /// Returns whether all is gone that was before the mark.
    pub(crate) fn is_past(&self, mark: GlobalMark) -> bool {
        self.new.is_past(mark.new) && self.woken.is_past(mark.woken)
    }
}
