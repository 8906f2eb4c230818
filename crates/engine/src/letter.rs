//! The contents of an envelope: a task, and its waiter.

use crate::completion::Awaited;
use crate::task::Task;

/// The contents of an envelope.
pub(crate) trait Letter: Send + Sized + 'static {
    type Task: Task;

    fn task(&self) -> &Self::Task;

    /// Makes a copy for another worker.
    fn copy(&self) -> Self;

    /// Marks the task as run. The drop then tells a thread or a worker that waits for it.
    fn has_run(&self);
}

/// A task that nobody waits for.
pub(crate) struct Plain<T>(pub(crate) T);

impl<T: Task> Letter for Plain<T> {
    type Task = T;

    fn task(&self) -> &T {
        &self.0
    }

    fn copy(&self) -> Self {
        Self(self.0.clone())
    }

    fn has_run(&self) {}
}

/// A task that somebody waits for.
pub(crate) struct Tracked<T> {
    pub(crate) task: T,
    /// Behind the task, so dropped after it, even if its destructor panics.
    pub(crate) awaited: Awaited,
}

impl<T: Task> Letter for Tracked<T> {
    type Task = T;

    fn task(&self) -> &T {
        &self.task
    }

    fn copy(&self) -> Self {
        // Before the task: if its `clone` panics, this copy is dropped.
        let awaited = self.awaited.copy();
        let task = self.task.clone();
        Self { task, awaited }
    }

    fn has_run(&self) {
        self.awaited.has_run();
    }
}
