//! What a worker finds in a process's queue before a step: events for the process, and signals for itself.

use std::collections::VecDeque;

use crate::bond::Meaning;
use crate::contain::dispose_all;
use crate::life::{Body, Waits};
use crate::signal::{Item, Signal};
use crate::upgrade::Successor;
use crate::{Context, Event, ProcessError, Protocol};

/// What a worker found in a queue besides the events that it put into its inbox.
pub(crate) struct Mail<P: Protocol> {
    pub(crate) urgent: Urgent,
    /// What few ever find.
    pub(crate) orders: Option<Box<Orders<P>>>,
}

/// What there is of the events that end any wait.
#[derive(Clone, Copy, Default)]
pub(crate) struct Urgent {
    pub(crate) completions: u32,
    cancel: bool,
}

/// What signals have the worker do before, or instead of, a step.
pub(crate) struct Orders<P: Protocol> {
    /// Ends the process.
    end: Option<ProcessError<P>>,
    /// Replaces it by these, one after another.
    successors: Vec<Box<Successor<P>>>,
}

impl<P: Protocol> Mail<P> {
    /// Nothing yet, but what was kept of earlier mail, which goes to the inbox.
    #[inline]
    pub(crate) fn after_kept(body: &mut Body<P>, inbox: &mut VecDeque<Event<P>>) -> Self {
        if let Some(held) = &mut body.held {
            inbox.extend(held.kept.drain(..));
        }
        Self {
            urgent: Urgent::default(),
            orders: None,
        }
    }

    /// Puts an event into the inbox, or heeds a signal.
    #[inline]
    pub(crate) fn sort(
        &mut self,
        item: Item<P>,
        body: &mut Body<P>,
        inbox: &mut VecDeque<Event<P>>,
    ) {
        match item {
            Item::Event(event) => {
                self.urgent.completions += u32::from(matches!(event, Event::Completed { .. }));
                self.urgent.cancel |= matches!(event, Event::Cancel);
                inbox.push_back(event);
            }
            Item::Signal(signal) => heed(signal, body, self, inbox),
        }
    }

    fn orders(&mut self) -> &mut Orders<P> {
        self.orders.get_or_insert_with(|| {
            Box::new(Orders {
                end: None,
                successors: Vec::new(),
            })
        })
    }
}

impl Urgent {
    /// Whether these, or whatever else is in the inbox, end the wait.
    #[inline]
    pub(crate) fn ends<P: Protocol>(self, waits: Waits, inbox: &VecDeque<Event<P>>) -> bool {
        if waits == Waits::Events {
            return !inbox.is_empty();
        }
        waits != Waits::Commands || self.completions > 0 || self.cancel
    }
}

impl<P: Protocol> Orders<P> {
    #[cold]
    pub(crate) fn carry_out(
        self,
        context: &Context<'_, P>,
        body: &mut Body<P>,
    ) -> Result<(), ProcessError<P>> {
        let mut successors = self.successors.into_iter();
        let outcome = match self.end {
            Some(error) => Err(error),
            None => successors.try_for_each(|successor| {
                body.waits = Waits::Turn;
                successor.take_over(context, body)
            }),
        };
        // Those that the end has left over: their destructors are user code.
        dispose_all(successors);
        outcome
    }
}

/// What a signal means to a process that goes on.
#[cold]
#[inline(never)]
fn heed<P: Protocol>(
    signal: Signal<P>,
    body: &mut Body<P>,
    mail: &mut Mail<P>,
    inbox: &mut VecDeque<Event<P>>,
) {
    match signal {
        Signal::Terminate => {
            mail.orders().end.get_or_insert(ProcessError::Terminated);
        }
        Signal::Upgrade(successor) => mail.orders().successors.push(successor),
        Signal::Tie(bond) => body.held().bonds.push(bond),
        Signal::Exit(exit) => match exit.meaning() {
            Meaning::Nothing => {}
            Meaning::Down(down) => inbox.push_back(Event::Down(down)),
            Meaning::Exited(exited) if body.trap_exits => inbox.push_back(Event::Exited(exited)),
            Meaning::Exited(exited) if exited.reason.is_normal() => {}
            Meaning::Exited(exited) => {
                mail.orders().end.get_or_insert((*exited).into());
            }
        },
    }
}
