//! The ways into the schedulers of an engine.

use std::sync::OnceLock;

use filch_event_queue::{PushError, Sender};
use filch_parker::Unparker;
use filch_sync::atomic::{AtomicU64, Ordering};

use crate::message::Message;
use crate::route::{MAX_SCHEDULERS, Route};
use crate::routes::Routes;
use crate::task::Envelope;
use crate::worker::handle::Inlet;

/// The way into a scheduler.
pub(crate) struct Link {
    queue: Sender<Message>,
    unparker: Unparker,
}

impl Link {
    pub(crate) fn new(queue: Sender<Message>, unparker: Unparker) -> Self {
        Self { queue, unparker }
    }

    /// Puts it into the scheduler's queue. Lock-free.
    ///
    /// # Errors
    /// The message, if the scheduler is gone.
    pub(crate) fn send(&self, message: Message) -> Result<(), Message> {
        self.queue.push(message).map_err(PushError::into_inner)?;
        self.unparker.unpark();
        Ok(())
    }
}

/// The ways into all schedulers of an engine, and the routes that say which to take.
pub(crate) struct Links {
    links: [OnceLock<Link>; MAX_SCHEDULERS],
    /// Which of them are there: a bit for each.
    connected: AtomicU64,
    routes: Routes,
}

impl Links {
    pub(crate) fn new() -> Self {
        Self {
            links: [const { OnceLock::new() }; MAX_SCHEDULERS],
            connected: AtomicU64::new(0),
            routes: Routes::default(),
        }
    }

    pub(crate) fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Makes that scheduler one to which tasks can be sent.
    pub(crate) fn connect(&self, scheduler: usize, link: Link) {
        let fresh = self.links[scheduler].set(link);
        debug_assert!(fresh.is_ok(), "each number is given out once");
        // ORDERING: Release, for the Acquire in `wake_all`: the link. Acquire, for the Release
        // there: a scheduler that is not woken sees what it would have been woken for. An RMW, as
        // that is one: the later one sees the earlier one.
        self.connected.fetch_or(1 << scheduler, Ordering::AcqRel);
    }

    /// Puts it into that scheduler's queue. Lock-free.
    ///
    /// # Errors
    /// The message, if the scheduler is gone.
    pub(crate) fn send(&self, scheduler: usize, message: Message) -> Result<(), Message> {
        match self.links[scheduler].get() {
            Some(link) => link.send(message),
            None => unreachable!("a scheduler's number is known once it is connected"),
        }
    }

    /// Sends `envelope` to each scheduler with a worker that lists its type: one copy for each. To
    /// how many. Lock-free.
    ///
    /// # Panics
    /// If the task's `clone` does. Then it has reached some of them.
    pub(crate) fn broadcast(&self, route: &Route, envelope: Envelope) -> usize {
        let mut left = route.schedulers();
        let mut reached = 0;
        let mut envelope = Some(envelope);
        while left != 0 {
            let scheduler = left.trailing_zeros() as usize;
            left &= left - 1;
            let next = match left {
                0 => envelope.take(),
                _ => envelope.as_ref().map(Envelope::copy),
            };
            // One that is gone drops it, and so tells whoever waits.
            if let Some(next) = next
                && self.send(scheduler, Message::Task(next)).is_ok()
            {
                reached += 1;
            }
        }
        reached
    }
}

impl Links {
    /// Has every scheduler look whether data of its workers has ended.
    pub(crate) fn wake_all(&self) {
        // ORDERING: AcqRel: the partner of `connect`, both ways.
        let connected = self.connected.fetch_or(0, Ordering::AcqRel);
        for (number, link) in self.links.iter().enumerate() {
            if connected & 1 << number != 0
                && let Some(link) = link.get()
            {
                link.unparker.unpark();
            }
        }
    }
}

impl Inlet for Links {
    fn routes(&self) -> &Routes {
        &self.routes
    }

    fn remove(&self, scheduler: usize, worker: usize) -> bool {
        self.send(scheduler, Message::Remove(worker)).is_ok()
    }

    fn send_to(&self, scheduler: usize, worker: usize, envelope: Envelope) -> Result<(), Envelope> {
        match self.send(scheduler, Message::TaskFor(worker, envelope)) {
            Ok(()) => Ok(()),
            Err(Message::TaskFor(_, envelope)) => Err(envelope),
            Err(_) => unreachable!("what was refused comes back"),
        }
    }
}
