//! What crates above keep with a scheduler.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use filch_sync::{Mutex, lock};

use crate::{Handle, Protocol};

/// What crates above keep with a scheduler: one value of each type.
#[derive(Default)]
pub(crate) struct Extensions(Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl<P: Protocol> Handle<P> {
    /// What a crate above keeps with this scheduler, by its type: made at the first call. Takes a lock
    /// for a moment. It goes with the scheduler, so it must keep no handle.
    pub fn extension<T: Any + Send + Sync + Default>(&self) -> Arc<T> {
        let mut all = lock(&self.shared.extensions.0);
        let value = all.entry(TypeId::of::<T>()).or_insert_with(|| Arc::<T>::default());
        match Arc::clone(value).downcast() {
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
