//! The sorting of a process's queue before a step: events for the process, and signals for the
//! worker.

use filch_sync::panic::{catch_panic, drop_all_contained};

use crate::handle::life_cycle::take_over;
use crate::process::output::Successor;
use crate::table::body::{Body, EventList, Item, Signal, Waits};
use crate::table::slot::{READS_LATER, Slot, TRAP_EXITS};
use crate::{Context, Event, Handle, ProcessError, Protocol};

/// The findings of a worker besides the events for the next step.
pub(crate) struct Inbox<P: Protocol> {
    /// The number of completions among the events.
    pub(crate) completions: u32,
    /// The demands of signals. Few turns have any.
    pub(crate) pending: Option<Box<Pending<P>>>,
}

/// The demands that the worker carries out before, or instead of, a step.
pub(crate) struct Pending<P: Protocol> {
    /// Ends the process.
    end: Option<ProcessError<P>>,
    /// Replaces it by these, one after another.
    successors: Vec<Box<Successor<P>>>,
}

impl<P: Protocol> Inbox<P> {
    /// Puts an event into the events, or obeys a signal.
    #[inline]
    pub(crate) fn sort(
        &mut self,
        item: Item<P>,
        slot: &Slot<P>,
        body: &mut Body<P>,
        events: &mut EventList<P>,
    ) {
        match item {
            Item::Event(event) => self.add(event, events),
            signal @ Item::Signal(_) => self.sort_signal(signal, slot, body, events),
        }
    }

    #[inline]
    fn add(&mut self, event: Event<P>, events: &mut EventList<P>) {
        self.completions += u32::from(matches!(event, Event::Completed { .. }));
        events.push_back(event);
    }

    /// Obeys a signal. Not inlined, and given the whole item: so an event is moved whole, too.
    #[cold]
    #[inline(never)]
    fn sort_signal(
        &mut self,
        item: Item<P>,
        slot: &Slot<P>,
        body: &mut Body<P>,
        events: &mut EventList<P>,
    ) {
        if let Item::Signal(signal) = item {
            self.heed(signal, slot, body, |_, event| events.push_back(event));
        }
    }

    /// Puts an event into the backlog, or obeys a signal.
    pub(crate) fn stow(&mut self, item: Item<P>, slot: &Slot<P>, body: &mut Body<P>) {
        let put = |body: &mut Body<P>, event| body.cold().backlog.push(event);
        match item {
            Item::Event(event) => put(body, event),
            Item::Signal(signal) => self.heed(signal, slot, body, put),
        }
    }

    /// Ends a wait for commands after events were stowed: if only the backlog has an event that
    /// ends it, takes up to `max` events again, that one first.
    pub(crate) fn pick(&mut self, body: &mut Body<P>, events: &mut EventList<P>, max: usize) {
        body.cold().behind = true;
        if !body.waits.end_by(self.completions, events) && body.cold().backlog.has_wait_end() {
            self.put_back(body, events);
            self.recall(body, events, max);
        }
    }

    /// Obeys a signal to a process that goes on; events that come of it are `put` somewhere.
    #[cold]
    #[inline(never)]
    fn heed(
        &mut self,
        signal: Signal<P>,
        slot: &Slot<P>,
        body: &mut Body<P>,
        mut put: impl FnMut(&mut Body<P>, Event<P>),
    ) {
        match signal {
            Signal::Upgrade(successor) => self.pending().successors.push(successor),
            Signal::Attach(watch) => body.cold().watches.add(watch),
            Signal::Ended(ended) if ended.watch.is_cancelled() => {}
            Signal::Ended(ended) if !ended.watch.is_link() => put(body, Event::Down(ended)),
            Signal::Ended(ended) if slot.has(TRAP_EXITS) => put(body, Event::Exited(ended)),
            Signal::Ended(ended) if ended.is_deadly() => {
                self.pending().end.get_or_insert((*ended).into());
            }
            Signal::Ended(_) => {}
            Signal::End(error) => {
                self.pending().end.get_or_insert(*error);
            }
            Signal::Fetch => {
                // SAFETY: the caller has the process.
                let policy = unsafe { slot.policy() };
                let fetched = policy.and_then(|policy| catch_panic(|| policy.fetch()).ok());
                let messages = fetched.into_iter().flatten().map(Event::Message);
                messages.for_each(|message| put(body, message));
            }
        }
    }

    /// Puts events of the backlog into the events, up to `max` of them: if the process waits for
    /// commands, first one that ends the wait.
    #[cold]
    #[inline(never)]
    pub(crate) fn recall(&mut self, body: &mut Body<P>, events: &mut EventList<P>, max: usize) {
        let mut next = match body.waits {
            Waits::Commands => body.cold().backlog.pop_wait_end(),
            Waits::Turn | Waits::Events | Waits::Wakes => None,
        };
        let backlog = &mut body.cold().backlog;
        while events.len() < max
            && let Some(event) = next.take().or_else(|| backlog.pop())
        {
            self.add(event, events);
        }
    }

    /// Puts the events back into the backlog, for later.
    pub(crate) fn put_back(&mut self, body: &mut Body<P>, events: &mut EventList<P>) {
        self.completions = 0;
        while let Some(event) = events.pop_back() {
            let cold = body.cold();
            cold.behind = true;
            cold.backlog.put_back(event);
        }
    }

    fn pending(&mut self) -> &mut Pending<P> {
        self.pending.get_or_insert_with(|| {
            Box::new(Pending {
                end: None,
                successors: Vec::new(),
            })
        })
    }
}

/// Tells the policy of the messages among the events that a step is given.
#[cold]
#[inline(never)]
pub(crate) fn count_delivered<P: Protocol>(
    handle: &Handle<P>,
    slot: &Slot<P>,
    events: &EventList<P>,
) {
    if slot.has(READS_LATER) {
        return;
    }
    let is_message = |event: &&Event<P>| matches!(event, Event::Message(_));
    let messages = events.iter().filter(is_message).count();
    if messages > 0
        && let Some(policy) = handle.policy(slot)
    {
        policy.delivered(messages);
    }
}

impl<P: Protocol> Pending<P> {
    /// Carries out the demands of signals.
    ///
    /// # Errors
    /// The error that the process ends with.
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
                take_over(*successor, context, body)
            }),
        };
        // Those that the end has left over: their destructors are user code.
        drop_all_contained(successors);
        outcome
    }
}
