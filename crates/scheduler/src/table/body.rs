//! The state of a live process in the process table.

use std::collections::VecDeque;
use std::time::Instant;

use filch_process_state::Reason;

use crate::link::watch::{Watch, Watches};
use crate::process::inline_box::ProcessBox;
use crate::process::output::Successor;
use crate::protocol::debug_fields;
use crate::{Ended, Event, ProcessError, Protocol};

/// A process in its slot. Only the worker that has the process touches it.
pub(crate) struct Body<P: Protocol> {
    pub(crate) process: ProcessBox<P>,
    /// The wait that its last step has said.
    pub(crate) waits: Waits,
    /// The number of events for its next step: at least one. Learnt from their cost when it was
    /// behind.
    pub(crate) allowance: u32,
    /// Set once the cost of its events was measured.
    pub(crate) sampled: bool,
    /// State that few processes have.
    pub(crate) cold: Option<Box<ColdState<P>>>,
}

/// State that the worker keeps for a process from turn to turn.
pub(crate) struct ColdState<P: Protocol> {
    /// Events that were drained before a step could have them.
    pub(crate) backlog: Backlog<P>,
    /// Set when there is more than a step is given, until it has caught up.
    pub(crate) behind: bool,
    /// The time since when it has gone on with its backlog, step after step.
    pub(crate) since: Option<Instant>,
    /// The step that it takes, or took last, if it is timed.
    pub(crate) timed: Option<TimedStep>,
    /// The watches that tell of its end.
    pub(crate) watches: Watches,
}

/// A step of a process that has more events than the step was given.
#[derive(Clone, Copy)]
pub(crate) struct TimedStep {
    pub(crate) began: Instant,
    /// The number of events that it was given.
    pub(crate) events: u32,
}

impl<P: Protocol> Body<P> {
    #[inline]
    pub(crate) fn has_backlog(&self) -> bool {
        (self.cold.as_ref()).is_some_and(|cold| !cold.backlog.is_empty())
    }

    pub(crate) fn cold(&mut self) -> &mut ColdState<P> {
        self.cold.get_or_insert_with(|| {
            Box::new(ColdState {
                backlog: Backlog::new(),
                behind: false,
                since: None,
                timed: None,
                watches: Watches::default(),
            })
        })
    }
}

/// The wait of a process that is not running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// For its turn: it was submitted, or it goes on.
    Turn,
    /// For the completion of a command.
    Commands,
    /// For any event.
    Events,
    /// For a wake-up, with an event or without.
    Wakes,
}

impl Waits {
    /// Checks if these events, with so many completions among them, end the wait.
    #[inline]
    pub(crate) fn end_by<P: Protocol>(self, completions: u32, events: &EventList<P>) -> bool {
        match self {
            Self::Commands => {
                completions > 0 || events.iter().any(|event| matches!(event, Event::Cancel(_)))
            }
            Self::Events => !events.is_empty(),
            Self::Turn | Self::Wakes => true,
        }
    }
}

/// An item in a process's queue.
pub enum Item<P: Protocol> {
    /// An event for the process.
    Event(Event<P>),
    /// A signal to the worker that drains the queue. The process takes no step for it.
    #[expect(private_interfaces, reason = "models know of events alone")]
    Signal(Signal<P>),
}

/// An instruction to the worker that has a process, between two steps.
pub(crate) enum Signal<P: Protocol> {
    /// Fires this watch at the end of the process.
    Attach(Watch),
    /// Tells that a process which it watches or is linked to is over.
    Ended(Box<Ended>),
    /// Replaces the process by a new version.
    Upgrade(Box<Successor<P>>),
    /// Ends the process with this error.
    End(Box<ProcessError<P>>),
    /// Takes the messages that the policy has kept for the process.
    Fetch,
}

impl<P: Protocol> Signal<P> {
    /// Returns the kind of waiting processes it wakes. An idle process takes a turn for each
    /// signal, so that signals do not pile up in its queue; a process that waits for commands, only
    /// for signals that may end or replace it. These must not stand behind the events in the queue,
    /// either.
    pub(crate) fn wakes(&self) -> Reason {
        match self {
            Self::Upgrade(_) | Self::End(_) => Reason::Cancel,
            Self::Ended(ended) if ended.is_deadly() => Reason::Cancel,
            Self::Attach(_) | Self::Ended(_) | Self::Fetch => Reason::Message,
        }
    }
}

debug_fields!(Item<P>, "Item");

/// Events in the order in which a step gets them.
pub(crate) type EventList<P> = VecDeque<Event<P>>;

/// Events that were drained ahead: older than the queue, younger than the inbox.
///
/// A worker looks ahead for two reasons: the process waits for commands, and their completions
/// stand behind more messages than a step is given; or an urgent signal stands behind events.
pub(crate) struct Backlog<P: Protocol> {
    /// The completions, which come first.
    completions: EventList<P>,
    others: EventList<P>,
    /// The number of cancels among the others.
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

    /// Checks if it has an event that ends a wait for commands.
    pub(crate) fn has_wait_end(&self) -> bool {
        !self.completions.is_empty() || self.cancels > 0
    }

    /// Counts the event, and returns the list that it belongs to.
    fn list_of(&mut self, event: &Event<P>) -> &mut EventList<P> {
        self.cancels += usize::from(matches!(event, Event::Cancel(_)));
        match event {
            Event::Completed { .. } => &mut self.completions,
            _ => &mut self.others,
        }
    }

    /// Adds an event behind all others of its list.
    pub(crate) fn push(&mut self, event: Event<P>) {
        self.list_of(&event).push_back(event);
    }

    /// Puts an event of the inbox back before all others of its list.
    pub(crate) fn put_back(&mut self, event: Event<P>) {
        self.list_of(&event).push_front(event);
    }

    /// Takes the first event, except those whose watch the process has cancelled since.
    pub(crate) fn pop(&mut self) -> Option<Event<P>> {
        loop {
            let event = (self.completions.pop_front()).or_else(|| self.take_other(0))?;
            if !event.is_cancelled() {
                return Some(event);
            }
        }
    }

    /// Takes the first event that ends a wait for commands: a completion, or else a cancel,
    /// wherever it stands.
    pub(crate) fn pop_wait_end(&mut self) -> Option<Event<P>> {
        let completion = self.completions.pop_front();
        if completion.is_some() || self.cancels == 0 {
            return completion;
        }
        let is_cancel = |event: &_| matches!(event, Event::Cancel(_));
        self.take_other(self.others.iter().position(is_cancel)?)
    }

    fn take_other(&mut self, place: usize) -> Option<Event<P>> {
        let event = self.others.remove(place)?;
        self.cancels -= usize::from(matches!(event, Event::Cancel(_)));
        Some(event)
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests;
