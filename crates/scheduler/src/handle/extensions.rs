//! What crates above keep with a scheduler.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use filch_sync::{Mutex, lock};

use crate::{Handle, ProcessInfo, Protocol};

/// A value that a crate above keeps with a scheduler: a registry, for instance.
pub trait Extension: Any + Send + Sync {
    /// Adds what it knows of a process to a report of it.
    fn add_to(&self, _report: &mut ProcessInfo) {}
}

/// The extensions of a scheduler: one of each type.
#[derive(Default)]
pub(crate) struct Extensions(Mutex<HashMap<TypeId, Arc<dyn Extension>>>);

impl Extensions {
    pub(crate) fn all(&self) -> Vec<Arc<dyn Extension>> {
        lock(&self.0).values().cloned().collect()
    }
}

impl<P: Protocol> Handle<P> {
    /// Returns the extension of that type: made at the first call. Takes a lock for a moment. It
    /// goes with the scheduler, so it must keep no handle.
    pub fn extension<T: Extension + Default>(&self) -> Arc<T> {
        let mut all = lock(&self.shared().extensions.0);
        let value = all
            .entry(TypeId::of::<T>())
            .or_insert_with(|| Arc::<T>::default());
        let value: Arc<dyn Any + Send + Sync> = Arc::clone(value) as _;
        match value.downcast() {
            Ok(value) => value,
            Err(_) => unreachable!("it is kept by its type"),
        }
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extensions").finish_non_exhaustive()
    }
}
