//! The tasks, and the route of those of one type: a bit for each scheduler with a worker that lists
//! the type; and the routes of an engine, by the types of the tasks.

use std::any::{TypeId, type_name};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use filch_sync::atomic::{AtomicU64, Ordering};

/// The most schedulers of an engine: a bit for each in a word.
pub(crate) const MAX_SCHEDULERS: usize = 64;

/// The number of a type of task in its engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskKind(pub(crate) usize);

/// The route of tasks of one type. Clones are one route.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) kind: TaskKind,
    pub(crate) name: &'static str,
    /// The schedulers with a worker that lists the type.
    listed_by: Arc<AtomicU64>,
}

impl Route {
    /// Adds that scheduler: the message that brings it a worker with the type is in its queue.
    pub(crate) fn list(&self, scheduler: usize) {
        // ORDERING: Release, for the Acquire in `schedulers`: the link of the scheduler, which was
        // connected before. Without it a sender could see the type listed and no link. That its
        // task comes behind the worker follows from the queue's own claims. (loom cannot show it:
        // a link lies in std's `OnceLock`; the kernel `route-has-its-link` shows it.)
        self.listed_by.fetch_or(1 << scheduler, Ordering::Release);
    }

    /// Removes that scheduler: none of its workers lists the type any more.
    pub(crate) fn unlist(&self, scheduler: usize) {
        // ORDERING: Relaxed: what still comes is dropped there.
        self.listed_by
            .fetch_and(!(1 << scheduler), Ordering::Relaxed);
    }

    /// Returns the schedulers with a worker that lists the type, a bit for each. A task sent to
    /// them now comes behind the messages that brought the workers.
    pub(crate) fn schedulers(&self) -> u64 {
        // ORDERING: Acquire, for the Release in `list`: `Links::link` needs it. (loom cannot show
        // it, as there.)
        self.listed_by.load(Ordering::Acquire)
    }
}

/// The routes of an engine. A route stays, once it was looked up.
#[derive(Default)]
pub(crate) struct Routes(RwLock<HashMap<TypeId, Route>>);

impl Routes {
    /// Returns the route of tasks of that type. Takes a lock briefly: keep the result.
    pub(crate) fn route<T: Task>(&self) -> Route {
        let id = TypeId::of::<T>();
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(route) = known.get(&id) {
            return route.clone();
        }
        drop(known);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let fresh = Route {
            kind: TaskKind(known.len()),
            name: type_name::<T>(),
            listed_by: Arc::default(),
        };
        known.entry(id).or_insert(fresh).clone()
    }
}

/// A value to send to workers: cloned for each that lists it. Implemented for all fitting types.
///
/// A task of at most two words, aligned like them, travels without an allocation.
pub trait Task: Clone + Send + 'static {}

impl<T: Clone + Send + 'static> Task for T {}
