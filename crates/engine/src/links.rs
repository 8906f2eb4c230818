//! The queues of an engine's schedulers, for senders, and their messages.

use std::sync::OnceLock;

use filch_event_queue::{Depth, PushError, Sender};
use filch_parker::Unparker;
use filch_sync::atomic::{AtomicU64, Ordering};
use filch_sync::thread::{self, Thread};
use filch_sync::{Mutex, lock};

use crate::envelope::Envelope;
use crate::error::CalledFromInside;
use crate::route::{MAX_SCHEDULERS, Route, Routes};
use crate::worker::spec::Spec;

/// The sending end of a scheduler's queue.
struct Link {
    queue: Sender<Message>,
    unparker: Unparker,
}

/// The links to all schedulers of an engine, and the routes of tasks to them.
pub(crate) struct Links {
    links: [OnceLock<Link>; MAX_SCHEDULERS],
    /// The connected schedulers, a bit for each.
    connected: AtomicU64,
    pub(crate) routes: Routes,
    /// The threads that drive schedulers, once for each of these.
    drivers: Mutex<Vec<Thread>>,
}

impl Links {
    pub(crate) fn new() -> Self {
        Self {
            links: [const { OnceLock::new() }; MAX_SCHEDULERS],
            connected: AtomicU64::new(0),
            routes: Routes::default(),
            drivers: Mutex::default(),
        }
    }

    /// Notes that this thread drives one scheduler more, or one less.
    pub(crate) fn drives(&self, one_more: bool) {
        let (mut drivers, this) = (lock(&self.drivers), thread::current());
        match drivers.iter().position(|driver| driver.id() == this.id()) {
            Some(known) if !one_more => drop(drivers.swap_remove(known)),
            _ => drivers.push(this),
        }
    }

    /// Checks that a call that blocks does not come from a thread that drives a scheduler: that
    /// may be the one that it would wait for.
    pub(crate) fn check_outside(&self) -> Result<(), CalledFromInside> {
        let this = thread::current().id();
        match lock(&self.drivers).iter().any(|driver| driver.id() == this) {
            true => Err(CalledFromInside),
            false => Ok(()),
        }
    }

    /// Makes that scheduler reachable for tasks.
    pub(crate) fn connect(&self, scheduler: usize, queue: Sender<Message>, unparker: Unparker) {
        let fresh = self.links[scheduler].set(Link { queue, unparker });
        debug_assert!(fresh.is_ok(), "each number is given out once");
        // ORDERING: Release, for the Acquire in `wake_all`: the link. Acquire, for the Release
        // there: a scheduler that is not woken sees what it would have been woken for. An RMW, as
        // that is one: the later one sees the earlier one.
        self.connected.fetch_or(1 << scheduler, Ordering::AcqRel);
    }

    /// Puts the message into that scheduler's queue. Lock-free.
    ///
    /// # Errors
    /// The message, if the scheduler is gone.
    pub(crate) fn send(&self, scheduler: usize, message: Message) -> Result<(), Message> {
        let Link { queue, unparker } = self.link(scheduler);
        queue.push(message).map_err(PushError::into_inner)?;
        unparker.unpark();
        Ok(())
    }

    /// Counts the messages in that scheduler's queue: a hint.
    pub(crate) fn messages(&self, scheduler: usize) -> Depth {
        self.link(scheduler).queue.depth()
    }

    fn link(&self, scheduler: usize) -> &Link {
        match self.links[scheduler].get() {
            Some(link) => link,
            None => unreachable!("a scheduler's number is known once it is connected"),
        }
    }

    /// Returns 1 if it was sent, else 0. A scheduler that is gone drops the task, and so tells the
    /// waiter.
    fn send_task(&self, scheduler: usize, envelope: Envelope) -> usize {
        usize::from(self.send(scheduler, Message::Task(envelope)).is_ok())
    }

    /// Sends a copy of `envelope` to each scheduler with a worker that lists its type. Returns the
    /// number of schedulers reached. Lock-free.
    ///
    /// # Panics
    /// If the task's `clone` panics. Then it has reached some of them.
    #[inline]
    pub(crate) fn broadcast(&self, route: &Route, envelope: Envelope) -> usize {
        let schedulers = route.schedulers();
        if schedulers == 0 {
            return 0;
        }
        let first = schedulers.trailing_zeros() as usize;
        let mut others = schedulers & (schedulers - 1);
        let mut reached = 0;
        while others != 0 {
            let scheduler = others.trailing_zeros() as usize;
            others &= others - 1;
            reached += self.send_task(scheduler, envelope.copy());
        }
        reached + self.send_task(first, envelope)
    }

    /// Makes every scheduler look at its workers: data has come, or has ended.
    pub(crate) fn wake_all(&self) {
        // ORDERING: AcqRel: the partner of `connect`, both ways.
        self.wake_each(self.connected.fetch_or(0, Ordering::AcqRel));
    }

    /// Makes each of these schedulers, a bit for each, look at its workers.
    pub(crate) fn wake_each(&self, schedulers: u64) {
        for (number, link) in self.links.iter().enumerate() {
            if schedulers & 1 << number != 0
                && let Some(link) = link.get()
            {
                link.unparker.unpark();
            }
        }
    }

    /// Sends a task to one worker. Lock-free.
    ///
    /// # Errors
    /// The task, if the scheduler is gone.
    pub(crate) fn send_to(
        &self,
        scheduler: usize,
        worker: usize,
        task: Envelope,
    ) -> Result<(), Envelope> {
        let message = Message::Order(Box::new(Order::TaskFor(worker, task)));
        let Err(Message::Order(refused)) = self.send(scheduler, message) else {
            return Ok(());
        };
        match *refused {
            Order::TaskFor(_, task) => Err(task),
            _ => unreachable!("what was refused comes back"),
        }
    }
}

pub(crate) enum Message {
    /// For each worker that lists its type.
    Task(Envelope),
    /// All others, in a box, so that a message is as small as most are.
    Order(Box<Order>),
}

const _: () = assert!(size_of::<Message>() == 4 * size_of::<usize>());

pub(crate) enum Order {
    /// A task for that worker alone.
    TaskFor(usize, Envelope),
    /// A new worker.
    Add(Box<Spec>),
    /// No more workers come. The present ones have been told to end.
    Terminate,
}
