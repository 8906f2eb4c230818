//! The main loop of a scheduler.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use filch_event_queue::Receiver;
use filch_parker::{AdaptiveSpinner, Parker, Spin};
use filch_sync::panic::catch_panic;
use filch_sync::{thread, time};

use crate::counter::Stats;
use crate::envelope::Envelope;
use crate::error::Exit;
use crate::links::{Message, Order};
use crate::scheduler::worker_slot::WorkerSlot;
use crate::shared::{Place, Shared};
use crate::worker::cell::WorkerCell;
use crate::worker::home::{GiveWay, Home};
use crate::worker::spec::Spec;

/// The longest time for which it blocks while a worker waits for something that wakes nobody.
pub(crate) const MOST_BLOCKED: Duration = Duration::from_millis(1);

/// The most rounds on top of each other, of waiting workers without a stack of their own. In the
/// last one such workers have no turn, so that the stack has a bound.
const MOST_NESTED: usize = 64;

/// The most messages that it hands out before the workers have their turns.
const MESSAGES_A_ROUND: usize = 1024;

/// A scheduler, on its own thread.
pub(crate) struct Core {
    home: Rc<Home>,
    shared: Arc<Shared>,
    queue: RefCell<Receiver<Message>>,
    parker: Parker,
    /// In the order in which they came. Replaced when a worker comes or goes.
    slots: RefCell<Rc<[Rc<WorkerSlot>]>>,
    /// The workers that list each kind of task.
    listeners: RefCell<Vec<Rc<[Rc<WorkerSlot>]>>>,
    is_terminating: Cell<bool>,
    is_closed: Cell<bool>,
    /// The number of rounds on top of each other.
    depth: Cell<usize>,
    spinner: RefCell<AdaptiveSpinner>,
    /// The count of ended owners when the workers' data was last checked.
    seen_ended: Cell<usize>,
    stats: Arc<Stats>,
}

impl Core {
    /// Makes the scheduler on the thread that will drive it.
    pub(crate) fn new(place: Place, shared: &Arc<Shared>) -> Rc<Self> {
        let (links, owners) = (Arc::clone(&shared.links), Arc::clone(&shared.owners));
        links.drives(true);
        Rc::new(Self {
            home: Rc::new(Home::new(
                place.number,
                links,
                owners,
                place.parker.unparker(),
            )),
            shared: Arc::clone(shared),
            queue: RefCell::new(place.queue),
            parker: place.parker,
            slots: RefCell::new(Rc::new([])),
            listeners: RefCell::default(),
            is_terminating: Cell::new(false),
            is_closed: Cell::new(false),
            depth: Cell::new(0),
            spinner: RefCell::new(shared.spinner.clone()),
            seen_ended: Cell::new(0),
            stats: place.stats,
        })
    }

    /// Returns whether it was terminated, and all its workers have ended.
    pub(crate) fn is_over(&self) -> bool {
        self.is_terminating.get() && self.slots.borrow().is_empty()
    }

    /// Runs one round of the main loop.
    pub(crate) fn round(self: &Rc<Self>) {
        self.remove_gone();
        self.hand_out();
        self.look_for_ended_data();
        let slots = Rc::clone(&self.slots.borrow());
        let is_deep = self.depth.get() == MOST_NESTED;
        for slot in slots.iter().filter(|slot| !is_deep || slot.stack.is_some()) {
            slot.take_turn(&self.home, &Nested(self));
        }
        self.stats.rounds.add_one();
    }

    /// Drops the workers that have ended.
    fn remove_gone(&self) {
        let slots = Rc::clone(&self.slots.borrow());
        if !slots.iter().any(|slot| slot.is_gone()) {
            return;
        }
        let (gone, left): (Vec<_>, Vec<_>) = slots.iter().cloned().partition(|slot| slot.is_gone());
        *self.slots.borrow_mut() = left.into();
        self.list_anew();
        for slot in gone {
            let public = &slot.worker.public;
            self.shared.left(public);
            self.stats.ended.add_one();
            let Some(exit) = slot.worker.exit.take() else {
                unreachable!("a worker that has ended knows why");
            };
            public.end(exit);
        }
        self.home.has_progressed();
    }

    /// Finds again the workers that list each type of task, and those that others follow.
    fn list_anew(&self) {
        let slots = Rc::clone(&self.slots.borrow());
        let mut listeners: Vec<Vec<Rc<WorkerSlot>>> = Vec::new();
        for slot in slots.iter() {
            for route in &slot.worker.public.lists {
                let kind = route.kind.0;
                listeners.resize_with(listeners.len().max(kind + 1), Vec::new);
                // A worker with several functions for a type gets a task once.
                let is_there = listeners[kind]
                    .last()
                    .is_some_and(|last| Rc::ptr_eq(last, slot));
                if !is_there {
                    listeners[kind].push(Rc::clone(slot));
                }
            }
        }
        for slot in slots.iter().filter(|slot| slot.worker.follows()) {
            slot.worker
                .follow(slots.iter().map(|slot| Rc::clone(&slot.worker)));
        }
        *self.listeners.borrow_mut() = listeners.into_iter().map(Into::into).collect();
    }

