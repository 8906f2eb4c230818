//! A pool as those see it whose work is no task of it: whatever its tasks are.

use std::io;
// std's in a model, too, for all pools: loom's cannot forget a type, and no model has a pool.
use std::sync::Arc;

use crate::pool::config::PoolError;
use crate::pool::processors::Processors;
use crate::queues::source::{Source, SourceSlot};

/// A reference to a pool, whatever its tasks are: what a second scheduler needs to run its work, as
/// external tasks of a [`Source`], on the same threads. It does not keep the threads, but the
/// queues: a source, which is kept by its pool, has a `Weak<dyn AnyPool>`. Each [`Arc`] of a pool
/// becomes one.
pub type PoolHandle = Arc<dyn AnyPool>;

/// A pool, whatever its tasks are: see [`PoolHandle`].
pub trait AnyPool: Send + Sync {
    #[doc(hidden)] // where the source is, which no other crate can name
    fn source_slot(&self) -> &SourceSlot;
    /// [`Processors::watch_long_turns`].
    ///
    /// # Errors
    /// As there.
    fn watch_long_turns(self: Arc<Self>) -> io::Result<()>;
    /// [`Processors::notify`].
    fn notify(&self);
    /// [`Processors::nudge_threads`].
    fn nudge_threads(&self);
    /// [`Processors::blocking`]. `call` is called once.
    fn blocking(&self, call: &mut dyn FnMut());
    /// [`Processors::yield_if_requested`].
    fn yield_if_requested(&self) -> bool;
    /// [`Processors::is_ending`].
    fn is_ending(&self) -> bool;
    /// [`Processors::count`].
    fn count(&self) -> usize;
    /// [`Processors::resize`].
    ///
    /// # Errors
    /// As there.
    fn resize(&self, count: usize) -> Result<usize, PoolError>;
}

impl<T: Send + 'static> AnyPool for Processors<T> {
    fn source_slot(&self) -> &SourceSlot {
        &self.shared.queues.source
    }

    fn watch_long_turns(self: Arc<Self>) -> io::Result<()> {
        Self::watch_long_turns(&self)
    }

    fn notify(&self) {
        Self::notify(self);
    }

    fn nudge_threads(&self) {
        Self::nudge_threads(self);
    }

    fn blocking(&self, call: &mut dyn FnMut()) {
        Self::blocking(self, call);
    }

    fn yield_if_requested(&self) -> bool {
        Self::yield_if_requested(self)
    }

    fn is_ending(&self) -> bool {
        Self::is_ending(self)
    }

    fn count(&self) -> usize {
        Self::count(self)
    }

    fn resize(&self, count: usize) -> Result<usize, PoolError> {
        Self::resize(self, count)
    }
}

impl dyn AnyPool {
    /// [`Processors::attach`].
    ///
    /// # Errors
    /// As there.
    pub fn attach<S: Source>(&self, source: Arc<S>) -> Result<(), PoolError> {
        let attached = self.source_slot().attach(source);
        attached.map_err(|_| PoolError::HasSource)?;
        self.notify();
        Ok(())
    }

    /// The source that is attached, if it is an `S`. Wait-free.
    pub fn source<S: Source>(&self) -> Option<&S> {
        self.source_slot().get()
    }
}
