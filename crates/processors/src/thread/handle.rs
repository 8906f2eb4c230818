//! A pool as those see it whose work is no task of it: whatever its tasks are.

use std::any::Any;
use std::fmt;
use std::io;
use std::ops::Deref;
use std::sync::Weak;

use filch_sync::Arc;

use crate::pool::attach::AttachError;
use crate::pool::processors::Processors;
use crate::queues::source::{Source, SourceSlot};
use crate::thread::resize::ResizeError;

/// A reference to a pool, whatever its tasks are: what a second scheduler needs to run its work, as
/// pieces of a [`Source`], on the same threads. It does not keep the threads, but the queues.
#[derive(Clone)]
pub struct PoolHandle(Arc<dyn AnyPool>);

/// A [`PoolHandle`] that keeps nothing: for a [`Source`], which is kept by its pool.
#[derive(Clone)]
pub struct WeakPoolHandle(Weak<dyn AnyPool>);

/// The part of a pool that does not depend on its tasks, for a [`PoolHandle`].
pub trait AnyPool: Send + Sync {
    #[doc(hidden)] // where the source is, which no other crate can name
    fn source_slot(&self) -> &dyn Any;
    #[doc(hidden)]
    fn begin_to_watch_long_turns(self: Arc<Self>) -> io::Result<()>;
    #[doc(hidden)] // as there
    fn notify_behind_fence(&self);
    /// [`Processors::notify`].
    fn notify(&self);
    /// [`Processors::nudge_threads`].
    fn nudge_threads(&self);
    /// [`Processors::blocking`]. `call` is called once.
    fn blocking(&self, call: &mut dyn FnMut());
    /// [`Processors::make_way`].
    fn make_way(&self) -> bool;
    /// [`Processors::is_ending`].
    fn is_ending(&self) -> bool;
    /// [`Processors::count`].
    fn count(&self) -> usize;
    /// [`Processors::resize`].
    ///
    /// # Errors
    /// As there.
    fn resize(&self, count: usize) -> Result<usize, ResizeError>;
}

impl<T: Send + 'static> AnyPool for Processors<T> {
    fn source_slot(&self) -> &dyn Any {
        &self.shared.queues.source
    }

    fn begin_to_watch_long_turns(self: Arc<Self>) -> io::Result<()> {
        Self::watch_long_turns(&self)
    }

    fn notify(&self) {
        Self::notify(self);
    }

    fn notify_behind_fence(&self) {
        Self::notify_behind_fence(self);
    }

    fn nudge_threads(&self) {
        Self::nudge_threads(self);
    }

    fn blocking(&self, call: &mut dyn FnMut()) {
        Self::blocking(self, call);
    }

    fn make_way(&self) -> bool {
        Self::make_way(self)
    }

    fn is_ending(&self) -> bool {
        Self::is_ending(self)
    }

    fn count(&self) -> usize {
        Self::count(self)
    }

    fn resize(&self, count: usize) -> Result<usize, ResizeError> {
        Self::resize(self, count)
    }
}

impl<T: Send + 'static> Processors<T> {
    /// A reference to the pool that does not say what its tasks are.
    pub fn handle(pool: &Arc<Self>) -> PoolHandle {
        PoolHandle(Arc::clone(pool) as Arc<dyn AnyPool>)
    }
}

impl PoolHandle {
    /// [`Processors::attach`].
    ///
    /// # Errors
    /// As there.
    pub fn attach<S: Source>(&self, source: S) -> Result<(), AttachError<S>> {
        self.slot().attach(source).map_err(AttachError)?;
        self.0.notify();
        Ok(())
    }

    fn slot(&self) -> &SourceSlot {
        match self.0.source_slot().downcast_ref() {
            Some(slot) => slot,
            None => unreachable!("that is what it is"),
        }
    }

    /// The source that is attached, if it is an `S`. Wait-free.
    pub fn source<S: Source>(&self) -> Option<&S> {
        self.slot().get()
    }

    /// [`Processors::watch_long_turns`].
    ///
    /// # Errors
    /// As there.
    pub fn watch_long_turns(&self) -> io::Result<()> {
        Arc::clone(&self.0).begin_to_watch_long_turns()
    }

    /// A reference that keeps nothing.
    pub fn downgrade(&self) -> WeakPoolHandle {
        WeakPoolHandle(Arc::downgrade(&self.0))
    }
}

impl Deref for PoolHandle {
    type Target = dyn AnyPool;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl WeakPoolHandle {
    /// The pool, if anybody else still keeps it. Lock-free.
    pub fn upgrade(&self) -> Option<PoolHandle> {
        self.0.upgrade().map(PoolHandle)
    }
}

impl fmt::Debug for PoolHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolHandle")
            .field("count", &self.count())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for WeakPoolHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakPoolHandle").finish_non_exhaustive()
    }
}
