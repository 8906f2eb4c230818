//! What the process table holds of a process while it lives.

use std::collections::VecDeque;
use std::error::Error;
use std::ptr::NonNull;
use std::time::Instant;
use std::{fmt, iter};

use filch_process_state::Reason;

use crate::link::watch::{Watcher, Watchers};
use crate::process::output::Successor;
use crate::table::inline_box::InlineBox;
use crate::table::slot::Slot;
use crate::{Down, Event, Exited, Process, Protocol};

/// A process that the scheduler has: in place, if it is small.
pub(crate) type ProcessBox<P> = InlineBox<dyn Process<P>>;

pub(crate) fn process_box<P: Protocol, T: Process<P> + 'static>(process: T) -> ProcessBox<P> {
    // SAFETY: the cast keeps the address.
    unsafe {
        InlineBox::new(
            process,
            |room| room.cast::<T>(),
            |process| Box::new(process),
        )
    }
}

/// What runs in a slot. Only the worker that has the process touches it.
pub(crate) struct Body<P: Protocol> {
    pub(crate) process: ProcessBox<P>,
    /// What it said at the end of its last step.
    pub(crate) waits: Waits,
    /// Whether the end of a linked process is an event for it.
    pub(crate) trap_exits: bool,
    /// Whether its messages count as delivered when it reads them, and not when a step is given
    /// them.
    pub(crate) reads_later: bool,
    /// How many events its next step is given: at least one. Learnt from what they cost when it
    /// was behind.
    pub(crate) allowance: u32,
    /// Whether anything is known of what its events cost.
    pub(crate) sampled: bool,
    /// What few processes have.
    pub(crate) cold: Option<Box<ColdState<P>>>,
}

/// What the worker keeps for a process from turn to turn.
pub(crate) struct ColdState<P: Protocol> {
    /// What was drained before a step could have it.
    pub(crate) backlog: Backlog<P>,
    /// In a turn: whether there was more in the queue than was drained.
    pub(crate) more: bool,
    /// Whether there was more than a step is given, and it has not caught up since.
    pub(crate) behind: bool,
    /// Since when it has gone on with its backlog, step after step.
    pub(crate) since: Option<Instant>,
    /// The step that it takes, or took last, if that is timed.
    pub(crate) timed: Option<TimedStep>,
    /// What is told of its end.
    pub(crate) watchers: Watchers,
}

/// A step of a process that has more events than the step was given.
#[derive(Clone, Copy)]
pub(crate) struct TimedStep {
    pub(crate) began: Instant,
    /// Those that it was given.
    pub(crate) events: u32,
}

impl<P: Protocol> Body<P> {
    pub(crate) fn cold(&mut self) -> &mut ColdState<P> {
        self.cold.get_or_insert_with(|| {
            Box::new(ColdState {
                backlog: Backlog::new(),
                more: false,
                behind: false,
                since: None,
                timed: None,
                watchers: Watchers::default(),
            })
        })
    }
}

/// What a process that is not running waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// Its turn: it was submitted, or it goes on.
    Turn,
    /// The completion of a command.
    Commands,
    /// Any event.
    Events,
    /// To be woken, with an event or without.
    Wakes,
}

/// A process in a run queue: its slot. The process's pin keeps the slot from meaning another one.
///
/// An address and not an index: it is looked up between two read-modify-writes, where nothing else
/// goes on.
pub(crate) struct Task<P: Protocol>(NonNull<Slot<P>>);

impl<P: Protocol> Task<P> {
    #[inline]
    pub(crate) fn of(slot: &Slot<P>) -> Self {
        Self(NonNull::from(slot))
    }

    /// Asks the cache for the slot, to be written: on x86-64 alone, as std knows how. Not for all
    /// of a slot with room for a large output.
    #[inline]
    pub(crate) fn prefetch(&self) {
        #[cfg(target_arch = "x86_64")]
        for byte in (0..size_of::<Slot<P>>().min(256)).step_by(64) {
            use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
            let line = self.0.as_ptr().wrapping_byte_add(byte);
            // SAFETY: a hint, which reads nothing: any address will do.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(line.cast()) };
        }
    }

    /// Whether it stands for the process in that slot.
    pub(crate) fn is_of(&self, slot: &Slot<P>) -> bool {
        self.0 == NonNull::from(slot)
    }

    /// # Safety
    /// The slot's table outlives the result.
    #[inline]
    pub(crate) unsafe fn slot<'table>(&self) -> &'table Slot<P> {
        // SAFETY: it was made of a reference to a slot, and slots do not move, nor go before their
        // table does (contract).
        unsafe { self.0.as_ref() }
    }
}

// SAFETY: it stands for a reference to a slot, which is Sync.
unsafe impl<P: Protocol> Send for Task<P> {}

/// What a process's queue holds.
pub enum Item<P: Protocol> {
    /// For the process.
    Event(Event<P>),
    /// For the worker that drains the queue. The process does not see it, and takes no step for it.
    #[expect(private_interfaces, reason = "models know of events alone")]
    Signal(Signal<P>),
}

