//! A task on its way: what somebody broadcasts, without its type.

use std::any::{Any, type_name};

use crate::completion::Awaited;
use crate::route::TaskKind;

/// What can be sent to workers: cloned for each that lists its type. Implemented for all that can.
pub trait Task: Clone + Send + 'static {}

impl<T: Clone + Send + 'static> Task for T {}

/// A task without its type.
pub(crate) trait AnyTask: Any + Send {
    fn copy(&self) -> Box<dyn AnyTask>;
    fn name(&self) -> &'static str;
}

impl<T: Task> AnyTask for T {
    fn copy(&self) -> Box<dyn AnyTask> {
        Box::new(self.clone())
    }

    fn name(&self) -> &'static str {
        type_name::<T>()
    }
}

/// A task, and who waits for it: told when it has run, or is dropped.
pub(crate) struct Envelope {
    pub(crate) kind: TaskKind,
    task: Box<dyn AnyTask>,
    awaited: Option<Awaited>,
}

impl Envelope {
    pub(crate) fn new<T: Task>(kind: TaskKind, task: T, awaited: Option<Awaited>) -> Self {
        Self {
            kind,
            task: Box::new(task),
            awaited,
        }
    }

    /// For another worker.
    ///
    /// # Panics
    /// If the task's `clone` does.
    pub(crate) fn copy(&self) -> Self {
        Self {
            kind: self.kind,
            task: self.task.copy(),
            awaited: self.awaited.as_ref().map(Awaited::copy),
        }
    }

    /// The task itself.
    pub(crate) fn task(&self) -> &dyn Any {
        &*self.task
    }

    pub(crate) fn name(&self) -> &'static str {
        self.task.name()
    }

    /// It has run.
    pub(crate) fn ran(self) {
        if let Some(awaited) = self.awaited {
            awaited.ran();
        }
    }

    /// The task, which is of that type.
    pub(crate) fn into_task<T: Task>(self) -> T {
        let task: Box<dyn Any + Send> = self.task;
        match task.downcast() {
            Ok(task) => *task,
            Err(_) => unreachable!("whoever asks has sent it"),
        }
    }
}
