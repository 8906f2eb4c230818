//! What lies in an envelope: a task, and who waits for it.

use filch_sync::panic::drop_contained;

use crate::completion::Awaited;
use crate::task::Task;

/// What lies in an envelope.
pub(crate) trait Letter: Send + Sized + 'static {
    type Task: Task;

    fn task(&self) -> &Self::Task;

    /// For another worker.
    fn copy(&self) -> Self;

    /// The task is dropped: a destructor that panics harms nobody. It may have run before.
    fn end(self, has_run: bool);
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

    fn end(self, _: bool) {
        drop_task(self.0);
    }
}

/// A task that somebody waits for.
pub(crate) struct Tracked<T> {
    pub(crate) task: T,
    pub(crate) awaited: Awaited,
}

impl<T: Task> Letter for Tracked<T> {
    type Task = T;

    fn task(&self) -> &T {
        &self.task
    }

    fn copy(&self) -> Self {
        // Before the task: if that cannot be cloned, its copy has been dropped.
        let awaited = self.awaited.copy();
        let task = self.task.clone();
        Self { task, awaited }
    }

    fn end(self, has_run: bool) {
        // Before the one that waits is told.
        drop_task(self.task);
        if has_run {
            self.awaited.ran();
        }
    }
}

fn drop_task<T>(task: T) {
    if std::mem::needs_drop::<T>() {
        drop_contained(task);
    }
}