/// What a worker does with a process between two steps.
pub(crate) enum Signal<P: Protocol> {
    /// Has this told of the end of the process.
    Attach(Watcher),
    /// A process that it monitors is over.
    Down(Box<Down>),
    /// A process that it is linked to is over.
    Exited(Box<Exited>),
    /// Replaces it by a new version.
    Upgrade(Box<Successor<P>>),
    /// Ends it with this error.
    Fail(Box<Box<dyn Error + Send + Sync>>),
    /// Takes the messages that its policy has kept for it.
    Fetch,
}

impl<P: Protocol> Signal<P> {
    /// Which waiting processes it wakes. An idle process takes a turn for each signal, so that they
    /// do not pile up in its queue; one that waits for commands, only for those that may end it, or
    /// that somebody waits for.
    pub(crate) fn wakes(&self) -> Reason {
        match self {
            Self::Attach(_) | Self::Down(_) | Self::Fetch => Reason::Message,
            Self::Exited(_) | Self::Upgrade(_) | Self::Fail(_) => Reason::Cancel,
        }
    }

    /// Whether it must not stand behind the events in the queue: it may end the process, or replace
    /// it.
    pub(crate) fn is_urgent(&self) -> bool {
        match self {
            Self::Attach(_) | Self::Down(_) | Self::Fetch => false,
            Self::Exited(exited) => !exited.reason.is_normal(),
            Self::Upgrade(_) | Self::Fail(_) => true,
        }
    }
}

impl<P: Protocol> fmt::Debug for Item<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(event) => event.fmt(f),
            Self::Signal(Signal::Upgrade(_)) => f.write_str("Upgrade"),
            Self::Signal(Signal::Attach(_)) => f.write_str("Attach"),
            Self::Signal(Signal::Fail(error)) => write!(f, "Fail({error})"),
            Self::Signal(Signal::Fetch) => f.write_str("Fetch"),
            Self::Signal(Signal::Down(down)) => down.fmt(f),
            Self::Signal(Signal::Exited(exited)) => exited.fmt(f),
        }
    }
}

/// Events in the order in which a step gets them.
pub(crate) type EventList<P> = VecDeque<Event<P>>;

/// Older than everything in the queue, and younger than what is in the inbox.
///
/// A worker looks ahead for two reasons: the process waits for commands, and their completions
/// stand behind more messages than a step is given; or an urgent signal stands behind events.
pub(crate) struct Backlog<P: Protocol> {
    completions: EventList<P>,
    /// In the order in which they came.
    others: EventList<P>,
    /// How many of the others are cancels.
    cancels: usize,
}

impl<P: Protocol> Backlog<P> {
    pub(crate) fn new() -> Self {
        Self {
            completions: VecDeque::new(),
            others: VecDeque::new(),
            cancels: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.completions.is_empty() && self.others.is_empty()
    }

    /// Whether it has what ends a wait for commands.
    pub(crate) fn has_wait_end(&self) -> bool {
        !self.completions.is_empty() || self.cancels > 0
    }

    /// Adds what comes after all that is there.
    pub(crate) fn push(&mut self, event: Event<P>) {
        match event {
            Event::Completed { .. } => self.completions.push_back(event),
            Event::Cancel(_) => {
                self.cancels += 1;
                self.others.push_back(event);
            }
            Event::Message(_) | Event::Down(_) | Event::Exited(_) => self.others.push_back(event),
        }
    }

    /// What comes first: completions, then the others, except for those whose watch the process has
    /// cancelled since.
    pub(crate) fn pop(&mut self) -> Option<Event<P>> {
        if let Some(completed) = self.completions.pop_front() {
            return Some(completed);
        }
        while let Some(event) = self.others.pop_front() {
            if matches!(event, Event::Cancel(_)) {
                self.cancels -= 1;
            }
            if !event.is_cancelled() {
                return Some(event);
            }
        }
        None
    }

    /// The first event that ends a wait for commands, wherever it stands: a completion, else a
    /// cancel.
    pub(crate) fn pop_wait_end(&mut self) -> Option<Event<P>> {
        if let Some(completed) = self.completions.pop_front() {
            return Some(completed);
        }
        if self.cancels == 0 {
            return None;
        }
        self.cancels -= 1;
        let is_cancel = |event: &Event<P>| matches!(event, Event::Cancel(_));
        let place = self.others.iter().position(is_cancel)?;
        self.others.remove(place)
    }

    /// Puts an event of the inbox back before all others of its kind.
    pub(crate) fn put_back(&mut self, event: Event<P>) {
        if let Event::Completed { .. } = event {
            return self.completions.push_front(event);
        }
        self.cancels += usize::from(matches!(event, Event::Cancel(_)));
        self.others.push_front(event);
    }

    /// All there is.
    pub(crate) fn into_events(mut self) -> impl Iterator<Item = Event<P>> {
        iter::from_fn(move || self.pop())
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests;
