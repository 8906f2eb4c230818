//! Where tasks of each type go: a bit for each scheduler with a worker that lists the type.

use std::any::{TypeId, type_name};
use std::collections::HashMap;
use std::sync::{OnceLock, PoisonError, RwLock};

use filch_event_queue::{PushError, Sender};
use filch_parker::Unparker;
use filch_sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use crate::message::Message;
use crate::task::{Envelope, Task};

/// The most schedulers of an engine: a bit for each in a word.
pub(crate) const MAX_SCHEDULERS: usize = 64;

/// The number of a type of task in its engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskKind(pub(crate) usize);

/// Where tasks of one type go.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) kind: TaskKind,
    pub(crate) name: &'static str,
    /// Which schedulers have a worker that lists the type.
    listed_by: AtomicU64,
}

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

/// All routes of an engine, and the ways into its schedulers.
pub(crate) struct Routes {
    links: [OnceLock<Link>; MAX_SCHEDULERS],
    /// A type that was asked for once stays.
    known: RwLock<HashMap<TypeId, Arc<Route>>>,
}

impl Routes {
    pub(crate) fn new() -> Self {
        Self {
            links: [const { OnceLock::new() }; MAX_SCHEDULERS],
            known: RwLock::default(),
        }
    }

    /// Makes that scheduler one to which tasks can be sent.
    pub(crate) fn connect(&self, scheduler: usize, link: Link) {
        let fresh = self.links[scheduler].set(link);
        debug_assert!(fresh.is_ok(), "each number is given out once");
    }

    pub(crate) fn link(&self, scheduler: usize) -> &Link {
        match self.links[scheduler].get() {
            Some(link) => link,
            None => unreachable!("a scheduler's number is known once it is connected"),
        }
    }

    /// Where tasks of that type go. Takes a lock for a moment: keep what it returns.
    pub(crate) fn route<T: Task>(&self) -> Arc<Route> {
        let id = TypeId::of::<T>();
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(route) = known.get(&id) {
            return Arc::clone(route);
        }
        drop(known);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let kind = TaskKind(known.len());
        let fresh = || {
            Arc::new(Route {
                kind,
                name: type_name::<T>(),
                listed_by: AtomicU64::new(0),
            })
        };
        Arc::clone(known.entry(id).or_insert_with(fresh))
    }

    /// Sends `envelope` to each scheduler with a worker that lists its type: one copy for each. To
    /// how many. Lock-free.
    ///
    /// # Panics
    /// If the task's `clone` does. Then it has reached some of them.
    pub(crate) fn broadcast(&self, route: &Route, envelope: Envelope) -> usize {
        // ORDERING: Acquire, for the Release in `list`: what is sent now comes behind the message
        // that brought the worker.
        let mut left = route.listed_by.load(Ordering::Acquire);
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
                && self.link(scheduler).send(Message::Task(next)).is_ok()
            {
                reached += 1;
            }
        }
        reached
    }
}

impl Route {
    /// A worker of that scheduler lists the type: the message that brings it is in the queue.
    pub(crate) fn list(&self, scheduler: usize) {
        // ORDERING: Release, for the Acquire in `broadcast`.
        self.listed_by.fetch_or(1 << scheduler, Ordering::Release);
    }

    /// No worker of that scheduler does any more.
    pub(crate) fn unlist(&self, scheduler: usize) {
        // ORDERING: Relaxed: what still comes is dropped there.
        self.listed_by
            .fetch_and(!(1 << scheduler), Ordering::Relaxed);
    }

    pub(crate) fn is_listed(&self) -> bool {
        // ORDERING: Relaxed: for people.
        self.listed_by.load(Ordering::Relaxed) != 0
    }
}