    /// Hands out the queue's tasks to the workers, until one has as many as it runs in a turn. The
    /// rest stays in the queue: an inbox would move each once more.
    fn hand_out(&self) {
        for _ in 0..MESSAGES_A_ROUND {
            let message = self.queue.borrow_mut().pop();
            let Some(message) = message else { return };
            self.home.has_progressed();
            let is_enough = match message {
                Message::Task(envelope) => self.hand_to_all(envelope),
                Message::Order(order) => self.carry_out(*order),
            };
            if is_enough {
                return;
            }
        }
    }

    /// Carries out an order. Returns whether a worker has now as many tasks as it runs in a turn.
    fn carry_out(&self, order: Order) -> bool {
        match order {
            Order::TaskFor(number, envelope) => {
                let slots = Rc::clone(&self.slots.borrow());
                let slot = slots
                    .iter()
                    .find(|slot| slot.worker.public.number == number);
                return slot.is_some_and(|slot| slot.hand(self.next_order(), envelope));
            }
            Order::Add(spec) => self.add(*spec),
            Order::Terminate => self.is_terminating.set(true),
        }
        false
    }

    /// Hands a task to all its listeners. Returns whether one has now as many as it runs in a turn.
    fn hand_to_all(&self, envelope: Envelope) -> bool {
        let listeners = self.listeners.borrow().get(envelope.kind.0).cloned();
        let Some((last, others)) = listeners.as_deref().and_then(<[_]>::split_last) else {
            return false;
        };
        let order = self.next_order();
        let mut is_enough = false;
        for slot in others {
            // A failed copy counts as dropped.
            match catch_panic(|| envelope.copy()) {
                Ok(copy) => is_enough |= slot.hand(order, copy),
                Err(_) => slot.worker.public.missed.add_one(),
            }
        }
        last.hand(order, envelope) || is_enough
    }

    fn next_order(&self) -> u64 {
        self.stats.tasks.add_one();
        self.stats.tasks.get()
    }

    fn add(&self, mut spec: Spec) {
        let Some(public) = spec.public.take() else {
            unreachable!("known when it was added");
        };
        let stack = spec.fiber;
        let worker = Rc::new(WorkerCell::new(spec, public));
        let slot = Rc::new(WorkerSlot::new(worker, stack));
        let slots: Vec<_> = self.slots.borrow().iter().cloned().chain([slot]).collect();
        *self.slots.borrow_mut() = slots.into();
        self.list_anew();
    }

    /// Ends each worker whose data has an owner that ends, even one without a task.
    fn look_for_ended_data(&self) {
        let ended = self.shared.owners.ended();
        if self.seen_ended.replace(ended) == ended {
            return;
        }
        for slot in self.slots.borrow().iter() {
            let gone = slot.worker.data.borrow().ending();
            if let Some(data) = gone {
                slot.worker.tell_to_end(Exit::OwnerGone(data));
                // It may be further down on this stack, and have no turn before this blocks.
                self.home.has_progressed();
            }
        }
    }

    /// Blocks on the queue, the loop's only wait, after several rounds without work: for a
    /// millisecond if a worker waits for something that wakes nobody, else for `most`, or until
    /// something comes.
    pub(crate) fn rest(&self, most: Option<Duration>) {
        let (has_progressed, polls, awaited) = self.home.take_notes();
        if has_progressed {
            self.spinner.borrow_mut().reset();
            return;
        }
        if self.spinner.borrow_mut().spin() == Spin::Again {
            return;
        }
        self.stats.rests.add_one();
        let most = match polls {
            true => Some(MOST_BLOCKED),
            false => most,
        };
        let Some(most) = most else {
            return self.parker.park();
        };
        let most = match awaited {
            None => most,
            Some(moment) => most.min(moment.saturating_duration_since(time::now())),
        };
        self.parker.park_timeout(most);
    }

    /// Refuses messages from now on, and drops those in the queue, which tells their waiters. Waits
    /// for sends that have begun.
    pub(crate) fn close(&self) {
        let mut queue = self.queue.borrow_mut();
        if self.is_closed.replace(true) {
            return;
        }
        queue.close();
        loop {
            while queue.pop().is_some() {}
            // To be reopened it must be empty, with no send under way. Existing senders stay
            // refused.
            if queue.reopen().is_ok() {
                break;
            }
            thread::yield_now();
        }
        self.home.links.drives(false);
    }

    /// Runs rounds until it is terminated, and its workers have ended.
    pub(crate) fn run(self: &Rc<Self>) {
        while !self.is_over() {
            self.round();
            self.rest(None);
        }
    }
}

/// Gives way by a round of the main loop, on top of the worker's stack. Like the loop it blocks
/// while nothing comes: a worker whose event wakes nobody has said so.
struct Nested<'a>(&'a Rc<Core>);

impl GiveWay for Nested<'_> {
    fn give_way(&self) {
        let depth = self.0.depth.get();
        self.0.depth.set(depth + 1);
        self.0.round();
        self.0.rest(None);
        self.0.depth.set(depth);
    }
}
