//! A task that a worker's own `run` has received.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::thread;

use crate::task::Task;
use crate::worker::inbox::Queued;
use crate::worker::turn::Turn;

/// A task that a worker's own `run` has [received](crate::Context::receive). Dropping this ends the
/// task as run: a thread or a worker that waits for it goes on. If a panic drops it, the task has
/// not run. If it is leaked, the wait never ends.
pub struct Received<'a, T: Task> {
    /// Taken by the drop.
    queued: Option<Queued>,
    by: &'a Turn<'a>,
    task: PhantomData<T>,
}

impl<'a, T: Task> Received<'a, T> {
    /// Wraps a task of that type.
    pub(crate) fn new(queued: Queued, by: &'a Turn<'a>) -> Self {
        Self {
            queued: Some(queued),
            by,
            task: PhantomData,
        }
    }
}

impl<T: Task> Deref for Received<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        let Some(queued) = &self.queued else {
            unreachable!("it is there until this is dropped");
        };
        // SAFETY: it was received as a task of its kind, which is this type's; it stays where it is
        // as long as this is borrowed.
        unsafe { queued.envelope.task().cast().as_ref() }
    }
}

impl<T: Task> Drop for Received<'_, T> {
    fn drop(&mut self) {
        if let Some(queued) = self.queued.take() {
            self.by.worker.received(queued, !thread::panicking());
        }
    }
}

impl<T: Task + fmt::Debug> fmt::Debug for Received<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Received").field(&**self).finish()
    }
}
