//! A task on its way: what somebody broadcasts, without its type.

use std::any::Any;

use filch_sync::panic::drop_contained;

use crate::completion::Awaited;
use crate::route::TaskKind;

/// What can be sent to workers: cloned for each that lists its type. Implemented for all that can.
pub trait Task: Clone + Send + 'static {}

impl<T: Clone + Send + 'static> Task for T {}

/// A task, its kind, and who waits for it: told when it has run, or is dropped.
struct Letter<T> {
    kind: TaskKind,
    task: Contained<T>,
    /// Behind the task: whoever waits is told once that is dropped.
    awaited: Option<Awaited>,
}

/// A task wherever it is dropped: a destructor that panics harms nobody.
struct Contained<T>(Option<T>);

impl<T> Contained<T> {
    fn new(task: T) -> Self {
        Self(Some(task))
    }

    fn get(&self) -> &T {
        match &self.0 {
            Some(task) => task,
            None => unreachable!("it is there until this is dropped"),
        }
    }

    fn into_inner(mut self) -> T {
        match self.0.take() {
            Some(task) => task,
            None => unreachable!("it is there until this is dropped"),
        }
    }
}

impl<T> Drop for Contained<T> {
    fn drop(&mut self) {
        if std::mem::needs_drop::<T>() {
            drop_contained(self.0.take());
        }
    }
}

/// A [`Letter`] without its type.
trait AnyLetter: Send {
    fn kind(&self) -> TaskKind;
    fn copy(&self) -> Box<dyn AnyLetter>;
    fn task(&self) -> &dyn Any;
    fn ran(self: Box<Self>);
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<T: Task> AnyLetter for Letter<T> {
    fn kind(&self) -> TaskKind {
        self.kind
    }

    fn copy(&self) -> Box<dyn AnyLetter> {
        // Before the task: if that cannot be cloned, its copy has been dropped.
        let awaited = self.awaited.as_ref().map(Awaited::copy);
        Box::new(Self {
            kind: self.kind,
            task: Contained::new(self.task.get().clone()),
            awaited,
        })
    }

    fn task(&self) -> &dyn Any {
        self.task.get()
    }

    fn ran(self: Box<Self>) {
        let Self { task, awaited, .. } = *self;
        drop(task);
        if let Some(awaited) = awaited {
            awaited.ran();
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// A task on its way. It is two words, all else lies with the task: each queue that it goes through
/// moves it, and the fewer lines it takes there, the fewer go from core to core.
pub(crate) struct Envelope(Box<dyn AnyLetter>);

impl Envelope {
    pub(crate) fn new<T: Task>(kind: TaskKind, task: T, awaited: Option<Awaited>) -> Self {
        Self(Box::new(Letter {
            kind,
            task: Contained::new(task),
            awaited,
        }))
    }

    /// For another worker.
    ///
    /// # Panics
    /// If the task's `clone` does.
    pub(crate) fn copy(&self) -> Self {
        Self(self.0.copy())
    }

    pub(crate) fn kind(&self) -> TaskKind {
        self.0.kind()
    }

    /// The task itself.
    pub(crate) fn task(&self) -> &dyn Any {
        self.0.task()
    }

    /// It has run.
    pub(crate) fn ran(self) {
        self.0.ran();
    }

    /// The task, which is of that type.
    pub(crate) fn into_task<T: Task>(self) -> T {
        match self.0.into_any().downcast::<Letter<T>>() {
            Ok(letter) => letter.task.into_inner(),
            Err(_) => unreachable!("whoever asks has sent it"),
        }
    }
}
