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
    pub(crate) completions: usize,
    cancels: usize,
    /// What few ever find.
    pub(crate) orders: Option<Box<Orders<P>>>,
}

/// What signals have the worker do before, or instead of, a step.
pub(crate) struct Orders<P: Protocol> {
    /// Ends the process.
    end: Option<ProcessError<P>>,
    /// Replaces it by these, one after another.
    successors: Vec<Box<Successor<P>>>,
}

impl<P: Protocol> Mail<P> {
    pub(crate) const fn new() -> Self {
        Self {
            completions: 0,
            cancels: 0,
            orders: None,
        }
    }

    /// Puts what was drained earlier into the inbox, up to its share.
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
            while inbox.len() < share
                && let Some(event) = held.backlog.take()
            {
                self.count(&event);
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
                self.count(&event);
                inbox.push_back(event);
            }
            Item::Signal(signal) => inbox.extend(heed(signal, body, self)),
        }
    }

    #[inline]
    fn count(&mut self, event: &Event<P>) {
        match event {
            Event::Completed { .. } => self.completions += 1,
            Event::Cancel => self.cancels += 1,
            Event::Message(_) | Event::Down(_) | Event::Exited(_) => {}
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

    /// After events were stowed. If the process waits for commands, and the backlog alone has what ends that, gives it one, in the last
    /// place of its share.
    pub(crate) fn pick(
        &mut self,
        body: &mut Body<P>,
        inbox: &mut VecDeque<Event<P>>,
        share: usize,
    ) {
        let ends = self.ends(body.waits, inbox);
        let held = body.held();
        held.behind = true;
        if !ends && held.backlog.has_ender() {
            if inbox.len() == share
                && let Some(last) = inbox.pop_back()
            {
                held.backlog.put_back(last);
            }
            if let Some(ender) = held.backlog.take() {
                self.count(&ender);
                inbox.push_back(ender);
            }
        }
    }

    /// Keeps what is in the inbox for later: it ends no wait.
    pub(crate) fn put_back(&self, body: &mut Body<P>, inbox: &mut VecDeque<Event<P>>) {
        while let Some(event) = inbox.pop_back() {
            let held = body.held();
            held.behind = true;
            held.backlog.put_back(event);
        }
    }

    /// What ends a wait for commands.
    fn enders(&self) -> usize {
        self.completions + self.cancels
    }

    fn orders(&mut self) -> &mut Orders<P> {
        self.orders.get_or_insert_with(|| {
            Box::new(Orders {
                end: None,
                successors: Vec::new(),
            })
        })
    }

    /// Whether this ends the wait.
    pub(crate) fn ends(&self, waits: Waits, inbox: &VecDeque<Event<P>>) -> bool {
        match waits {
            Waits::Turn | Waits::Wakes => true,
            Waits::Commands => self.enders() > 0,
            Waits::Events => !inbox.is_empty(),
        }
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

/// What a signal means to a process that goes on: perhaps an event.
#[cold]
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
