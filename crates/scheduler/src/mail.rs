//! What a worker finds in a process's queue before a step: events for the process, and signals for
//! itself.

use std::collections::VecDeque;

use crate::body::{Body, Waits};
use crate::bond::Meaning;
use crate::signal::{Item, Signal};
use crate::upgrade::Successor;
use crate::{Context, Event, ProcessError, Protocol};
use filch_process_table::panic::drop_all_contained;

/// What a worker found in a queue besides the events that it put into its inbox.
pub(crate) struct Mail<P: Protocol> {
    pub(crate) enders: Enders,
    /// What few ever find.
    pub(crate) orders: Option<Box<Orders<P>>>,
}

/// What there is of the events that end any wait.
#[derive(Clone, Copy, Default)]
pub(crate) struct Enders {
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
    /// Nothing yet.
    #[inline]
    pub(crate) fn new() -> Self {
        Self {
            enders: Enders::default(),
            orders: None,
        }
    }

    /// Puts what was drained earlier into the inbox, up to its share: if the process waits for
    /// commands, first what ends that.
    #[inline]
    pub(crate) fn recall(
        &mut self,
        body: &mut Body<P>,
        inbox: &mut VecDeque<Event<P>>,
        share: usize,
    ) {
        if let Some(held) = &mut body.held
            && !held.backlog.is_empty()
        {
            let mut next = match body.waits {
                Waits::Commands => held.backlog.take_ender(),
                Waits::Turn | Waits::Events | Waits::Wakes => None,
            };
            while inbox.len() < share
                && let Some(event) = next.take().or_else(|| held.backlog.take())
            {
                self.enders.count(&event);
                inbox.push_back(event);
            }
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
                self.enders.count(&event);
                inbox.push_back(event);
            }
            Item::Signal(signal) => inbox.extend(heed(signal, body, self)),
        }
    }

    /// Puts an event into the backlog, or heeds a signal.
    pub(crate) fn stow(&mut self, item: Item<P>, body: &mut Body<P>) {
        let event = match item {
            Item::Event(event) => Some(event),
            Item::Signal(signal) => heed(signal, body, self),
        };
        if let Some(event) = event {
            body.held().backlog.put(event);
        }
    }

    /// After events were stowed. If the process waits for commands, and the backlog alone has what
    /// ends that, gives it one, in the last place of its share.
    pub(crate) fn pick(
        &mut self,
        body: &mut Body<P>,
        inbox: &mut VecDeque<Event<P>>,
        share: usize,
    ) {
        let ends = self.enders.end(body.waits, inbox);
        let held = body.held();
        held.behind = true;
        if !ends && held.backlog.has_ender() {
            if inbox.len() == share
                && let Some(last) = inbox.pop_back()
            {
                held.backlog.put_back(last);
            }
            if let Some(ender) = held.backlog.take_ender() {
                self.enders.count(&ender);
                inbox.push_back(ender);
            }
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

impl Enders {
    #[inline]
    fn count<P: Protocol>(&mut self, event: &Event<P>) {
        self.completions += u32::from(matches!(event, Event::Completed { .. }));
        self.cancel |= matches!(event, Event::Cancel);
    }

    /// Whether these, or whatever else is in the inbox, end the wait.
    #[inline]
    pub(crate) fn end<P: Protocol>(self, waits: Waits, inbox: &VecDeque<Event<P>>) -> bool {
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
        drop_all_contained(successors);
        outcome
    }
}

/// Keeps what is in the inbox for later: it ends no wait.
pub(crate) fn put_back<P: Protocol>(body: &mut Body<P>, inbox: &mut VecDeque<Event<P>>) {
    while let Some(event) = inbox.pop_back() {
        let held = body.held();
        held.behind = true;
        held.backlog.put_back(event);
    }
}

/// What a signal means to a process that goes on: perhaps an event.
#[cold]
#[inline(never)]
fn heed<P: Protocol>(
    signal: Signal<P>,
    body: &mut Body<P>,
    mail: &mut Mail<P>,
) -> Option<Event<P>> {
    match signal {
        Signal::Upgrade(successor) => mail.orders().successors.push(successor),
        Signal::Tie(bond) => body.held().bonds.push(bond),
        Signal::Exit(exit) => match exit.meaning() {
            Meaning::Nothing => {}
            Meaning::Down(down) => return Some(Event::Down(down)),
            Meaning::Exited(exited) if body.trap_exits => return Some(Event::Exited(exited)),
            Meaning::Exited(exited) if exited.reason.is_normal() => {}
            Meaning::Exited(exited) => {
                mail.orders().end.get_or_insert((*exited).into());
            }
        },
    }
    None
}
