//! Events that a worker has taken out of a process's queue before a step could have them.

use std::collections::VecDeque;
use std::iter;

use crate::{Event, Protocol};

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
