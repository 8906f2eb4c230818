//! The routes of an engine, by the types of the tasks.

use std::any::{TypeId, type_name};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use crate::route::{Route, TaskKind};
use crate::task::Task;

/// The routes of an engine. A route stays, once it was looked up.
#[derive(Default)]
pub(crate) struct Routes(RwLock<HashMap<TypeId, Route>>);

impl Routes {
    /// Returns the route of tasks of that type. Takes a lock briefly: keep the result.
    pub(crate) fn route<T: Task>(&self) -> Route {
        let id = TypeId::of::<T>();
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(route) = known.get(&id) {
            return route.clone();
        }
        drop(known);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let kind = TaskKind(known.len());
        let fresh = || Route::new(kind, type_name::<T>());
        known.entry(id).or_insert_with(fresh).clone()
    }
}
