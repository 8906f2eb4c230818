//! The routes of an engine, by the types of the tasks.

use std::any::{TypeId, type_name};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::route::{Route, TaskKind};
use crate::task::Task;

/// The routes of an engine. A type that was asked for once stays.
#[derive(Default)]
pub(crate) struct Routes(RwLock<HashMap<TypeId, Arc<Route>>>);

impl Routes {
    /// Where tasks of that type go. Takes a lock for a moment: keep what it returns.
    pub(crate) fn route<T: Task>(&self) -> Arc<Route> {
        let id = TypeId::of::<T>();
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(route) = known.get(&id) {
            return Arc::clone(route);
        }
        drop(known);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let kind = TaskKind(known.len());
        let fresh = || Arc::new(Route::new(kind, type_name::<T>()));
        Arc::clone(known.entry(id).or_insert_with(fresh))
    }
}
