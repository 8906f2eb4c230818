//! Events that a worker has taken out of a process's queue before a step could have them.

use std::collections::VecDeque;
use std::iter;

use crate::{Event, Protocol};

/// Older than everything in the queue, and younger than what is in the inbox.
///
/// A worker looks ahead for two reasons: the process waits for commands, and their completions stand behind more messages than a step
/// is given; or there is word of a signal that must not stand behind events at all.
pub(crate) struct Backlog<P: Protocol> {
    /// Completions and cancels: what ends a wait for commands.
    enders: VecDeque<Event<P>>,
    others: VecDeque<Event<P>>,
}

impl<P: Protocol> Backlog<P> {
    pub(crate) fn new() -> Self {
        Self {
            enders: VecDeque::new(),
            others: VecDeque::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.enders.is_empty() && self.others.is_empty()
    }

    /// Whether it has what ends a wait for commands.
    pub(crate) fn has_ender(&self) -> bool {
        !self.enders.is_empty()
    }

    /// Adds what comes after all that is there.
    pub(crate) fn put(&mut self, event: Event<P>) {
        match event {
            Event::Completed { .. } | Event::Cancel => self.enders.push_back(event),
            Event::Message(_) | Event::Down(_) | Event::Exited(_) => self.others.push_back(event),
        }
    }

    /// What comes first: what ends a wait, then the others.
    pub(crate) fn take(&mut self) -> Option<Event<P>> {
        self.enders.pop_front().or_else(|| self.others.pop_front())
    }

    /// Puts an event of the inbox, which ends no wait, back before all others of its kind.
    pub(crate) fn put_back(&mut self, event: Event<P>) {
        self.others.push_front(event);
    }

    /// All there is.
    pub(crate) fn into_events(mut self) -> impl Iterator<Item = Event<P>> {
        iter::from_fn(move || self.take())
    }
}
